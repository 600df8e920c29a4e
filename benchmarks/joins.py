"""Suite ``joins``: private questions over a join with a public table, against the plain queries.

Flights of a year and the weather at their airport in their hour: 336 776 rows and 26 115, invented,
with the sizes and keys of the tables that everybody knows.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
from timing import Figure, Timer, alternate, clock, ratios

import discreet as dp

FLIGHTS = 336_776
WEATHER = 26_115
HOURS = WEATHER // 3
ROUNDS = 9
AIM = 3.0
AIRPORTS = ("EWR", "JFK", "LGA")
AIRPORT = f"{list(AIRPORTS)}[CAST(1 + {{}} % 3 AS INTEGER)]"
HOUR = f"TIMESTAMP '2013-01-01' + to_hours(CAST({{}} % {HOURS} AS INTEGER))"
TABLES = {
    "weather": f"SELECT {AIRPORT.format('i')} AS origin, {HOUR.format('i // 3')} AS time_hour, "
    "['clear', 'cloud', 'rain', 'snow'][CAST(1 + hash(i, 1) % 4 AS INTEGER)] AS sky, "
    f"CAST(hash(i, 2) % 1000 / 10 AS DOUBLE) AS temp FROM range({WEATHER}) AS numbers(i)",
    "flights": f"SELECT {AIRPORT.format('hash(i, 3)')} AS origin, "
    f"{HOUR.format('hash(i, 4)')} AS time_hour, 'N' || hash(i, 5) % 4043 AS tailnum, "
    f"CAST(hash(i, 6) % 300 AS DOUBLE) - 60 AS dep_delay FROM range({FLIGHTS}) AS numbers(i)",
}
BOTH = "FROM flights AS f JOIN weather AS w ON f.origin = w.origin AND f.time_hour = w.time_hour"
QUESTIONS = {
    "sky": f"SELECT w.sky, COUNT(*) AS n, AVG(dep_delay) AS a {BOTH} GROUP BY w.sky",
    "hours": f"SELECT w.time_hour, COUNT(*) AS n {BOTH} GROUP BY w.time_hour",
    "places_and_hours": f"SELECT w.origin, w.time_hour, COUNT(*) AS n {BOTH} "
    "GROUP BY w.origin, w.time_hour",
}
UNITS: dict[str, Any] = {"row": dp.Row(), "person": dp.Person("tailnum", max_rows=20)}


def figures() -> list[Figure]:
    """The ratio to the plain query, for each question and unit."""
    with TemporaryDirectory(prefix="joins-") as name:
        folder = Path(name)
        plain = _plain(folder)
        return [
            _ratio(f"joins/{who}/{asked}", plain, _curator(folder, unit), QUESTIONS[asked])
            for who, unit in UNITS.items()
            for asked in QUESTIONS
        ]


def _ratio(name: str, plain: Any, curator: dp.Curator, text: str) -> Figure:
    turns = count()
    timers: dict[str, Timer] = {
        "plain": clock(lambda: plain.execute(text).fetchnumpy()),
        "private": clock(
            lambda: curator.sql(text, spend=dp.PureDP(epsilon=1 + next(turns) / 1024))
        ),
    }
    seconds = alternate(name, timers, rounds=ROUNDS)
    minima = min(seconds["private"]) / min(seconds["plain"])
    return Figure(
        name=f"{name}/plain",
        values=ratios(seconds["private"], seconds["plain"]),
        unit="x",
        at_most=AIM,
        remark=f"{min(seconds['private']):.3f} s; minima {minima:.2f}",
    )


def _plain(folder: Path) -> Any:
    """DuckDB with both tables as files."""
    engine = duckdb.connect()
    for name, text in TABLES.items():
        path = folder / f"{name}.parquet"
        engine.execute(f"COPY ({text}) TO '{path}' (FORMAT parquet)")
        engine.execute(f"CREATE VIEW {name} AS SELECT * FROM '{path}'")
    return engine


def _curator(folder: Path, unit: Any) -> dp.Curator:
    flights = dp.table(
        folder / "flights.parquet",
        unit=unit,
        columns={"dep_delay": dp.Number(-60, 180), "origin": dp.Category(AIRPORTS)},
    )
    return dp.Curator(
        flights=flights,
        weather=dp.public(folder / "weather.parquet"),
        budget=dp.PureDP(epsilon=100_000),
        ledger=dp.ledger.Memory(),
    )
