"""Child curators: the same tables, a budget of their own, set aside at once and for ever."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.errors import Exhausted, InvalidParameter, Mismatch
from discreet.mechanisms import AboveThreshold
from tests.curator.sub_budgets.amounts import left, used
from tests.curator.tables import COLUMNS, private, visits

COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
HALF = dp.PureDP(epsilon=0.5)
TENTH = dp.PureDP(epsilon=0.1)


def test_the_parent_has_less_by_the_whole_budget_at_once() -> None:
    curator = private(budget=dp.PureDP(epsilon=2))
    child = curator.child("marketing", budget=HALF)
    assert left(curator) == 1.5
    assert (left(child), used(child)) == (0.5, 0)
    child.sql(COUNT, spend=TENTH)
    assert left(curator) == 1.5
    assert left(child) == 0.4


def test_a_child_cannot_exceed_its_budget_though_the_parent_has_more() -> None:
    curator = private()
    child = curator.child("marketing", budget=TENTH)
    child.sql(COUNT, spend=TENTH)
    with pytest.raises(Exhausted) as refusal:
        child.sql("SELECT COUNT(*) AS n FROM visits", spend=TENTH)
    assert refusal.value.code == "budget_exhausted"


def test_children_do_not_notice_each_other() -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    first, second = (curator.child(name, budget=HALF) for name in ("a", "b"))
    first.sql(COUNT, spend=HALF)
    second.sql(COUNT, spend=HALF)
    with pytest.raises(Exhausted):
        curator.sql(COUNT, spend=TENTH)
    assert left(curator) == 0


def test_more_cannot_be_granted_than_is_left() -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    curator.child("a", budget=dp.PureDP(epsilon=0.8))
    with pytest.raises(Exhausted):
        curator.child("b", budget=HALF)


def test_each_child_has_releases_and_a_history_of_its_own() -> None:
    curator = private()
    first, second = (curator.child(name, budget=HALF) for name in ("a", "b"))
    answer = first.sql(COUNT, spend=TENTH)
    assert first.sql(COUNT, spend=TENTH).to_json() == answer.to_json()
    assert used(first) == 0.1
    assert second.sql(COUNT, spend=TENTH).id != answer.id
    assert curator.sql(COUNT, spend=TENTH).id != answer.id
    assert [asked.query for asked in first.history()] == [COUNT]
    assert [asked.query for asked in curator.history()] == ["child a", "child b", COUNT]
    assert "set aside" in str(curator.history())
    curator.ledger.verify()


def test_grandchildren_are_set_aside_from_their_parent() -> None:
    curator = private(budget=dp.PureDP(epsilon=1))
    child = curator.child("sales", budget=HALF)
    grandchild = child.child("interns", budget=dp.PureDP(epsilon=0.2))
    grandchild.sql(COUNT, spend=TENTH)
    assert left(curator) == 0.5
    assert left(child) == 0.3
    assert left(grandchild) == 0.1
    with pytest.raises(Exhausted):
        child.child("more", budget=HALF)


def test_the_same_name_with_another_budget_is_refused() -> None:
    curator = private()
    curator.child("marketing", budget=HALF)
    for budget in (TENTH, dp.ApproxDP(epsilon=0.5, delta=1e-6)):
        with pytest.raises(Mismatch) as refusal:
            curator.child("marketing", budget=budget)
        assert refusal.value.code == "allotment_terms"


@pytest.mark.parametrize("name", ["", "  ", 3, None])
def test_a_child_has_a_name(name: Any) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        private().child(name, budget=HALF)
    assert refusal.value.code == "name_missing"


def test_conversations_and_batches_are_paid_by_the_child() -> None:
    child = private().child("a", budget=dp.PureDP(epsilon=1))
    watch = child.open(AboveThreshold(threshold=1000, sensitivity=1, epsilon=0.25), spend=HALF)
    assert watch.ask("SELECT COUNT(*) AS n FROM visits") in (False, True)
    child.batch({"a": COUNT, "b": "SELECT COUNT(*) AS n FROM visits"}, spend=TENTH)
    assert left(child) <= 0.65


@pytest.mark.parametrize(
    ("above", "below", "left"),
    [
        (dp.ApproxDP(epsilon=2, delta=1e-6), HALF, dp.ApproxDP(epsilon=1.5, delta=1e-6)),
        (
            dp.ApproxDP(epsilon=2, delta=4e-6),
            dp.ApproxDP(epsilon=0.5, delta=1e-6),
            dp.ApproxDP(epsilon=1.5, delta=3e-6),
        ),
        (
            dp.ApproxDP(epsilon=2, delta=4e-6),
            dp.ApproxDP(epsilon=0.5, delta=1e-6, by=dp.ZCDP),
            dp.ApproxDP(epsilon=1.5, delta=3e-6),
        ),
        (dp.ZCDP(rho=1), dp.ZCDP(rho=0.25), dp.ZCDP(rho=0.75)),
        (dp.ZCDP(rho=1), dp.PureDP(epsilon=1), dp.ZCDP(rho=1 - math.tanh(0.5))),
        (
            dp.ApproxZCDP(rho=1, delta=1e-6),
            dp.PureDP(epsilon=1),
            dp.ApproxZCDP(rho=1 - math.tanh(0.5), delta=1e-6),
        ),
        (dp.ApproxZCDP(rho=1, delta=1e-6), dp.ZCDP(rho=0.25), dp.ApproxZCDP(rho=0.75, delta=1e-6)),
        (
            dp.RenyiDP(alpha=4, epsilon=2),
            dp.RenyiDP(alpha=4, epsilon=0.5),
            dp.RenyiDP(alpha=4, epsilon=1.5),
        ),
        (dp.RenyiDP(alpha=4, epsilon=2), dp.ZCDP(rho=0.25), dp.RenyiDP(alpha=4, epsilon=1)),
    ],
)
def test_budgets_convert_where_the_whole_has_a_price(above: Any, below: Any, left: Any) -> None:
    curator = private(budget=above)
    curator.child("a", budget=below)
    found = curator.remaining
    assert type(found) is type(left)
    for name in ("epsilon", "delta", "rho"):
        if hasattr(left, name):
            assert getattr(found, name) == pytest.approx(getattr(left, name), rel=1e-9)


def test_a_pure_child_of_a_renyi_budget_costs_no_more_than_its_epsilon() -> None:
    curator = private(budget=dp.RenyiDP(alpha=4, epsilon=2))
    curator.child("a", budget=dp.PureDP(epsilon=1))
    assert 1 <= left(curator) < 2


@pytest.mark.parametrize(
    ("above", "below"),
    [
        (dp.PureDP(epsilon=2), dp.ApproxDP(epsilon=0.5, delta=1e-6)),
        (dp.PureDP(epsilon=2), dp.ZCDP(rho=0.1)),
        (dp.ApproxDP(epsilon=2, delta=1e-6), dp.ZCDP(rho=0.1)),
        (dp.ZCDP(rho=1), dp.ApproxDP(epsilon=0.5, delta=1e-6)),
        (dp.ZCDP(rho=1), dp.RenyiDP(alpha=4, epsilon=0.1)),
        (dp.RenyiDP(alpha=4, epsilon=2), dp.RenyiDP(alpha=3, epsilon=0.1)),
        (dp.RenyiDP(alpha=4, epsilon=2), dp.ApproxDP(epsilon=0.5, delta=1e-6)),
    ],
)
def test_budgets_without_a_proven_price_are_refused(above: Any, below: Any) -> None:
    curator = private(budget=above)
    with pytest.raises(Mismatch) as refusal:
        curator.child("a", budget=below)
    assert refusal.value.code == "budget_notion"
    assert curator.remaining == curator.budget.per(curator.unit)


OPENING = """
import sys
import polars as pl
import discreet as dp
curator = dp.Curator(
    visits=dp.table(sys.argv[1], unit=dp.Row(), columns={"ward": dp.Category(["A", "B", "C"])}),
    budget=dp.PureDP(epsilon=1), ledger=sys.argv[2])
child = curator.child("marketing", budget=dp.PureDP(epsilon=0.6))
while True:
    try:
        child.sql("SELECT COUNT(*) AS n FROM visits", spend=dp.PureDP(epsilon=0.1),
                  analyst=f"{sys.argv[3]} {child.spent.epsilon}")
    except dp.errors.Exhausted:
        break
"""


def test_two_processes_open_one_child_and_spend_it_once(tmp_path: Path) -> None:
    table, ledger = tmp_path / "visits.parquet", tmp_path / "visits.ledger"
    visits().write_parquet(table)
    racing = [
        subprocess.Popen([sys.executable, "-c", OPENING, str(table), str(ledger), name])
        for name in ("ann", "bob")
    ]
    assert [process.wait(60) for process in racing] == [0, 0]
    curator = dp.Curator(
        visits=dp.table(table, unit=dp.Row(), columns={"ward": COLUMNS["ward"]}),
        budget=dp.PureDP(epsilon=1),
        ledger=ledger,
    )
    child = curator.child("marketing", budget=dp.PureDP(epsilon=0.6))
    assert left(child) == 0
    assert len(child.history()) == 6
    assert left(curator) == 0.4
    curator.ledger.verify()
