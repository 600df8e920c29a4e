"""Small tables about invented people, for tests of the curator."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import polars as pl

import discreet as dp
from discreet.noise import Noiseless

WARDS = ("A", "B", "C")


def visits(people: int = 60, each: int = 3) -> pl.DataFrame:
    """``each`` visits of every person; ward and cost follow from their numbers."""
    rows = [(person, visit) for person in range(people) for visit in range(each)]
    return pl.DataFrame(
        {
            "patient_id": [person for person, _ in rows],
            "ward": [WARDS[(person + visit) % 3] for person, visit in rows],
            "age": [20 + person % 60 for person, _ in rows],
            "cost": [float(10 * visit + person) for person, visit in rows],
            "day": [date(2024, 1 + visit % 12, 1 + person % 28) for person, visit in rows],
            "note": [f"n{person % 7}" for person, _ in rows],
        }
    )


COLUMNS: Mapping[str, Any] = {
    "ward": dp.Category(WARDS),
    "age": dp.Number(0, 120),
    "cost": dp.Number(0, 200),
    "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
}

PERSON = dp.Person("patient_id", max_rows=3, max_groups=3)


def by_row(frame: pl.DataFrame | None = None, **options: Any) -> dp.Curator:
    """A curator in test mode, without noise, each row a unit."""
    table = dp.table(visits() if frame is None else frame, unit=dp.Row(), columns=COLUMNS)
    return _curator(table, **options)


def by_person(
    frame: pl.DataFrame | None = None, unit: dp.Person = PERSON, **options: Any
) -> dp.Curator:
    """A curator in test mode, without noise, for people."""
    table = dp.table(visits() if frame is None else frame, unit=unit, columns=COLUMNS)
    return _curator(table, **options)


def private(unit: Any = None, budget: Any = None, ledger: Any = None, **more: Any) -> dp.Curator:
    """A curator with real noise."""
    table = dp.table(visits(), unit=unit or dp.Row(), columns=COLUMNS, snapshot="one")
    return dp.Curator(
        visits=table,
        budget=budget or dp.ApproxDP(epsilon=10, delta=1e-5),
        ledger=ledger or dp.ledger.Memory(),
        **more,
    )


def _curator(table: Any, **options: Any) -> dp.Curator:
    given: dict[str, Any] = {
        "budget": dp.PureDP(epsilon=1000),
        "ledger": dp.ledger.Memory(),
        "randomness": Noiseless(),
    }
    return dp.Curator(visits=table, **(given | options))
