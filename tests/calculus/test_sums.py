"""Sums are exact whole numbers of grid steps, fast or slow, whatever the data contains."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import calculus as t
from discreet.audit.testers import awkward_values
from discreet.calculus.steps import Grid
from discreet.core.domain import Integers, Nullable, Reals
from tests.calculus.stability import under_add_remove, under_change_one

BOUNDS = st.tuples(st.floats(-100, 100), st.floats(-100, 100)).map(sorted)
GRIDS = st.integers(-30, 4).map(lambda exponent: 2.0**exponent)


def exact_steps(value: Any, lower: float, upper: float, grid: float) -> int:
    """The contract, word for word, in rationals: clamp, then round to the nearest step."""
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value != value:  # noqa: PLR0124
        return 0
    clamped = Fraction(lower) if value < lower else Fraction(min(value, upper))
    return round(clamped / Fraction(grid))


@given(st.lists(awkward_values(), max_size=6), BOUNDS, GRIDS)
def test_a_sum_is_what_the_contract_says(rows: list[Any], bounds: list[float], grid: float) -> None:
    lower, upper = bounds
    space = under_add_remove(Nullable(Reals()))
    total = t.sum_rows(space, lower=lower, upper=upper, grid=grid)
    assert total(rows) == sum(exact_steps(row, lower, upper, grid) for row in rows)
    assert all(abs(total([row])) <= total.map(1) for row in rows)


@given(st.lists(st.floats(), max_size=8), BOUNDS, GRIDS, st.sampled_from([np.float64, np.float32]))
def test_arrays_give_the_same_sum_as_lists(
    rows: list[float], bounds: list[float], grid: float, kind: Any
) -> None:
    with np.errstate(all="ignore"):
        array: Any = np.array(rows, dtype=kind)
    for space in (under_add_remove(Nullable(Reals())), under_change_one(Reals())):
        total = t.sum_rows(space, lower=bounds[0], upper=bounds[1], grid=grid)
        assert total(array) == total(array.tolist())


@pytest.mark.parametrize(
    "rows",
    [
        np.array([1, 2, 2**62], dtype=np.int64),
        np.array([2**64 - 1], dtype=np.uint64),
        np.array([0.5, np.nan, 3], dtype=object),
        np.array([1.5, 2.5], dtype=np.longdouble),
        np.ma.masked_array([1.0, 2.0], mask=[True, False]),
        np.array([True, False]),
    ],
)
def test_other_arrays_are_summed_row_by_row(rows: Any) -> None:
    total = t.sum_rows(under_add_remove(Reals()), lower=0, upper=100, grid=1)
    assert total(rows) == sum(total([row]) for row in rows)


def test_huge_values_and_bounds_stay_exact() -> None:
    total = t.sum_rows(
        under_add_remove(Integers()), lower=-(10**400), upper=10**400, grid=Fraction(1, 2**40)
    )
    assert total([10**400, 10**399, -(10**500)]) == 10**399 * 2**40
    assert total([1e308, math.inf]) == int(1e308) * 2**40 + 10**400 * 2**40
    array: Any = np.array([1e308, math.inf])
    assert total(array) == int(1e308) * 2**40 + 10**400 * 2**40


@pytest.mark.parametrize(
    "value", [True, "3", b"3", Decimal(3), 3 + 0j, None, math.nan, [3], object()]
)
def test_what_is_not_a_number_counts_as_nothing(value: object) -> None:
    space = under_add_remove(Nullable(Reals()))
    assert t.sum_rows(space, lower=1, upper=5, grid=1)([value]) == 0
    assert t.clamp_rows(space, lower=1, upper=5)([value]) == (None,)


@given(awkward_values(), BOUNDS, GRIDS)
def test_rounding_and_clamping_commute(value: Any, bounds: list[float], grid: float) -> None:
    steps = Grid.of(lower=bounds[0], upper=bounds[1], step=grid)
    clamped = t.clamp_rows(under_add_remove(Reals()), lower=bounds[0], upper=bounds[1])([value])[0]
    assert steps.steps(value, 0) == steps.steps(clamped, 0)
    assert steps.floor <= steps.low <= steps.high <= steps.ceiling


def test_integers_stay_integers() -> None:
    clamped = t.clamp_rows(under_add_remove(Integers()), lower=0, upper=5)
    assert clamped((-1, 3, 9, 2.0, 2.5, math.inf)) == (0, 3, 5, None, None, 5)
    assert clamped.output.domain.contains(clamped((-1, 3, 9, 2.5)))
