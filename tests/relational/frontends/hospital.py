"""A small curator for questions that are compared, not answered."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np

import discreet as dp
from discreet.relational.frontends.as_sql import text_of
from discreet.relational.identity.identity import identity
from discreet.relational.sql.translate import query_from


def curator(unit: dp.Person | dp.Row | None = None, *, epsilon: float = 100) -> dp.Curator:
    """Visits of people to wards, with noise."""
    rng = np.random.default_rng(7)
    rows = 300
    visits = {
        "patient": rng.integers(0, 90, rows),
        "ward": rng.choice(["A", "B", "C"], rows),
        "age": rng.integers(0, 100, rows),
        "cost": rng.gamma(2, 400, rows),
        "day": np.datetime64("2024-01-01", "us")
        + rng.integers(0, 366, rows) * np.timedelta64(1, "D"),
        "note": rng.choice(["ok", "late"], rows),
        "city": rng.integers(0, 60, rows),
    }
    columns: dict[str, Any] = {
        "ward": dp.Category(["A", "B", "C"]),
        "age": dp.Number(0, 110),
        "cost": dp.Number(0, 5_000),
        "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
    }
    wards = {"ward": np.array(["A", "B", "C"]), "site": np.array(["north", "south", "south"])}
    person = unit or dp.Person("patient", max_rows=5, max_groups=4)
    return dp.Curator(
        visits=dp.table(visits, unit=person, columns=columns, max_rows_per={"city": 4}),
        wards=dp.public(wards),
        budget=dp.ApproxDP(epsilon=epsilon, delta=1e-5),
        ledger=dp.ledger.Memory(),
    )


def digest(asked: object, made: dp.Curator) -> str:
    """What makes two questions identical."""
    return identity("sql", {"question": query_from(text_of(asked), made.context.database)})
