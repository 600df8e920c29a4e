"""Sums of products for learners are equal on every engine, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.core.source import Moments
from discreet.core.unit import PrivacyUnit
from discreet.relational.bounding.hashing import PORTABLE
from tests.relational.conformance.engines import DUCKDB, Maker, others
from tests.relational.conformance.rows import COLUMNS, POOLS, SCHEMA, drawn, frame
from tests.relational.conformance.spark_with_rows import missing
from tests.relational.conformance.test_spark import QUICK
from tests.relational.execute.test_table_moments import moments_in
from tests.relational.neighbours.worlds import Stand, one

FEATURES = ("x", "i", "y", "r", "price", "big")
BOUNDS = [-3.0, -10.0, -1.5, 0.0, -5.0, -(2.0**61)], [5.0, 10.0, 2.25, 10.0, 100.5, 2.0**61]
TEXT = f"SELECT {', '.join(FEATURES)}, w FROM t"
TABLE = frame(SCHEMA, drawn(POOLS, 200, 7))
ROWS, PEOPLE = dp.Row(), dp.Person("pid", max_rows=2)


def sums(maker: Maker, unit: PrivacyUnit, label: str | None) -> Moments:
    home = maker.home(PORTABLE)
    stand = Stand(one(TABLE, unit, COLUMNS), home)
    try:
        source = moments_in(stand, TEXT, FEATURES, bounds=BOUNDS, needed="x", label=label)
        return source.moments()
    finally:
        stand.close()
        home.close()


def equal(maker: Maker, unit: PrivacyUnit, label: str | None) -> None:
    here, there = (sums(each, unit, label) for each in (DUCKDB, maker))
    np.testing.assert_array_equal(here.products, there.products)
    np.testing.assert_array_equal(here.there, there.there)
    assert here.products[:, 0, 0].sum() > 0


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize("unit", [ROWS, PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("label", [None, "w"])
def test_sums_are_equal(maker: Maker, unit: PrivacyUnit, label: str | None) -> None:
    equal(maker, unit, label)


@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize(
    ("unit", "label"),
    [pytest.param(ROWS, None, marks=pytest.mark.slow), (PEOPLE, "w")],
    ids=["rows", "people"],
)
def test_sums_are_equal_on_spark(unit: PrivacyUnit, label: str | None) -> None:
    equal(QUICK, unit, label)
