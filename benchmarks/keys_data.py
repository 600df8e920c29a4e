"""Tables for the suite ``keys``: people with keys out of a hundred thousand, by Zipf's law."""

from __future__ import annotations

from pathlib import Path

import duckdb

KEYS = 100_000
EACH = 12
"""Different draws of a key for each person; repeated ones fall together."""


def make(folder: Path, people: int, each: int) -> Path:
    """A Parquet file of ``pid`` and ``key``, written on first use; the same every time.

    Rank r is drawn with a probability of about 1/r: the power KEYS**u of a uniform u.
    """
    path = folder / f"keys_{people}_{each}.parquet"
    if not path.is_file():
        unfinished = path.with_suffix(".part")
        unit = "(hash(i, 7) >> 11) / 9007199254740992.0"
        with duckdb.connect() as engine:
            engine.execute(
                f"COPY (SELECT CAST(i // {each} AS BIGINT) AS pid, "
                f"'key ' || CAST(floor(pow({KEYS}, {unit})) AS BIGINT) AS key "
                f"FROM range({people * each}) AS numbers(i)) TO '{unfinished}' (FORMAT parquet)"
            )
        unfinished.rename(path)
    return path


def distinct(path: Path) -> int:
    """How many keys there are to be found."""
    with duckdb.connect() as engine:
        found = engine.execute(f"SELECT COUNT(DISTINCT key) FROM '{path}'").fetchone()
    assert found is not None
    return int(found[0])


def bounded(path: Path, groups: int) -> Path:
    """The same with at most ``groups`` keys of each person, once each: for peers that cannot."""
    cut = path.with_name(f"{path.stem}_{groups}.parquet")
    if not cut.is_file():
        unfinished = cut.with_suffix(".part")
        with duckdb.connect() as engine:
            engine.execute(
                "COPY (SELECT pid, key FROM (SELECT pid, key, row_number() OVER (PARTITION BY pid "
                "ORDER BY hash(pid, key, 3), key) AS g FROM (SELECT DISTINCT pid, key "
                f"FROM '{path}')) WHERE g <= {groups}) TO '{unfinished}' (FORMAT parquet)"
            )
        unfinished.rename(cut)
    return cut
