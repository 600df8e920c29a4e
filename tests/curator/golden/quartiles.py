"""A ledger kept from the version that chose one or two quantiles alone, and more by recursion.

``quartiles.sqlite`` and ``quartiles.sqlite.key`` were written by it; ``quartiles.json`` says what
came out. They are never written again: what later versions make of them is the test. To make a set
for another version, run this file with that version::

    python -m tests.curator.golden.quartiles FOLDER

All people are invented, and the key guards nothing.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dp

NAME = "quartiles.sqlite"
TOLD = "quartiles.json"
PEOPLE = 400

TWO = dp.PureDP(epsilon=2)
ENDS = "SELECT QUANTILE(age, 0.1) AS low, QUANTILE(age, 0.9) AS high FROM visits"
FIVE = "SELECT ward, QUANTILE(age, [0.1, 0.3, 0.5, 0.7, 0.9]) AS q FROM visits GROUP BY ward"
MEDIAN = "SELECT MEDIAN(age) AS half, COUNT(*) AS n FROM visits"
ASKED = {"ends": ENDS, "five": FIVE, "median": MEDIAN}
TOGETHER = {"ends": ENDS, "all": "SELECT COUNT(*) AS n FROM visits"}


def curator(path: Path) -> dp.Curator:
    """A clinic's, on a ledger at ``path``."""
    rows = range(2 * PEOPLE)
    frame = pl.DataFrame(
        {
            "patient": [row // 2 for row in rows],
            "ward": [("A", "B")[row % 3 % 2] for row in rows],
            "age": [(7 * row * row) % 97 for row in rows],
        }
    )
    table = dp.table(
        frame,
        unit=dp.Person("patient", max_rows=2),
        columns={"ward": dp.Category(["A", "B"]), "age": dp.Number(0, 120)},
        snapshot="one",
    )
    return dp.Curator(visits=table, budget=dp.PureDP(epsilon=100), ledger=path)


def write(folder: Path) -> None:
    """Ask everything once."""
    told: dict[str, Any] = {}
    with curator(folder / NAME) as source:
        for name, text in ASKED.items():
            told[name] = source.sql(text, spend=TWO).to_json()
        batch = source.batch(TOGETHER, spend=TWO)
        told["batch"] = {name: release.to_json() for name, release in batch.items()}
        told["spent"] = [str(amount) for amount in source.ledger.spent()]
    (folder / TOLD).write_text(json.dumps(told, indent=1), encoding="utf-8")
    key = folder / f"{NAME}.key"
    key.write_bytes(key.read_bytes()[:32])  # without where it was written


if __name__ == "__main__":
    write(Path(sys.argv[1]))
