"""Random questions to one curator, paid for in random ways: an answer read again is still true.

A question may be found in the ledger, whole or in part: at another confidence, with its aggregates
in another order, under other names, at the price that an accuracy once cost. Whatever is found, the
numbers shown lie about the truth as closely as the intervals beside them say.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidParameter

ROWS = 4000
CONFIDENCES = (1 - 1e-9, 1 - 1e-10)
"""An interval that misses the truth is a fault: by noise alone one number of 10**9."""
BUDGETS: Sequence[tuple[Guarantee, Sequence[Guarantee]]] = (
    (
        dp.ApproxDP(epsilon=1e6, delta=0.5),
        (dp.PureDP(epsilon=0.25), dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=0.5, delta=1e-6)),
    ),
    (dp.ZCDP(rho=1e6), (dp.ZCDP(rho=0.05), dp.ZCDP(rho=0.5), dp.PureDP(epsilon=0.5))),
    (dp.RenyiDP(alpha=4, epsilon=1e6), (dp.RenyiDP(alpha=4, epsilon=0.2), dp.PureDP(epsilon=1))),
)
"""Budgets that pay for everything, and what is spent of them."""

ITEMS: Mapping[str, Any] = {
    "COUNT(*)": pl.len(),
    "COUNT(age)": pl.col("age").count(),
    "SUM(age)": pl.col("age").sum(),
    "SUM(cost)": pl.col("cost").sum(),
    "SUM(cost * 1000)": (pl.col("cost") * 1000).sum(),
    "AVG(cost)": pl.col("cost").mean(),
}
WITHIN: Mapping[str, float] = {
    "COUNT(*)": 30,
    "COUNT(age)": 60,
    "SUM(age)": 5_000,
    "SUM(cost)": 20_000,
    "SUM(cost * 1000)": 9_000_000,
}
"""Aggregates whose accuracy can be asked for, and one that costs an epsilon below one."""
WHERE: Mapping[str, Any] = {"": pl.lit(value=True), " WHERE age < 50": pl.col("age") < 50}


def frame() -> pl.DataFrame:
    """Rows whose values follow from their numbers."""
    return pl.DataFrame(
        {
            "id": range(ROWS),
            "ward": ["ABC"[row % 3] for row in range(ROWS)],
            "age": [row % 100 for row in range(ROWS)],
            "cost": [float(500 + row % 11) for row in range(ROWS)],
        }
    )


def curator(budget: Guarantee) -> dp.Curator:
    """With noise."""
    columns: dict[str, Any] = {
        "ward": dp.Category(["A", "B", "C"]),
        "age": dp.Number(0, 120),
        "cost": dp.Number(0.0, 1000.0),
    }
    table = dp.table(frame(), unit=dp.Row(), columns=columns, snapshot="one")
    return dp.Curator(visits=table, budget=budget, ledger=dp.ledger.Memory())


@dataclass(frozen=True)
class Question:
    """Some aggregates, by ward or not, under names of their own."""

    items: tuple[tuple[str, str], ...]
    where: str
    grouped: bool

    @property
    def sql(self) -> str:
        """As text."""
        key, by = ("ward, ", " GROUP BY ward") if self.grouped else ("", "")
        items = ", ".join(f"{item} AS {name}" for item, name in self.items)
        return f"SELECT {key}{items} FROM visits{self.where}{by}"

    def truth(self) -> pl.DataFrame:
        """The numbers without noise."""
        rows = frame().filter(WHERE[self.where])
        items = [ITEMS[item].alias(name) for item, name in self.items]
        return rows.group_by("ward").agg(items).sort("ward") if self.grouped else rows.select(items)

    def faults(self, release: dp.Release) -> list[str]:
        """Intervals that do not hold the truth."""
        truth, found = self.truth(), []
        for item, name in self.items:
            lower, upper = release[name].lower, release[name].upper
            assert lower is not None
            assert upper is not None
            for true, low, high in zip(truth[name], lower, upper, strict=True):
                if not low * (1 - 1e-12) <= true <= high * (1 + 1e-12):
                    found.append(f"{item} is {true}, not {low} … {high}: {self.sql}")
        return found


@dataclass
class Asked:
    """What was asked of one curator: how it was paid for, and what came out wrong."""

    ways: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def asked_at_random(seed: int, questions: int) -> Asked:
    """Random questions; half of them were asked before, in one form or another."""
    draw, told = random.Random(seed), Asked()
    known: list[tuple[Question, Guarantee]] = []
    budget, spends = BUDGETS[seed % len(BUDGETS)]
    with curator(budget) as source:
        for _ in range(questions):
            before, price = draw.choice(known) if known else (None, None)
            if before is None or draw.random() < 0.3:
                question, price = _new(draw), None
            else:
                question = _asked_differently(draw, before)
            way, payment = _payment(draw, question, spends, price)
            spent = source.spent
            try:
                release = source.sql(question.sql, confidence=draw.choice(CONFIDENCES), **payment)
            except InvalidParameter as refusal:
                told.ways[f"{way}: {refusal.code}"] += 1
                continue
            told.ways[f"{way}: {'free' if source.spent == spent else 'paid'}"] += 1
            told.faults += question.faults(release)
            known.append((question, release.guarantee))
        source.ledger.verify()
    return told


def _new(draw: random.Random) -> Question:
    items = draw.sample(list(ITEMS), draw.randint(1, 3))
    named = tuple((item, f"a{place}") for place, item in enumerate(items))
    return Question(named, draw.choice(list(WHERE)), draw.random() < 0.3)


def _asked_differently(draw: random.Random, before: Question) -> Question:
    """The same measures, in another order or under other names."""
    items = list(before.items)
    if draw.random() < 0.5:
        draw.shuffle(items)
    if draw.random() < 0.5:
        items = [(item, f"b{place}") for place, (item, _) in enumerate(items)]
    return Question(tuple(items), before.where, before.grouped)


def _payment(
    draw: random.Random,
    question: Question,
    spends: Sequence[Guarantee],
    price: Guarantee | None,
) -> tuple[str, dict[str, Any]]:
    """A spend, one that something cost before, or an accuracy where that can be foreseen."""
    if draw.random() < 0.4 and all(item in WITHIN for item, _ in question.items):
        return "accuracy", {
            "accuracy": {
                name: dp.Within(WITHIN[item] * draw.choice((1, 2, 40)))
                for item, name in question.items
            }
        }
    if price is not None and draw.random() < 0.7:
        return "its own price", {"spend": price}
    return "spend", {"spend": draw.choice(spends)}
