"""A ledger kept from the version whose answers had every listed key, whatever WHERE said of them.

``listed.sqlite`` and ``listed.sqlite.key`` were written by it; ``listed.json`` says what came out.
They are never written again: what later versions make of them is the test. To make a set for
another version, run this file with that version::

    python -m tests.curator.golden.listed FOLDER

All people are invented, and the key guards nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dp

NAME = "listed.sqlite"
TOLD = "listed.json"
PEOPLE = 300

AGES = "SELECT age, COUNT(*) AS n FROM visits WHERE age BETWEEN 5 AND 17 GROUP BY age"
MEANS = (
    "SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE ward IN ('A', 'B') GROUP BY ward"
)
WITHIN = {"n": dp.Within(20)}
TWO = dp.PureDP(epsilon=2)
ASKED = {"ages": AGES, "means": MEANS}
TOGETHER = {"ages": AGES, "all": "SELECT COUNT(*) AS n FROM visits"}
ROWS = {"ages": 121, "means": 3}
"""Rows that each answer had then."""


def visits() -> pl.DataFrame:
    """Two visits of every person; everything follows from their numbers."""
    return pl.DataFrame(
        {
            "patient": [row // 2 for row in range(2 * PEOPLE)],
            "ward": [("A", "B", "C")[(row * row) % 7 % 3] for row in range(2 * PEOPLE)],
            "age": [(7 * row) % 90 for row in range(2 * PEOPLE)],
            "cost": [float((13 * row) % 1000) for row in range(2 * PEOPLE)],
        }
    )


def curator(path: Path) -> dp.Curator:
    """The clinic's, on a ledger at ``path``."""
    table = dp.table(
        visits(),
        unit=dp.Person("patient", max_rows=2),
        columns={
            "ward": dp.Category(["A", "B", "C"]),
            "age": dp.Number(0, 120),
            "cost": dp.Number(0, 1000),
        },
        snapshot="one",
    )
    budget = dp.ApproxDP(epsilon=500, delta=1e-2)
    return dp.Curator(visits=table, budget=budget, ledger=path)


def write(folder: Path) -> None:
    """Ask everything once."""
    told: dict[str, Any] = {}
    with curator(folder / NAME) as source:
        for name, text in ASKED.items():
            told[name] = source.sql(text, spend=TWO).to_json()
        told["within"] = source.sql(AGES, accuracy=WITHIN).to_json()
        batch = source.batch(TOGETHER, spend=TWO)
        told["batch"] = {name: release.to_json() for name, release in batch.items()}
        told["spent"] = [str(amount) for amount in source.ledger.spent()]
    (folder / TOLD).write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
