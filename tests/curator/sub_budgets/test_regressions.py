"""Faults that an attack found, each as it was."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import events
from discreet.curator.explain import _salts
from discreet.errors import DiscreetError

ONE = dp.PureDP(epsilon=1)
ROWS: dict[str, Any] = {
    "num": np.array([1, 1, 2, 2, 3, 3, 4, 4]),
    "card": np.array(["d", "d", "c", "c", "b", "b", "a", "a"]),
    "ward": np.array(["A", "B"] * 4),
    "floor": np.array([1, 2] * 4),
    "secret": np.array([5, 6] * 4),
}
COLUMNS = {"ward": dp.Category(["A", "B"]), "floor": dp.Category([1, 2])}


class Ward(StrEnum):
    A = "A"


def held(unit: Any, ledger: Any = None, **more: Any) -> dp.Curator:
    table = dp.table(ROWS, unit=unit, columns=COLUMNS, snapshot="july")
    budget = dp.PureDP(epsilon=100)
    return dp.Curator(visits=table, budget=budget, ledger=ledger or dp.ledger.Memory(), **more)


def code_of(attempt: Callable[[], object]) -> str:
    with pytest.raises(DiscreetError) as refusal:
        attempt()
    return refusal.value.code


@pytest.mark.parametrize(
    ("by", "known", "others"),
    [("floor", 1, (1.0, True, np.int64(1), "1")), ("ward", "A", (Ward.A, np.str_("A"), b"A"))],
)
def test_a_part_has_one_budget_whatever_it_is_called(
    by: str, known: object, others: tuple[object, ...]
) -> None:
    parts = held(dp.Row()).partition("visits", by=by, budget=ONE)
    assert parts[known] is parts[known]
    for other in others:
        assert code_of(lambda other=other: parts[other]) == "part_unknown"  # type: ignore[misc]


def test_a_partition_belongs_to_one_identifier() -> None:
    ledger = dp.ledger.Memory()
    first = held(dp.Person("num", max_rows=2, of="patients"), ledger)
    first.partition("visits", by="ward", budget=ONE, k=1)
    second = held(dp.Person("card", max_rows=2, of="patients"), ledger)
    again = lambda: second.partition("visits", by="ward", budget=ONE, k=1)  # noqa: E731
    assert code_of(again) != ""
    assert second.spent.epsilon == 1  # type: ignore[attr-defined]


def test_a_table_that_cannot_be_divided_here_costs_nothing() -> None:
    tables: dict[str, Any] = {
        name: dp.table(ROWS, unit=dp.Row(), columns=COLUMNS, snapshot="july")
        for name in ("visits", "orders")
    }
    curator = dp.Curator(budget=dp.PureDP(epsilon=9), ledger=dp.ledger.Memory(), **tables)
    part = curator.partition("visits", by="ward", budget=ONE)["A"]
    attempt = lambda: part.partition("orders", by="ward", budget=ONE)  # noqa: E731
    assert code_of(attempt) == "partition_of_another_table"
    assert part.spent.epsilon == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT COUNT(*) AS n FROM (SELECT DISTINCT secret FROM visits)",
        "SELECT ward, COUNT(*) AS n FROM (SELECT DISTINCT secret, ward FROM visits) GROUP BY ward",
    ],
)
def test_a_policy_sees_columns_behind_distinct(text: str) -> None:
    every = ["ward"]
    tables = {"visits": {"filter": every, "group": every, "aggregate": every}}
    policy = dp.Policy(max_spend={"epsilon": 2}, tables=tables)
    curator = held(dp.Row(), policy=policy)
    assert code_of(lambda: curator.sql(text, spend=ONE)) == "policy_column"


def test_spending_elsewhere_is_recorded_for_the_relation_it_was_priced_in() -> None:
    sampled = events.Laplace(epsilon=1).subsample(rate=0.01)
    curator = held(dp.Replace(dp.Row()))
    attempt = lambda: curator.record(sampled, reason="a report")  # noqa: E731
    assert code_of(attempt) == "relation_mismatch"
    held(dp.Row()).record(sampled, reason="a report")


def test_a_changed_way_to_people_is_another_version() -> None:
    def answer(customers: list[int], ledger: Any) -> object:
        orders = dp.table(
            {"order_id": np.arange(3), "customer": np.array(customers)},
            unit=dp.Person("customer", max_rows=1),
            columns={},
            snapshot=str(customers),
        )
        items = dp.table(
            {"order_id": np.arange(3), "price": np.arange(3)},
            unit=dp.Person("order_id", via="orders.customer", max_rows=1),
            columns={"price": dp.Number(0, 10)},
            snapshot="same",
        )
        curator = dp.Curator(orders=orders, items=items, budget=dp.PureDP(epsilon=9), ledger=ledger)
        return curator.sql("SELECT COUNT(*) AS n FROM items", spend=ONE).id

    ledger = dp.ledger.Memory()
    assert answer([1, 2, 3], ledger) == answer([1, 2, 3], ledger)
    assert answer([1, 2, 3], ledger) != answer([1, 1, 1], ledger)


def test_an_explanation_of_a_part_does_not_show_the_salt() -> None:
    ledger = dp.ledger.Memory()
    curator = held(dp.Person("num", max_rows=2, of="patients"), ledger)
    part = curator.partition("visits", by="ward", budget=ONE, k=1)["A"]
    query = "SELECT COUNT(*) AS n FROM visits"
    texts = " ".join(part.explain(query, spend=ONE).sql)
    kept = part.context.query(query).rows
    salts = _salts(kept)
    assert salts
    assert not any(str(salt) in texts for salt in salts)
