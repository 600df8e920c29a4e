"""OpenDP counting and summing by group; started by the suite ``relational``.

A request has the ``path`` of a Parquet file and a ``case``: ``parquet`` scans the file,
``memory`` holds it as a frame, ``person`` holds it and keeps one row of each person. Which groups
exist is public: an invariant where rows are protected, which is faster than a list of keys, and a
list of keys where people are, since truncation makes OpenDP forget the invariant.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import opendp.prelude as dp  # type: ignore[import-not-found,unused-ignore]
import polars  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock

GROUPS = 1000
MOST = 100
pl: Any = polars  # OpenDP adds to its expressions what type checkers do not see


@lru_cache(maxsize=1)
def frame(path: str) -> Any:
    """The table in memory, read off the clock."""
    return pl.read_parquet(path)


def answer(source: Any, rows: int, *, person: bool) -> Any:
    """Open a context, as a user would, and ask for the count and the sum of every group."""
    whose = {"identifier": "pid"} if person else {}
    known = {} if person else {"invariant": "keys"}
    by_group = dp.polars.Margin(by=["grp"], max_length=rows, max_groups=GROUPS, **known)
    context = dp.Context.compositor(
        data=source,
        privacy_unit=dp.unit_of(contributions=1, **whose),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[by_group],
    )
    query = context.query().truncate_per_group(1) if person else context.query()
    count = pl.len().dp.noise().alias("n")
    total = pl.col("v").fill_null(0).dp.sum((0, MOST)).alias("s")
    grouped = query.group_by("grp").agg(count, total)
    if person:
        keys = pl.LazyFrame({"grp": range(GROUPS)}, schema={"grp": pl.Int32})
        grouped = grouped.with_keys(keys)
    return grouped.release().collect()


def seconds(request: dict[str, Any]) -> float:
    """Time one question."""
    path, case = request["path"], request["case"]
    source = pl.scan_parquet(path) if case == "parquet" else frame(path).lazy()
    rows = request["rows"]
    found: list[Any] = []
    took = clock(lambda: found.append(answer(source, rows, person=case == "person")))()
    if found[0].height != GROUPS:
        message = f"{found[0].height} groups"
        raise ValueError(message)
    return took


if __name__ == "__main__":
    dp.enable_features("contrib")
    serve(seconds, "opendp", "polars")
