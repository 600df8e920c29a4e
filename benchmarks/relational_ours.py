"""A curator that is asked again and again, and the plain queries it is compared with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
from relational_data import GROUPS, MOST
from timing import Timer, clock

import discreet as dp

BUDGET = 1e6
PRIVATE = {
    "ints": "SELECT grp, COUNT(*) AS n, SUM(v) AS s FROM t GROUP BY grp",
    "floats": "SELECT grp, COUNT(*) AS n, SUM(f) AS s FROM t GROUP BY grp",
}
"""The questions; without privacy they are the plain queries."""

REFERENCE = """
SELECT grp, COUNT(*), SUM(v) FROM (
    SELECT grp, v,
        dense_rank() OVER (PARTITION BY pid ORDER BY h, grp) AS g,
        row_number() OVER (PARTITION BY pid ORDER BY h, grp, hv, v) AS k
    FROM (SELECT pid, grp, v, hash(pid, grp, $salt) AS h, hash(v, $salt) AS hv FROM t)
) WHERE g <= $groups AND k <= $rows GROUP BY grp
"""
"""Bounding a person's rows inside the engine, in one sort and without noise."""


def curator(source: Any, unit: Any, *, ledger: Any = None, engine: Any = None) -> Any:
    """A curator of one table ``t`` whose groups and bounds are declared."""
    stored = isinstance(source, Path) and source.suffix == ".duckdb"
    table = dp.table(
        source,
        table="t" if stored else None,
        unit=unit,
        columns={
            "grp": dp.Category(range(GROUPS)),
            "v": dp.Number(0, MOST),
            "f": dp.Number(0, MOST),
        },
    )
    book = dp.ledger.Memory() if ledger is None else ledger
    return dp.Curator(t=table, budget=dp.PureDP(epsilon=BUDGET), ledger=book, engine=engine)


def analyst(holder: Any, question: str) -> Callable[[], Any]:
    """Ask for a little more epsilon each time, so that no answer comes from the store."""
    asked = 0

    def ask() -> Any:
        nonlocal asked
        asked += 1
        return holder.sql(question, spend=dp.PureDP(epsilon=1 + asked * 1e-6))

    return ask


def private(source: Any, unit: Any, kind: str = "ints", **options: Any) -> Timer:
    """Time a private question over a source."""
    return clock(analyst(curator(source, unit, **options), PRIVATE[kind]))


def plain(source: Any, kind: str = "ints") -> Timer:
    """Time the plain query over a source."""
    engine = over(source)
    return clock(lambda: engine.execute(PRIVATE[kind]).fetchall())


def reference(source: Any, *, groups: int, rows: int) -> Timer:
    """Time the bounding of people alone, with a new salt each time."""
    engine = over(source)
    salt = 0

    def bounded() -> Any:
        nonlocal salt
        salt += 1
        parameters = {"salt": salt, "groups": groups, "rows": rows}
        return engine.execute(REFERENCE, parameters).fetchall()

    return clock(bounded)


def over(source: Any) -> duckdb.DuckDBPyConnection:
    """A connection that knows the source as ``t``: a Parquet file, a database or a frame."""
    if not isinstance(source, Path):
        engine = duckdb.connect()
        engine.register("t", source)
    elif source.suffix == ".parquet":
        engine = duckdb.connect()
        engine.execute(f"CREATE VIEW t AS SELECT * FROM '{source}'")
    else:
        engine = duckdb.connect(source, read_only=True)
    return engine


def database(source: Path) -> Path:
    """The same rows as the table ``t`` of a DuckDB file."""
    path = source.with_suffix(".duckdb")
    if not path.is_file():
        with duckdb.connect(path) as engine:
            engine.execute(f"CREATE TABLE t AS SELECT * FROM '{source}'")
    return path
