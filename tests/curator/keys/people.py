"""Tables of invented words about invented people, for tests of keys that nobody listed."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import polars as pl

import discreet as dp
from discreet.noise import Noiseless

SPEND = dp.ApproxDP(epsilon=1, delta=1e-5)
COLUMNS: dict[str, Any] = {
    "word": dp.Discovered(),
    "number": dp.Discovered(),
    "day": dp.Discovered(),
    "ward": dp.Category(["A", "B", None]),
    "cost": dp.Number(0, 100),
}


def words(sizes: dict[str, int], rows_each: int = 1) -> pl.DataFrame:
    """One person for each occurrence of a word, with ``rows_each`` rows of it."""
    held = [word for word, people in sizes.items() for _ in range(people)]
    rows = [(person, word) for person, word in enumerate(held) for _ in range(rows_each)]
    return pl.DataFrame(
        {
            "id": [person for person, _ in rows],
            "word": [word for _, word in rows],
            "number": [len(word) for _, word in rows],
            "day": [date(2024, 1, 1) + timedelta(days=len(word)) for _, word in rows],
            "ward": [("A", "B", None)[person % 3] for person, _ in rows],
            "cost": [float(person % 100) for person, _ in rows],
        },
        schema_overrides={"word": pl.String, "ward": pl.String},
    )


def curator(
    frame: pl.DataFrame, unit: Any = None, budget: Any = None, **options: Any
) -> dp.Curator:
    """With real noise, unless ``randomness`` says otherwise."""
    table = dp.table(
        frame, unit=unit or dp.Row(), columns=options.pop("columns", COLUMNS), snapshot="one"
    )
    return dp.Curator(
        t=table,
        budget=budget or dp.ApproxDP(epsilon=100, delta=1e-2),
        ledger=options.pop("ledger", None) or dp.ledger.Memory(),
        **options,
    )


def still(frame: pl.DataFrame, unit: Any = None, **options: Any) -> dp.Curator:
    """Without noise: a key is named where that is likelier than not."""
    return curator(frame, unit, randomness=Noiseless(), **options)
