"""Counts for synopses are equal on every engine, and people keep the same rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.core.unit import PrivacyUnit
from discreet.relational.bounding.hashing import PORTABLE
from discreet.relational.execute import table_counts as counting
from discreet.relational.plan.keyed_universe import column_questions
from tests.relational.conformance.engines import DUCKDB, Maker, others
from tests.relational.conformance.rows import POOLS, SCHEMA, drawn, frame
from tests.relational.conformance.spark_with_rows import missing
from tests.relational.conformance.test_spark import QUICK
from tests.relational.execute.test_table_counts import counts_of
from tests.relational.neighbours.worlds import Stand, one

COLUMNS = {
    "w": dp.Category(["A", "B", "é", None]),
    "f": dp.Category([False, True]),
    "x": dp.Number(-3, 5),
}
QUESTIONS = column_questions(
    "t", ["w", "f"], [("x", "x"), ("kind", "CASE WHEN x > 2 THEN 'big' WHEN f THEN lower(w) END")]
)
ROWS, PEOPLE = dp.Row(), dp.Person("pid", max_rows=2)
WAYS = pytest.mark.parametrize("largest", [1 << 24, 0], ids=["at once", "by marginal"])


def tables(maker: Maker, unit: PrivacyUnit) -> Mapping[str, NDArray[Any]]:
    """Some marginals, and all cells."""
    home = maker.home(PORTABLE)
    stand = Stand(one(frame(SCHEMA, drawn(POOLS, 200, 7)), unit, COLUMNS), home)
    try:
        source = counts_of(stand, QUESTIONS)
        names = source.universe.names
        return {
            "/".join(chosen): source.counts(chosen)
            for chosen in (names, ("w",), ("kind", "f"), ("x", "w"))
        }
    finally:
        stand.close()
        home.close()


def equal(maker: Maker, unit: PrivacyUnit) -> None:
    here, there = tables(DUCKDB, unit), tables(maker, unit)
    assert here["w"].sum() > 15
    for chosen, table in here.items():
        np.testing.assert_array_equal(table, there[chosen], err_msg=chosen)


@WAYS
@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize("unit", [ROWS, PEOPLE], ids=["rows", "people"])
def test_counts_are_equal(
    maker: Maker, unit: PrivacyUnit, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "LARGEST", largest)
    equal(maker, unit)


@WAYS
@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize(
    "unit", [pytest.param(ROWS, marks=pytest.mark.slow), PEOPLE], ids=["rows", "people"]
)
def test_counts_are_equal_on_spark(
    unit: PrivacyUnit, largest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting, "LARGEST", largest)
    equal(QUICK, unit)
