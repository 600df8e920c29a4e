"""An invented table of visits, with everything that people have in columns."""

from datetime import date, timedelta
from typing import Any

import numpy as np

import discreet as dp

DECLARED: dict[str, Any] = {
    "sex": dp.Category(["f", "m"]),
    "age": dp.Integer(0, 99),
    "cost": dp.Number(0, 100),
    "day": dp.Dates(date(2024, 1, 1), date(2024, 12, 31)),
    "ill": dp.Boolean(),
}


def visits(rows: int = 2000, seed: int = 0) -> dict[str, list[Any]]:
    """Rows of people with several visits; some values are missing, some out of bounds."""
    numbers = np.random.default_rng(seed)
    age = numbers.integers(-2, 104, rows)
    cost = numbers.exponential(20, rows)
    first = date(2024, 1, 1)
    return {
        "patient": numbers.integers(0, max(1, rows // 3), rows).tolist(),
        "sex": numbers.choice(["f", "m", "?"], rows, p=[0.6, 0.35, 0.05]).tolist(),
        "age": age.tolist(),
        "cost": [None if each > 60 else float(each) for each in cost],
        "day": [first + timedelta(days=int(each)) for each in numbers.integers(-5, 380, rows)],
        "ill": [bool(each) for each in numbers.random(rows) < age / 120],
    }
