"""Tables for the suite ``relational``: the same rows every time, as Parquet files."""

from __future__ import annotations

from pathlib import Path

import duckdb

GROUPS = 1000
MOST = 100
PEOPLE = 1_000_000
UNIT = "(hash(i, 4) >> 11) / 9007199254740992.0"
WHO = {
    "unique": "i",
    "uniform": f"hash(i, 5) % {PEOPLE}",
    "heavy": f"floor({PEOPLE} * pow({UNIT}, 3))",
}
"""Whose a row is. The heaviest of the heavy-tailed people owns one row in a hundred."""


def make(folder: Path, rows: int, who: str = "unique") -> Path:
    """The Parquet file with that many rows, written on first use.

    ``pid`` is the person, ``grp`` one of a thousand groups, ``v`` an integer and ``f`` a real
    number between 0 and 100. All are hashes of the row's number, so they do not depend on chance.
    """
    path = folder / f"{who}_{rows}.parquet"
    if not path.is_file():
        columns = ", ".join(
            (
                f"CAST({WHO[who]} AS BIGINT) AS pid",
                f"CAST(hash(i, 1) % {GROUPS} AS INTEGER) AS grp",
                f"CAST(hash(i, 2) % {MOST + 1} AS INTEGER) AS v",
                f"CAST((hash(i, 3) >> 11) / 9007199254740992.0 * {MOST} AS DOUBLE) AS f",
            )
        )
        unfinished = path.with_suffix(".part")
        with duckdb.connect() as engine:
            engine.execute(
                f"COPY (SELECT {columns} FROM range({rows}) AS numbers(i)) "
                f"TO '{unfinished}' (FORMAT parquet)"
            )
        unfinished.rename(path)
    return path
