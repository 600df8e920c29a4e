"""Searches over a monotone condition end where it holds."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.search import (
    crossing,
    doubled,
    greatest,
    greatest_whole,
    least,
    least_whole,
    most,
)

PLACES = st.floats(min_value=1e-6, max_value=1e6)
WHOLE = st.integers(min_value=1, max_value=10**9)


@given(PLACES)
def test_least_is_a_point_that_passes_and_near_the_first(place: float) -> None:
    found = least(lambda x: x >= place, 0.0, 2e6)
    assert place <= found <= place * (1 + 2.0**-39)
    assert least(lambda x: x >= place, 0.0, 2e6, close=0.0) == place


@given(PLACES)
def test_greatest_is_a_point_that_passes_and_near_the_last(place: float) -> None:
    found = greatest(lambda x: x <= place, 0.0, 2e6)
    assert place * (1 - 2.0**-20) - 1e-5 <= found <= place
    assert greatest(lambda x: x <= place, 0.0, 2e6, close=0.0) == place


@given(PLACES)
def test_crossing_is_a_point_at_or_below_the_target(place: float) -> None:
    found = crossing(lambda x: math.exp(-x / place), math.exp(-1), 2e6)
    assert math.exp(-found / place) <= math.exp(-1)
    assert found <= place + 2e6 * 2.0**-39


@given(WHOLE)
def test_whole_numbers_are_found_exactly(place: int) -> None:
    high = doubled(lambda n: n >= place, 1)
    assert high // 2 < place <= high
    assert least_whole(lambda n: n >= place, high // 2, high) == place
    assert greatest_whole(lambda n: n <= place, 0, 2 * place + 1) == place
    assert most(lambda n: n <= place) == place


def test_a_doubling_that_never_passes_ends() -> None:
    tried: list[float] = []

    def never(value: float) -> bool:
        tried.append(value)
        return False

    assert doubled(never, 1.0, at_most=8.0) is None
    assert tried == [1.0, 2.0, 4.0, 8.0]


@pytest.mark.parametrize(("condition", "expected"), [(lambda n: False, -1), (lambda n: n < 1, 0)])
def test_the_most_of_few(condition: object, expected: int) -> None:
    assert most(condition) == expected  # type: ignore[arg-type]
