"""Rows that are handed over to learners are the same on every engine, to the last bit."""

from __future__ import annotations

from collections import Counter

import pytest

from discreet.core.unit import PrivacyUnit
from discreet.relational.bounding.hashing import PORTABLE
from discreet.relational.engines.postgres import engine as postgres
from tests.relational.conformance.engines import DUCKDB, POSTGRES, Maker, others
from tests.relational.conformance.rows import COLUMNS
from tests.relational.conformance.spark_with_rows import missing
from tests.relational.conformance.test_spark import QUICK
from tests.relational.conformance.test_table_moments import (
    BOUNDS,
    FEATURES,
    PEOPLE,
    ROWS,
    TABLE,
    TEXT,
)
from tests.relational.execute.test_table_rows import listed, rows_in
from tests.relational.neighbours.worlds import Stand, one

Rows = Counter[tuple[float | None, ...]]


def handed(maker: Maker, unit: PrivacyUnit, label: str | None) -> Rows:
    home = maker.home(PORTABLE)
    stand = Stand(one(TABLE, unit, COLUMNS), home)
    asked = {"needed": "x"} if label is None else {"label": label}
    try:
        return listed(rows_in(stand, TEXT, FEATURES, bounds=BOUNDS, **asked).bounded_rows())
    finally:
        stand.close()
        home.close()


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize("unit", [ROWS, PEOPLE], ids=["rows", "people"])
@pytest.mark.parametrize("label", [None, "w"])
def test_rows_are_equal(maker: Maker, unit: PrivacyUnit, label: str | None) -> None:
    found = handed(maker, unit, label)
    assert found == handed(DUCKDB, unit, label)
    assert found.total() > 10


def test_postgres_hands_rows_over_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = handed(POSTGRES, PEOPLE, "w")
    monkeypatch.setattr(postgres, "_BATCH", 500)
    assert handed(POSTGRES, PEOPLE, "w") == whole


@pytest.mark.xdist_group("spark")
@pytest.mark.skipif(missing() is not None, reason=str(missing()))
@pytest.mark.parametrize(
    ("unit", "label"),
    [pytest.param(ROWS, None, marks=pytest.mark.slow), (PEOPLE, "w")],
    ids=["rows", "people"],
)
def test_rows_are_equal_on_spark(unit: PrivacyUnit, label: str | None) -> None:
    assert handed(QUICK, unit, label) == handed(DUCKDB, unit, label)
