"""Where a pipeline and a SQL plan have the same step, one unit changes as many rows in both."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import calculus

VISITS = {"patient": np.array([1, 1, 2]), "ward": np.array(["A", "B", "A"])}
WARDS = dp.Category(["A", "B"])
RECORD = calculus.Record.of({"ward": calculus.Categories(("A", "B"))})
ROWS = calculus.Space(calculus.Rows(RECORD), calculus.metric_of(dp.Row()))


def planned(sql: str, unit: Any) -> int | None:
    """What the plan says that one unit changes in the rows that are counted."""
    tables: dict[str, Any] = {
        "visits": dp.table(VISITS, unit=unit, columns={"ward": WARDS}, snapshot="1"),
        "names": dp.public({"ward": ["A", "A", "B"], "name": ["x", "y", "z"]}),
    }
    curator = dp.Curator(budget=dp.PureDP(epsilon=1), ledger=dp.ledger.Memory(), **tables)
    return curator.explain(sql).steps[0].stability


def test_a_filter() -> None:
    pipeline = calculus.filter_rows(ROWS, lambda row: row["ward"] == "A")
    assert planned("SELECT COUNT(*) AS n FROM visits WHERE ward = 'A'", dp.Row()) == pipeline.map(1)


def test_several_rows_from_one() -> None:
    names = {"A": ["x", "y"], "B": ["z"]}
    record = calculus.Categories(("x", "y", "z"))
    pipeline = calculus.flat_map_rows(ROWS, lambda row: names[row["ward"]], record, at_most=2)
    sql = "SELECT COUNT(*) AS n FROM visits JOIN names ON visits.ward = names.ward"
    assert planned(sql, dp.Row()) == pipeline.map(1) == 2


@pytest.mark.parametrize("branches", [2, 3])
def test_several_branches_as_one(branches: int) -> None:
    """Every branch reads the same table, so that one row is in all of them."""
    copied = calculus.flat_map_rows(ROWS, lambda row: [row] * branches, RECORD, at_most=branches)
    union = " UNION ALL ".join(["SELECT ward FROM visits"] * branches)
    assert planned(f"SELECT COUNT(*) AS n FROM ({union})", dp.Row()) == copied.map(1) == branches


@pytest.mark.parametrize("most", [1, 2, 5])
def test_rows_of_a_person(most: int) -> None:
    person = dp.Person("patient", max_rows=most)
    record = calculus.Record.of(
        {"patient": calculus.Integers(), "ward": calculus.Categories(("A", "B"))}
    )
    people = calculus.Space(calculus.Rows(record), calculus.metric_of(person))
    pipeline = calculus.bound_contributions(people, person, salt=bytes(32))
    sql = "SELECT COUNT(*) AS n FROM (SELECT DISTINCT ward FROM visits)"
    assert planned(sql, person) == pipeline.map(1) == most
