"""Two thousand invented people with two rows each, for conversations."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl

import discreet as dp
from discreet.queries.online.pmw import private_gap_weights
from discreet.relational.schema.table import Table

PEOPLE = 2000
WARDS = ("A", "B", "C", "D")

FRAME = pl.DataFrame(
    {
        "person": [row // 2 for row in range(2 * PEOPLE)],
        "sex": ["f" if (row // 2) % 3 else "m" for row in range(2 * PEOPLE)],
        "ward": [WARDS[min(3, (row * row) % 11 // 2)] for row in range(2 * PEOPLE)],
        "age": [float((7 * row) % 100) for row in range(2 * PEOPLE)],
    }
)

EASY = partial(private_gap_weights, about=3000, updates=6)
"""Six updates, planned for 3000 records."""


def table(unit: Any = None, snapshot: str | None = "one") -> Table:
    return dp.table(
        FRAME,
        unit=unit or dp.Person("person", max_rows=2),
        columns={
            "sex": dp.Category(["f", "m"]),
            "ward": dp.Category(WARDS),
            "age": dp.Number(0, 99),
        },
        snapshot=snapshot,
    )


def curator(ledger: Any = None, unit: Any = None, **more: Any) -> dp.Curator:
    return dp.Curator(
        people=table(unit),
        budget=dp.PureDP(epsilon=10_000),
        ledger=ledger or dp.ledger.Memory(),
        **more,
    )


def universe(source: Any) -> Any:
    return source.universe("people", "sex", "ward", age="FLOOR(age / 10)")


def conversation(source: Any, **changes: Any) -> Any:
    """A conversation with little noise about 80 cells."""
    given: dict[str, Any] = {
        "mechanism": EASY,
        "spend": dp.PureDP(epsilon=50),
        "questions": 60,
    }
    return source.converse(universe(source), **{**given, **changes})
