"""Spends at the ends of what a number can be, for every synthesiser: an answer, or free refusals.

Noise that cannot be drawn, or told from none, is seen when a mechanism is made: before any data is
read, and before the reservation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.errors import DiscreetError
from discreet.synthetic import Hierarchy, Level, PrivateBins

FEW = (1e-30, 1e-17, 1e4, 1e9)
MANY = (5e-324, 1e-300, 1e-30, 1e-17, 1e-15, 1e4, 1e9, 1e15, 1e30, 1e300)
BUDGET: Guarantee = dp.PureDP(epsilon=1e100)
IN_RHO: Guarantee = dp.ZCDP(rho=1e100)
COLUMNS: dict[str, Any] = {"ward": dp.Category(["A", "B", "C"]), "age": dp.Integer(0, 9)}
TOWNS = Hierarchy((Level("all"), Level("ward", by="ward")))


def curator(budget: Guarantee) -> dp.Curator:
    people = pl.DataFrame(
        {
            "who": list(range(30)),
            "ward": ["ABC"[each % 3] for each in range(30)],
            "age": [each % 10 for each in range(30)],
        }
    )
    person = dp.Person("who", max_rows=1)
    return dp.Curator(
        people=dp.table(people, unit=person, columns=COLUMNS, snapshot="1"),
        visits=dp.table(people, unit=person, columns=COLUMNS, snapshot="1"),
        budget=budget,
        ledger=dp.ledger.Memory(),
    )


def one(kind: Any, **more: Any) -> Callable[[dp.Curator, Guarantee], object]:
    return lambda c, spend: c.synthesize("people", mechanism=kind, spend=spend, **more)


def levels(source: dp.Curator, spend: Guarantee) -> object:
    universe = source.universe("people", "ward", "age")
    asked = dp.queries.Workload.marginal(universe, ["ward"])
    made = partial(dp.synthetic.TopDown, hierarchy=TOWNS)
    return source.synopsis(asked, mechanism=made, spend=spend)


DOORS: dict[str, Callable[[dp.Curator, Guarantee], object]] = {
    "AIM": one(dp.synthetic.AIM),
    "MST": one(dp.synthetic.MST),
    "MWEMPGM": one(partial(dp.synthetic.MWEMPGM, rounds=2)),
    "IndependentMarginals": one(dp.synthetic.IndependentMarginals),
    "FullHistogram": one(dp.synthetic.FullHistogram),
    "PrivBayes": one(dp.synthetic.PrivBayes),
    "private bins": one(dp.synthetic.IndependentMarginals, bins=PrivateBins(2, of=5)),
    "TopDown": levels,
    "tables": lambda c, s: c.synthesize_tables("people", ["visits"], spend=s),
    "tables in private bins": lambda c, s: c.synthesize_tables(
        "people", ["visits"], bins=PrivateBins(2, of=5), spend=s
    ),
    "evaluation": lambda c, s: c.evaluate_synthetic(
        "people", {"ward": ["A"], "age": [3]}, ways=(1, 2), spend=s
    ),
}


@pytest.mark.parametrize("amounts", [FEW, pytest.param(MANY, marks=pytest.mark.slow)], ids=len)
@pytest.mark.parametrize("door", DOORS)
def test_every_spend_is_answered_or_refused_free(door: str, amounts: tuple[float, ...]) -> None:
    answered = 0
    spends: list[tuple[Guarantee, Guarantee]]
    spends = [(BUDGET, dp.PureDP(epsilon=each)) for each in amounts]
    spends += [(BUDGET, dp.PureDP(epsilon=each)) for each in (Fraction(3, 1009), 1)]
    spends += [(IN_RHO, dp.ZCDP(rho=each)) for each in amounts[-2:] + amounts[1:2]]
    for budget, spend in spends:
        source = curator(budget)
        before = source.spent
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            code = code_of(partial(DOORS[door], source, spend))
        assert code != "engine_failed", (door, spend)
        assert not code or source.spent == before, (door, spend)
        assert code or amount_of(spend) < 1e9, "noise that is none was drawn"
        answered += not code
    assert answered, "whatever has noise that can be drawn is answered"


def amount_of(spend: Guarantee) -> float:
    """The epsilon, or the rho."""
    return float(spend.epsilon if isinstance(spend, dp.PureDP) else spend.rho)  # type: ignore[attr-defined]


def code_of(attempt: Callable[[], object]) -> str:
    """How an attempt is refused; nothing if it is not."""
    try:
        attempt()
    except DiscreetError as refusal:
        return refusal.code
    return ""


@pytest.mark.parametrize(
    ("verb", "given"),
    [
        ("evaluate", {"ways": (0,)}),
        ("evaluate", {"ways": (-1,)}),
        ("evaluate", {"ways": (1.5,)}),
        ("evaluate", {"ways": ("two",)}),
        ("AIM", {"merging": float("nan")}),
        ("AIM", {"merging": "many"}),
        ("MST", {"merging": -1}),
        ("AIM", {"columns": 2}),
        ("MWEMPGM", {"rounds": 0}),
        ("PrivBayes", {"useful": 0}),
        ("PrivBayes", {"degree": 1.5}),
    ],
    ids=str,
)
def test_numbers_that_mean_nothing_are_refused_free(verb: str, given: dict[str, Any]) -> None:
    source = curator(BUDGET)
    before, spend = source.spent, dp.PureDP(epsilon=1)
    rows = {"ward": ["A"], "age": [3]}
    ask: Callable[[], object] = partial(
        source.evaluate_synthetic, "people", rows, spend=spend, **given
    )
    if verb != "evaluate":
        kind = partial(getattr(dp.synthetic, verb), **given)
        ask = partial(source.synthesize, "people", mechanism=kind, spend=spend)
    assert code_of(ask) not in ("", "engine_failed")
    assert source.spent == before
