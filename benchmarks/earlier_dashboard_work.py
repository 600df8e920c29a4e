"""A dashboard asked inside one checkout: ``earlier_dashboard`` starts it and says which way to ask.

A request has the ``path`` of the rows, the ``way``, the ``kind`` of panels and the ``turn``; the
answer, in place of a time, is the root mean squared error of those panels in that turn, or the
``share`` of the budget that each question had. Only names that have long been public are used, so
that an old checkout answers too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import duckdb
import numpy as np
from peers import serve

import discreet as dp

COPIES = 200
DIAGNOSES, WARDS, MOST = 50, 20, 100
COUNTS = [
    f"SELECT copy, COUNT(*) AS x FROM t WHERE diagnosis = {each} GROUP BY copy"
    for each in range(DIAGNOSES)
]
MEANS = [
    f"SELECT copy, AVG(cost) AS x FROM t WHERE ward = {each} GROUP BY copy" for each in range(WARDS)
]
PANELS = {"counts": COUNTS, "means": MEANS}
QUESTIONS = [*COUNTS, *MEANS]
COLUMNS: dict[str, Any] = {
    "copy": dp.Category(range(COPIES)),
    "diagnosis": dp.Category(range(DIAGNOSES)),
    "ward": dp.Category(range(WARDS)),
    "cost": dp.Number(0, MOST),
}
Asked = Callable[[dp.Curator], tuple[Any, list[Any]]]
"""What was spent on a question, or on all together, and the releases."""

SHY = 1 - 1e-9
"""Shares are a little smaller, so that rounding never makes the last one too large."""


def opened(path: str) -> dp.Curator:
    """A curator with the whole budget."""
    budget = dp.ApproxDP(epsilon=1, delta=1e-6, by=dp.ZCDP)
    table = dp.table(path, unit=dp.Row(), columns=COLUMNS)
    return dp.Curator(t=table, budget=budget, ledger=dp.ledger.Memory())


def rho_left(curator: dp.Curator) -> float:
    """What the budget's rest is in rho."""
    rest: Any = curator.remaining
    return float(rest.rho)


def rho_each(curator: dp.Curator) -> dp.ZCDP:
    """An equal share of rho."""
    return dp.ZCDP(rho=rho_left(curator) / len(QUESTIONS) * SHY)


def epsilon_each(curator: dp.Curator) -> dp.PureDP:
    """The largest epsilon at which all questions fit."""
    whole = rho_left(curator) * SHY
    one = {kind: texts[0] for kind, texts in PANELS.items()}

    def cost(epsilon: float) -> float:
        spend = dp.PureDP(epsilon=epsilon)
        prices: dict[str, Any] = {
            kind: curator.preview(text, spend=spend).price for kind, text in one.items()
        }
        return sum(float(prices[kind].rho) * len(texts) for kind, texts in PANELS.items())

    low, high = 0.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(middle) <= whole else (low, middle)
    return dp.PureDP(epsilon=low)


def one_by_one(share: Callable[[dp.Curator], Any]) -> Asked:
    """Every question at the same share."""

    def ask(curator: dp.Curator) -> tuple[Any, list[Any]]:
        spend = share(curator)
        return spend, [curator.sql(text, spend=spend) for text in QUESTIONS]

    return ask


def together(curator: dp.Curator) -> tuple[Any, list[Any]]:
    """All questions as one batch for the whole budget."""
    asked = {f"q{place}": text for place, text in enumerate(QUESTIONS)}
    spend = dp.ZCDP(rho=rho_left(curator) * SHY)
    return spend, list(curator.batch(asked, spend=spend).values())


WAYS: dict[str, Asked] = {
    "rho": one_by_one(rho_each),
    "epsilon": one_by_one(epsilon_each),
    "batch": together,
}


@cache
def exact(path: str) -> list[np.ndarray]:
    """The answers without noise, by copy."""
    with duckdb.connect() as engine:
        engine.execute(f"CREATE VIEW t AS SELECT * FROM '{path}'")
        found = [engine.sql(f"{text} ORDER BY copy").fetchall() for text in QUESTIONS]
    return [np.array([value for _, value in rows], dtype=float) for rows in found]


@cache
def errors(path: str, way: str, turn: int) -> dict[str, float]:
    """Root mean squared errors of counts and of means over all copies, and the share, in a turn."""
    with opened(path) as curator:
        spend, released = WAYS[way](curator)
    squares = [
        float(np.mean((np.array(each.answers[0].values, dtype=float) - truth) ** 2))
        for each, truth in zip(released, exact(path), strict=True)
    ]
    counts, means = squares[: len(COUNTS)], squares[len(COUNTS) :]
    return {
        "counts": float(np.mean(counts) ** 0.5),
        "means": float(np.mean(means) ** 0.5),
        "share": float(spend.epsilon if way == "epsilon" else spend.rho),
    }


def work(request: dict[str, Any]) -> float:
    """The error of one kind of panels, or the share."""
    return errors(request["path"], request["way"], request["turn"])[request["kind"]]


if __name__ == "__main__":
    serve(work)
