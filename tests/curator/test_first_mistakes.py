"""What people write the first time is refused in words, before anything is paid for."""

from __future__ import annotations

from functools import partial
from typing import Any

import polars as pl
import pytest

import discreet as dp
from discreet.curator.interactive.conversation import _MOST_AT_ONCE
from discreet.errors import InvalidParameter
from discreet.queries import MatrixMechanism, Universe, Workload
from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.workload.linear_query import query_of
from tests.curator.people import EASY, conversation, curator, universe
from tests.curator.tables import private

COLUMNS: dict[str, Any] = {
    "city": dp.Category(["a", "b"]),
    "age": dp.Number(0, 99),
    "income": dp.Number(0, 200_000),
    "hours/week": dp.Category([20, 40]),
}


@pytest.fixture(scope="module")
def clients() -> dp.Curator:
    frame = pl.DataFrame({"city": ["a"], "age": [3], "income": [7.0], "hours/week": [40]})
    table = dp.table(frame, unit=dp.Row(), columns=COLUMNS, snapshot="one")
    return dp.Curator(clients=table, budget=dp.PureDP(epsilon=3), ledger=dp.ledger.Memory())


def refused(call: Any, code: str) -> InvalidParameter:
    with pytest.raises(InvalidParameter) as refusal:
        call()
    assert refusal.value.code == code
    return refusal.value


def test_names_of_a_universe_are_passed_one_by_one(clients: dp.Curator) -> None:
    names: Any = ["city", "age"]
    error = refused(lambda: clients.universe("clients", names), "attribute_names")
    assert "*names" in error.remedy
    number: Any = 3
    refused(lambda: clients.universe("clients", decade=number), "attribute_names")


def test_an_expression_needs_a_name(clients: dp.Curator) -> None:
    error = refused(lambda: clients.universe("clients", "FLOOR(age/10)"), "attribute_names")
    assert 'name="FLOOR(age/10)"' in error.remedy


def test_a_column_may_look_like_an_expression(clients: dp.Curator) -> None:
    assert clients.universe("clients", "hours/week").names == ("hours/week",)


def test_too_many_keys_are_counted(clients: dp.Curator) -> None:
    error = refused(lambda: clients.universe("clients", x="FLOOR(income)"), "too_many_keys")
    assert error.received == 200_001
    assert "coarser bins" in error.remedy
    grouped = "SELECT FLOOR(income) AS x, COUNT(*) AS n FROM clients GROUP BY FLOOR(income)"
    asked = partial(clients.sql, grouped, spend=dp.PureDP(epsilon=1))
    assert "delta" in refused(asked, "keys_need_delta").expectation  # so many are discovered


def test_real_numbers_have_no_list_at_all(clients: dp.Curator) -> None:
    refused(lambda: clients.universe("clients", x="income"), "keys_not_finite")


def test_a_plain_number_is_no_spend() -> None:
    source, spend = curator(), 1.5
    about = universe(source)
    given: Any = {"spend": spend}
    rounds: Any = {"protects": OneQuery(), "promise": dp.ApproxDP(epsilon=1, delta=1e-6)}
    for call in (
        lambda: source.synopsis(Workload.marginals(about, 1), mechanism=MatrixMechanism, **given),
        lambda: source.converse(about, mechanism=EASY, questions=9, **given),
        lambda: source.round(about, analysts=["ann"], queries_each=2, **given, **rounds),
        lambda: source.sql("SELECT COUNT(*) AS n FROM people", **given),
    ):
        assert "dp.PureDP(epsilon=1.5)" in refused(call, "not_a_spend").remedy
    assert len(source.history()) == 0


def test_a_workload_is_asked_query_by_query() -> None:
    talk = conversation(curator())
    workload = Workload.marginals(talk.universe, 1)
    replies = talk.ask_all(workload)
    assert len(replies) == workload.queries == talk.questions_asked
    assert replies[0].share == pytest.approx(talk.ask(query_of(workload, 0)).share, abs=0.2)


def test_workloads_that_do_not_fit_a_conversation_are_refused() -> None:
    talk = conversation(curator())
    other = Workload.marginals(Universe.of(x=range(3)), 1)
    refused(lambda: talk.ask_all(other), "workloads_differ")
    one = Workload.marginal(talk.universe, talk.universe.names)
    many = Workload(talk.universe, one.products * (_MOST_AT_ONCE // one.queries + 1))
    refused(lambda: talk.ask_all(many), "too_many_queries")
    wrong: Any = 3
    refused(lambda: talk.ask_all(wrong), "query_misfit")
    assert talk.questions_asked == 0


def test_a_tiny_epsilon_is_refused_and_does_not_hang() -> None:
    tiny = dp.ApproxDP(epsilon=1e-13, delta=1e-9)
    with pytest.raises(InvalidParameter, match="parameter_out_of_range"):
        private().sql("SELECT COUNT(*) AS n FROM visits", spend=tiny)
