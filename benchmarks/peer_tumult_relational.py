"""Tumult Analytics counting and summing by group; started by the suite ``relational``.

The rows are cached in local Spark before the clock starts. Tumult evaluates one aggregate at a
time, so a question is two evaluations at half the epsilon each.
"""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import Any

from peers import serve
from timing import clock

GROUPS = 1000
MOST = 100

for role in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):  # else workers lack Tumult
    os.environ[role] = sys.executable


@lru_cache(maxsize=1)
def engine() -> Any:
    """Spark on the two cores of this machine."""
    from pyspark.sql import SparkSession  # type: ignore[import-not-found,unused-ignore]

    options = {
        "spark.driver.memory": "8g",
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": "/tmp/spark-warehouse",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


@lru_cache(maxsize=1)
def frame(path: str) -> Any:
    """The table in memory, read off the clock."""
    rows = engine().read.parquet(path).cache()
    rows.count()
    return rows


def answer(source: Any) -> tuple[int, int]:
    """Open a session, as a user would, and ask for the count and the sum of every group."""
    from tmlt.analytics import (  # type: ignore[import-not-found,unused-ignore]
        AddOneRow,
        KeySet,
        PureDPBudget,
        QueryBuilder,
        Session,
    )

    keys = KeySet.from_dict({"grp": list(range(GROUPS))})
    session = Session.from_dataframe(PureDPBudget(1), "t", source, protected_change=AddOneRow())
    groups = QueryBuilder("t").groupby(keys)
    half = PureDPBudget(0.5)
    counts = session.evaluate(groups.count(), half).collect()
    sums = session.evaluate(groups.sum("v", 0, MOST), half).collect()
    return len(counts), len(sums)


def seconds(request: dict[str, Any]) -> float:
    """Time one question."""
    source = frame(request["path"])
    found: list[tuple[int, int]] = []
    took = clock(lambda: found.append(answer(source)))()
    if found[0] != (GROUPS, GROUPS):
        message = f"{found[0]} groups"
        raise ValueError(message)
    return took


if __name__ == "__main__":
    serve(seconds, "tmlt.analytics", "tmlt.core", "pyspark")
