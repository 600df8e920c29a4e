"""Small tables, the same every time, each behind a curator and beside it in plain DuckDB."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import discreet as dp

BUDGET = dp.PureDP(epsilon=1e6)
WARDS = ["surgery", "medicine", "maternity"]
EDUCATIONS = [f"grade {number}" for number in range(1, 17)]
OCCUPATIONS = [f"occupation {number}" for number in range(14)]
SEXES = ["Female", "Male"]
INCOMES = ["<=50K", ">50K"]
WORK = ["Private", "Self-emp-inc", "Self-emp-not-inc", "State-gov"]
REGIONS = ["north", "east", "south", "west"]
YEAR = dp.Dates(date(2024, 1, 1), date(2024, 12, 31))


@dataclass(frozen=True)
class World:
    """Tables behind a curator, and the same tables without one."""

    curator: Any
    plain: duckdb.DuckDBPyConnection


def hospital(rows: int, folder: Path) -> World:
    """The visits of the README and the tutorial, in memory; patients come two or three times."""
    random = np.random.default_rng(7)
    visits = {
        "patient": random.integers(0, max(rows * 2 // 5, 1), rows),
        "age": random.integers(0, 100, rows),
        "ward": random.choice(WARDS, rows, p=[0.3, 0.5, 0.2]),
        "cost": random.gamma(2, 400, rows).round(2),
        "day": _days(random, rows),
    }
    sites = {"ward": np.array(WARDS), "site": np.array(["north", "south", "south"])}
    curator = dp.Curator(
        visits=dp.table(
            visits,
            unit=dp.Person("patient", max_rows=5),
            columns={
                "ward": dp.Category(WARDS),
                "age": dp.Number(0, 110),
                "cost": dp.Number(0, 5_000),
                "day": YEAR,
            },
            snapshot="1",
        ),
        sites=dp.public(sites),
        budget=BUDGET,
        ledger=dp.ledger.Memory(),
    )
    return World(curator, _in_memory(visits=visits, sites=sites))


def census(rows: int, folder: Path) -> World:
    """The demo's census in a Parquet file, one row for each person."""
    random = np.random.default_rng(8)
    people = {
        "age": random.integers(17, 91, rows),
        "education_years": random.integers(1, 17, rows),
        "hours_per_week": random.integers(0, 101, rows),
        "capital_gain": random.integers(0, 30_000, rows),
        "education": random.choice(EDUCATIONS, rows),
        "occupation": random.choice(OCCUPATIONS, rows),
        "sex": random.choice(SEXES, rows),
        "income": random.choice(INCOMES, rows),
        "workclass": random.choice(WORK, rows),
    }
    levels = {
        "education": np.array(EDUCATIONS),
        "level": np.array(["school"] * 9 + ["college"] * 3 + ["degree"] * 4),
    }
    path = folder / f"people_{rows}.parquet"
    _in_memory(people=people).execute(f"COPY people TO '{path}' (FORMAT parquet)")
    curator = dp.Curator(
        people=dp.table(
            path,
            unit=dp.Row(),
            columns={
                "age": dp.Number(17, 90),
                "education_years": dp.Number(1, 16),
                "hours_per_week": dp.Number(0, 100),
                "capital_gain": dp.Number(0, 20_000),
                "education": dp.Category(EDUCATIONS),
                "occupation": dp.Category(OCCUPATIONS),
                "sex": dp.Category(SEXES),
                "income": dp.Category(INCOMES),
            },
        ),
        levels=dp.public(levels),
        budget=BUDGET,
        ledger=dp.ledger.Memory(),
    )
    plain = _in_memory(levels=levels)
    plain.execute(f"CREATE VIEW people AS SELECT * FROM '{path}'")
    return World(curator, plain)


def clinic(rows: int, folder: Path) -> World:
    """The tables of the collected questions, in memory: people, and two visits of each."""
    random = np.random.default_rng(9)
    people = {
        "pid": np.arange(rows),
        "age": random.integers(18, 58, rows),
        "sex": random.choice(["f", "m", "x"], rows),
        "region": random.choice(REGIONS, rows),
        "schooling": random.integers(1, 13, rows),
        "income": (random.random(rows) * 8_000).round(2),
    }
    visits = {
        "pid": random.integers(0, max(rows // 2, 1), rows),
        "ward": random.choice(["A", "B", "C", "D"], rows),
        "day": _days(random, rows),
        "minutes": random.integers(0, 91, rows),
        "urgent": random.random(rows) < 1 / 3,
    }
    regions = {"region": np.array(REGIONS), "country": np.array(["up", "up", "down", "down"])}
    person = dp.Person("pid", max_rows=4, max_groups=4)
    curator = dp.Curator(
        people=dp.table(
            people,
            unit=dp.Person("pid", max_rows=1),
            columns={
                "age": dp.Number(18, 57),
                "sex": dp.Category(["f", "m", "x"]),
                "region": dp.Category(REGIONS),
                "schooling": dp.Number(1, 12),
                "income": dp.Number(0.0, 8_000.0),
            },
            snapshot="1",
        ),
        visits=dp.table(
            visits,
            unit=person,
            columns={
                "ward": dp.Category(["A", "B", "C", "D"]),
                "day": YEAR,
                "minutes": dp.Number(0, 90),
                "urgent": dp.Category([False, True]),
            },
            snapshot="1",
        ),
        regions=dp.public(regions),
        budget=BUDGET,
        ledger=dp.ledger.Memory(),
    )
    return World(curator, _in_memory(people=people, visits=visits, regions=regions))


WORLDS = {"hospital": hospital, "census": census, "clinic": clinic}


def _days(random: np.random.Generator, rows: int) -> Any:
    return np.datetime64("2024-01-01", "us") + random.integers(0, 366, rows).astype(
        "timedelta64[D]"
    )


def _in_memory(**tables: Any) -> duckdb.DuckDBPyConnection:
    """A connection that sees arrays under the names of tables."""
    engine = duckdb.connect()
    for name, columns in tables.items():
        texts = {
            key: values.astype(object) if values.dtype.kind == "U" else values
            for key, values in columns.items()
        }
        engine.register(name, texts)
    return engine
