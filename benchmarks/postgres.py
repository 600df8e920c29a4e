"""Private SQL on PostgreSQL against the plain query, and against bounding written by hand."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from timing import Figure, Timer, alternate, clock, ratios

import discreet as dp

ROWS = 2_000_000
GROUPS = 1_000
PEOPLE = 200_000
ROUNDS = 7
FEW = 3
MOST_OVER_PLAIN = 2.0
MOST_OVER_HAND = 1.5
PERSON = dp.Person("pid", max_rows=20, max_groups=5)
COLUMNS: dict[str, Any] = {
    "grp": dp.Category(range(GROUPS)),
    "whole": dp.Number(0, 99),
    "real": dp.Number(0, 100),
}
TABLE = f"""
CREATE UNLOGGED TABLE public.visits AS SELECT
    (i * 7919) % {PEOPLE} AS pid, CAST((i * 31337) % {GROUPS} AS int4) AS grp,
    CAST((i * 104729) % 100 AS int4) AS whole, random() * 100 AS real
FROM generate_series(CAST(1 AS int8), {ROWS}) AS i
"""
BY_HAND = """
SELECT grp, COUNT(*), SUM({0}) FROM (
    SELECT grp, {0}, dense_rank() OVER (PARTITION BY pid ORDER BY h, grp) AS g,
        row_number() OVER (PARTITION BY pid ORDER BY h, grp, hv, {0}) AS k
    FROM (SELECT pid, grp, {0}, hash_record_extended(ROW(pid, grp), 42) AS h,
        hash_record_extended(ROW(pid, {0}), 42) AS hv FROM public.visits) AS a) AS b
WHERE g <= 5 AND k <= 20 GROUP BY grp
"""


def figures() -> list[Figure]:
    """All figures of this suite."""
    server = server_module()
    reason = server.missing()
    if reason is not None:
        return [Figure(name="postgres/rows/plain", values=(), unit="x", remark=f"MISSING {reason}")]
    found: list[Figure] = []
    with _filled(server) as conninfo:
        plain = "SELECT grp, COUNT(*), SUM({0}) FROM public.visits GROUP BY grp"
        rows = Rival("rows", dp.Row(), "plain", plain, MOST_OVER_PLAIN, ROUNDS)
        people = Rival("people", PERSON, "by_hand", BY_HAND, MOST_OVER_HAND, FEW)
        found += [*_compared(conninfo, rows), *_compared(conninfo, people)]
    return found


@dataclass(frozen=True)
class Rival:
    """What a private question is compared with: text over a column, and the ratio aimed at."""

    name: str
    unit: Any
    against: str
    text: str
    aim: float
    rounds: int


def _compared(conninfo: str, rival: Rival) -> list[Figure]:
    import psycopg

    found = []
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for column in ("whole", "real"):
            text = rival.text.format(column)
            timers: dict[str, Timer] = {
                "private": _private(conninfo, rival.unit, column),
                rival.against: clock(partial(_fetched, connection, text)),
            }
            prefix = f"postgres/{rival.name}/{column}"
            seconds = alternate(prefix, timers, rounds=rival.rounds)
            private, other = seconds["private"], seconds[rival.against]
            found += [
                Figure(name=f"{prefix}/seconds", values=private, unit="s"),
                Figure(name=f"{prefix}/{rival.against}_seconds", values=other, unit="s"),
                Figure(
                    name=f"{prefix}/{rival.against}",
                    values=ratios(private, other),
                    unit="x",
                    at_most=rival.aim,
                    remark=f"{ROWS:.0e} rows, {GROUPS} groups",
                ),
            ]
    return found


def _private(conninfo: str, unit: Any, column: str) -> Timer:
    """A question that was not asked before, each time."""
    engine = dp.Postgres(conninfo)
    visits = dp.table(engine.table("public.visits"), unit=unit, columns=COLUMNS)
    curator = dp.Curator(visits=visits, budget=dp.PureDP(epsilon=10_000), ledger=dp.ledger.Memory())
    text = f"SELECT grp, COUNT(*) AS n, SUM({column}) AS s FROM visits GROUP BY grp"
    turns = count()
    return clock(lambda: curator.sql(text, spend=dp.PureDP(epsilon=1 + next(turns) / 1024)))


def _fetched(connection: Any, text: str) -> list[Any]:
    found: list[Any] = connection.execute(text).fetchall()
    return found


@contextmanager
def _filled(server: Any) -> Iterator[str]:
    """A server of our own with the table in it."""
    import psycopg

    with server.Server({"fsync": "off", "shared_buffers": "256MB"}) as running:
        with psycopg.connect(running.conninfo(), autocommit=True) as connection:
            connection.execute(TABLE)
            connection.execute("VACUUM ANALYZE public.visits")
        yield running.conninfo()


def server_module() -> Any:
    """The server of the tests, by its place: ``tests`` is not a package that is installed."""
    path = Path(__file__).resolve().parents[1] / "tests" / "postgres_server.py"
    spec = importlib.util.spec_from_file_location("postgres_server", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
