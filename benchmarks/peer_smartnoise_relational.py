"""SmartNoise SQL counting and summing by group over pandas; started by ``relational``.

A request has the ``path`` of a Parquet file and a ``case``: ``row`` protects rows, ``person``
keeps one row of each person.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]
import snsql  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock

GROUPS = 1000
MOST = 100
QUESTION = "SELECT grp, COUNT(*) AS n, SUM(v) AS s FROM S.T GROUP BY grp"


@lru_cache(maxsize=1)
def frame(path: str) -> Any:
    """The table in memory, read off the clock."""
    return pd.read_parquet(path, columns=["pid", "grp", "v"])


def metadata(rows: int, *, person: bool) -> dict[str, Any]:
    """What SmartNoise must be told about the table."""
    table = {
        "row_privacy": not person,
        "max_ids": 1,
        "rows": rows,
        "censor_dims": False,
        "pid": {"type": "int", **({"private_id": True} if person else {})},
        "grp": {"type": "int"},
        "v": {"type": "int", "lower": 0, "upper": MOST},
    }
    return {"": {"S": {"T": table}}}


def answer(source: Any, *, person: bool) -> list[Any]:
    """Open a reader, as a user would, and ask for the count and the sum of every group."""
    privacy = snsql.Privacy(epsilon=1.0, delta=1e-6)
    facts = metadata(len(source), person=person)
    reader = snsql.from_df(source, privacy=privacy, metadata=facts)
    rows: list[Any] = reader.execute(QUESTION)
    return rows


def seconds(request: dict[str, Any]) -> float:
    """Time one question."""
    source = frame(request["path"])
    found: list[list[Any]] = []
    took = clock(lambda: found.append(answer(source, person=request["case"] == "person")))()
    if len(found[0]) != GROUPS + 1:  # the first row holds the names
        message = f"{len(found[0]) - 1} groups"
        raise ValueError(message)
    return took


if __name__ == "__main__":
    logging.disable(logging.WARNING)
    serve(seconds, "smartnoise-sql", "opendp", "pandas")
