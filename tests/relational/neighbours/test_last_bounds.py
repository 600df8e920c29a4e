"""A wrong fact costs accuracy, never privacy: clamps at the end imply the sensitivity alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.core.unit import PrivacyUnit, Replace
from discreet.relational.aggregates.measures import Total
from discreet.relational.execute import row_contributions
from discreet.relational.functions.intervals import domain_within
from discreet.relational.functions.powers import POWER
from discreet.relational.planning.allocation import Noised
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import LARGEST_REAL, DataType
from discreet.relational.types.expression import Call, Column
from tests.relational.neighbours.lies import OVERFLOW, lying, questions, setting
from tests.relational.neighbours.worlds import Stand, breaches, one

UNITS: list[PrivacyUnit] = [dp.Row(), dp.Person("pid", max_rows=2), Replace(dp.Row())]
LIES = ["narrow", "listed", "far away"]


@pytest.mark.parametrize("unit", UNITS, ids=["row", "person", "replace"])
def test_a_power_that_overflows_below_reaches_no_sum(unit: PrivacyUnit) -> None:
    assert breaches(setting(unit), OVERFLOW) == []


@pytest.mark.parametrize("unit", UNITS, ids=["row", "person", "replace"])
@pytest.mark.parametrize("lie", LIES)
def test_a_function_that_lies_moves_no_answer_farther_than_declared(
    unit: PrivacyUnit, lie: str
) -> None:
    with lying(lie):
        assert breaches(setting(unit), *questions(unit), refusals=[]) == []


@pytest.mark.parametrize("unit", UNITS[:2], ids=["row", "person"])
def test_the_lie_is_caught_where_the_last_clamp_is_missing(
    unit: PrivacyUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_contributions, "_within", lambda domain, total: True)
    monkeypatch.setattr(
        row_contributions.RowContributions,
        "_find_field_of_column",
        lambda run, expression: (None, Known()),
    )
    monkeypatch.setattr(
        "discreet.relational.compile.dialect.Dialect.restrict_to_domain",
        lambda dialect, text, domain: text,
    )
    asked = "SELECT SUM(v) AS a FROM (SELECT abs(x) AS v FROM t) AS q"
    with lying("narrow"):
        assert breaches(setting(unit), asked) != []


@pytest.mark.parametrize("unit", UNITS[:2], ids=["row", "person"])
def test_the_last_clamp_is_enough_where_columns_are_believed(
    unit: PrivacyUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "discreet.relational.compile.dialect.Dialect.restrict_to_domain",
        lambda dialect, text, domain: text,
    )
    asked = (
        "SELECT SUM(v) AS a, AVG(v) AS b, MEDIAN(v) AS c FROM (SELECT abs(x) AS v FROM t "
        "UNION ALL SELECT 1 AS v FROM t WHERE x = 1) AS q"
    )
    with lying("narrow"):
        assert breaches(setting(unit), asked) == []


class Known:
    """A field that claims to be clean."""

    domain = ColumnDomain(DataType.INTEGER, 0, 1)
    declaration = None
    stored = "BIGINT"
    name = "x"


@given(
    st.floats(-1e200, 1e200),
    st.floats(0, 1e200),
    st.integers(-9, 9),
    st.floats(0, 1),
)
def test_powers_lie_within_their_interval(
    low: float, width: float, exponent: int, share: float
) -> None:
    base = ColumnDomain(DataType.DOUBLE, low, low + width)
    known = Call(
        POWER, (Column("x", base), Column("n", ColumnDomain(DataType.DOUBLE, exponent, exponent)))
    )
    inside = min(max(low + share * width, low), low + width)
    value = POWER.apply([inside, float(exponent)], DataType.DOUBLE)
    if value is not None:
        assert isinstance(value, float)
        assert known.domain.low is None or known.domain.low <= value
        assert known.domain.high is None or value <= known.domain.high


def test_an_odd_power_overflows_to_the_side_of_its_base() -> None:
    base = Column("x", ColumnDomain(DataType.DOUBLE, -1e120, 1e120))
    cubed = Call(POWER, (base, Column("n", ColumnDomain(DataType.DOUBLE, 3.0, 3.0)))).domain
    assert (cubed.low, cubed.high) == (None, None)


@pytest.mark.parametrize(
    "ends",
    [
        (math.inf, math.inf),
        (-math.inf, -math.inf),
        (math.nan, 1.0),
        (2.0, 1.0),
        (1.0, math.nan),
    ],
)
def test_ends_that_are_no_interval_are_no_bounds(ends: tuple[float, float]) -> None:
    domain = domain_within(DataType.DOUBLE, ends)
    assert (domain.low, domain.high) == (None, None)


@pytest.mark.parametrize(
    ("low", "high"), [(2.0, 1.0), (-math.inf, 0.0), (0.0, math.inf), (math.nan, 1.0)]
)
def test_a_total_has_two_finite_bounds_in_order(low: float, high: float) -> None:
    with pytest.raises(InvalidParameter, match="bounds_crossed"):
        Total(Column("x", ColumnDomain(DataType.DOUBLE, -LARGEST_REAL, LARGEST_REAL)), low, high)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_more_rows_than_declared_are_cut_to_what_was_declared(rows: int) -> None:
    """A world with too many rows answers like any other, within the public range."""
    stand = Stand(setting(dp.Row()))
    try:
        planned = stand.planned("SELECT SUM(x) AS s FROM t")
    finally:
        stand.close()
    declared = PlannedQuery(planned.query, dp.PureDP(epsilon=100), rows)
    (item,) = declared.allocation.noised
    most = rows * 1_000_000
    for exact in (10 * most, -10 * most, 2**70, -(2**70)):
        values = np.array([exact], dtype=object if abs(exact) >= 2**62 else np.int64)
        noisy = declared.noisy(values, item)
        # Noise of scale 10 000 exceeds 60 scales with a chance of e**-60.
        assert abs(abs(int(noisy[0])) - most) < 600_000


def test_the_range_of_large_totals_is_kept_too() -> None:
    stand = Stand(setting(dp.Row()))
    try:
        planned = stand.planned("SELECT SUM(x * 1000000) AS s FROM t")
    finally:
        stand.close()
    declared = PlannedQuery(planned.query, dp.PureDP(epsilon=1), 10**12)
    item: Any = declared.allocation.noised[0]
    assert isinstance(item, Noised)
    found = declared.noisy(np.array([2**120], dtype=object), item)
    assert abs(int(found[0]) - 10**24) < 10**15  # e**-1000


@pytest.mark.parametrize(
    "asked",
    [
        "SELECT MEDIAN(abs(y)) AS a, MAX(abs(y) + 0.5) AS b FROM t",
        "SELECT SUM(CAST(abs(y) AS BIGINT)) AS a, SUM(floor(abs(y))) AS b FROM t",
        "SELECT floor(abs(y)) AS k, COUNT(*) AS n FROM t GROUP BY k",
        "SELECT COUNT(*) AS n FROM t WHERE CAST(abs(y) AS BIGINT) = 1",
    ],
)
def test_no_conversion_fails_by_a_value_that_nobody_foretold(asked: str) -> None:
    rows = pl.DataFrame({"y": [1e100, -1e30, 0.5]})
    stand = Stand(one(rows, dp.Row(), {"y": dp.Number(-1e100, 1e100)}))
    try:
        with lying("narrow"):
            stand.exact(stand.planned(asked))
    finally:
        stand.close()
