"""Spends and budgets at the ends of what a number can be: an answer, or a refusal with its code.

No other exception leaves a verb, and whatever is refused is free.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.errors import DiscreetError
from discreet.queries import MatrixMechanism, Workload
from discreet.theory import mwem_bound

AMOUNTS = (0, 5e-324, 1e-12, 1e300)
DELTAS = (0, 5e-324, 1e-6)
SMALL = "SELECT COUNT(*) AS n FROM visits"
LARGE = """SELECT ward, COUNT(*) AS n, AVG(cost) AS mean, MEDIAN(age) AS m, CORR(age, cost) AS c
           FROM visits GROUP BY ward"""
FOUND = "SELECT town, COUNT(*) AS n FROM visits GROUP BY town"
TOP = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward ORDER BY n DESC LIMIT 1"


def guarantees() -> Iterator[Guarantee]:
    for amount in AMOUNTS:
        yield dp.PureDP(epsilon=amount)
        yield dp.ZCDP(rho=amount)
        yield dp.RenyiDP(alpha=4, epsilon=amount)
        for delta in DELTAS:
            yield dp.ApproxDP(epsilon=amount, delta=delta)
            yield dp.ApproxZCDP(rho=amount, delta=delta)


BUDGETS = {
    "pure": dp.PureDP(epsilon=100),
    "pairs": dp.ApproxDP(epsilon=100, delta=0.1),
    "rho and delta": dp.ApproxZCDP(rho=100, delta=0.1),
}


def visits() -> Any:
    rows = range(60)
    frame = pl.DataFrame(
        {
            "ward": ["ABC"[row % 3] for row in rows],
            "town": ["XY"[row % 2] for row in rows],
            "age": [row % 100 for row in rows],
            "cost": [row / 7 for row in rows],
        }
    )
    columns: dict[str, Any] = {
        "ward": dp.Category(["A", "B", "C"]),
        "town": dp.Discovered(),
        "age": dp.Number(0, 99),
        "cost": dp.Number(0, 9.5),
    }
    return dp.table(frame, unit=dp.Row(), columns=columns, snapshot="one")


def curator(budget: Guarantee) -> dp.Curator:
    return dp.Curator(visits=visits(), budget=budget, ledger=dp.ledger.Memory())


def synopsis(source: dp.Curator, spend: Guarantee) -> object:
    workload = Workload.marginals(source.universe("visits", "ward"), 1)
    return source.synopsis(workload, mechanism=MatrixMechanism, spend=spend)


DOORS: dict[str, Callable[[dp.Curator, Guarantee], object]] = {
    "sql": lambda c, s: c.sql(SMALL, spend=s),
    "sql of many columns": lambda c, s: c.sql(LARGE, spend=s),
    "discovered keys": lambda c, s: c.sql(FOUND, spend=s),
    "largest groups": lambda c, s: c.sql(TOP, spend=s),
    "batch": lambda c, s: c.batch({"a": SMALL, "b": LARGE}, spend=s),
    "bounds": lambda c, s: c.bounds("visits", "age", spend=s),
    "limits": lambda c, s: c.learn_limits(dp.RowsPer("visits", "age"), spend=s),
    "synopsis": synopsis,
    "preview": lambda c, s: c.preview(LARGE, spend=s),
    "explain": lambda c, s: c.explain(SMALL, spend=s),
    "child": lambda c, s: c.child("team", budget=s).sql(SMALL, spend=s),
    "partition": lambda c, s: c.partition("visits", by="ward", budget=s)["A"].sql(SMALL, spend=s),
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("budget", BUDGETS)
def test_every_spend_is_answered_or_refused_free(door: str, budget: str) -> None:
    for spend in guarantees():
        source = curator(BUDGETS[budget])
        before = source.spent
        code = code_of(lambda s=spend, c=source: str(DOORS[door](c, s)))  # type: ignore[misc]
        assert code != "engine_failed", (door, budget, spend)
        if code and door not in ("child", "partition"):  # a share set aside stays set aside
            assert source.spent == before, (door, budget, spend)


def code_of(attempt: Callable[[], object]) -> str:
    """How an attempt is refused; nothing if it is not."""
    try:
        attempt()
    except DiscreetError as refusal:
        return refusal.code
    return ""


def test_every_budget_opens_or_is_refused() -> None:
    for budget in guarantees():
        try:
            source = curator(budget)
        except DiscreetError:
            continue
        str(source.remaining), str(source.spent), repr(source)
        with pytest.raises(DiscreetError):
            curator(budget).sql(SMALL, spend=dp.PureDP(epsilon=1e301))


def test_groups_of_every_guarantee() -> None:
    for promise in guarantees():
        for size in (1, 2, 1000):
            try:
                grown = promise.group(size)
            except DiscreetError:
                continue
            assert size > 1 or grown == promise


def test_the_bound_of_mwem_without_a_loss_is_refused() -> None:
    with pytest.raises(DiscreetError) as refusal:
        mwem_bound(cells=8, queries=8, records=100, rounds=2, epsilon=0)
    assert refusal.value.code == "not_positive"
