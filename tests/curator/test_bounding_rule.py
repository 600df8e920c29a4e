"""The rule by which a person's rows beyond the limits count: part of a query's identity."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import discreet as dp
from discreet.curator import earlier_keys
from discreet.errors import InvalidParameter, Mismatch
from discreet.relational.bounding.rule import BoundingRule
from discreet.relational.planning.rules import PlanningRules

SQL = "SELECT COUNT(*) AS n FROM t"
ROWS = pl.DataFrame({"pid": [1] * 9 + [2, 3], "x": range(11)})


def curator(unit: dp.Person | dp.Row) -> dp.Curator:
    return dp.Curator(
        t=dp.table(ROWS, unit=unit, columns={"x": dp.Number(0, 10)}),
        budget=dp.PureDP(epsilon=10),
        ledger=dp.ledger.Memory(),
    )


def test_a_release_names_the_rule_where_it_may_leave_rows_out() -> None:
    with curator(dp.Person("pid", max_rows=2)) as people, curator(dp.Row()) as rows:
        bounded = people.sql(SQL, spend=dp.PureDP(epsilon=1))
        assert bounded.statement["bounding"] == "spread/1"
        assert "bounding" not in rows.sql(SQL, spend=dp.PureDP(epsilon=1)).statement


def test_releases_under_different_rules_are_never_combined() -> None:
    with curator(dp.Person("pid", max_rows=2)) as people:
        first = people.sql(SQL, spend=dp.PureDP(epsilon=1))
        second = people.sql(SQL, spend=dp.PureDP(epsilon=2))
    assert second.combine(first)["n"].values
    before = {name: fact for name, fact in first.statement.items() if name != "bounding"}
    with pytest.raises(Mismatch) as caught:
        second.combine(replace(first, statement=before))
    assert caught.value.code == "answers_differ"


def test_counts_by_weight_are_shown_as_whole_numbers() -> None:
    with curator(dp.Person("pid", max_rows=2)) as people:
        release = people.sql(SQL, spend=dp.PureDP(epsilon=1))
    column = release["n"]
    assert column.whole
    assert column.lower is not None
    assert column.upper is not None
    for shown in (*column.values, *column.lower, *column.upper):
        assert isinstance(shown, int)
    again = dp.Release.from_json(release.to_json())
    assert (again["n"].values, again["n"].upper) == (column.values, column.upper)


@pytest.mark.parametrize(
    "sql", ["SELECT SUM(x) AS s FROM t", "SELECT SUM(x) AS s, COUNT(*) AS n FROM t"]
)
def test_what_was_bought_under_the_former_rule_is_free_where_todays_plan_is_refused(
    sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums by weight need more room: a limit of 2**40 rows leaves none beside large numbers."""
    ledger = dp.ledger.Memory()
    unit = dp.Person("pid", max_rows=2**40, max_rows_per_group=1)
    table = dp.table(ROWS, unit=unit, columns={"x": dp.Number(0, 2**33)}, snapshot="1")
    with dp.Curator(t=table, budget=dp.PureDP(epsilon=10), ledger=ledger) as people:
        ledger.identities = None  # as its first entry says where it was started in those days
        spend = dp.PureDP(epsilon=1)
        with pytest.raises(InvalidParameter) as refused:
            people.sql(sql, spend=spend)
        former = PlanningRules(BoundingRule.CONTENT_HASH)
        monkeypatch.setattr(earlier_keys, "CURRENT", former)
        bought = people.sql(sql, spend=spend)
        monkeypatch.undo()
        again = people.sql(sql, spend=spend)
        assert again.to_json() == bought.to_json()
        assert people.spent == dp.PureDP(epsilon=1, unit=unit)
        assert refused.value.code == "total_overflows"
        with pytest.raises(InvalidParameter):  # another analyst has bought nothing
            people.sql(sql, spend=spend, analyst="else")
