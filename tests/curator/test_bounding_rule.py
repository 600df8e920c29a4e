"""The rule by which a person's rows beyond the limits count: part of a query's identity."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest

import discreet as dp
from discreet.errors import Mismatch

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
