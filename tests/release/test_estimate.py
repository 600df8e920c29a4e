"""A released number adds up like the truth plus noise that it is."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameter
from discreet.mechanisms.distributions.distribution import (
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedLaplace,
)
from discreet.release import Estimate
from tests.release.examples import COUNTS, NORMAL, SUMS, draws, estimate, misses

NUMBERS = st.integers(-(10**6), 10**6)


def test_it_reads_as_a_number_with_its_error() -> None:
    assert repr(estimate(123)) == "123 ± 6 (95 %)"
    assert (
        repr(estimate(41.25, distribution=RoundedLaplace(0.1, 2.0**-20))) == "41.25 ± 0.30 (95 %)"
    )
    assert repr(Estimate(3, estimate(3).terms, (0, math.inf))) == "3, 0 to 9 (95 %)"


def test_what_is_subtracted_from_itself_has_no_noise() -> None:
    x, y = estimate(123, 0), estimate(77, 1)
    assert (x - x).terms == ()
    assert (x - x).half_width() == 0
    assert (x + y) - y == x
    assert ((x + y) - x).interval() == y.interval()


def test_shared_draws_meet_once() -> None:
    x = estimate(10)
    assert (x + x).half_width() == 2 * x.half_width()
    assert (x + estimate(10, 1)).half_width() < 2 * x.half_width()
    assert (x + x).std == pytest.approx(2 * COUNTS.std)
    assert (x + estimate(10, 1)).std == pytest.approx(math.sqrt(2) * COUNTS.std)


def test_draws_of_different_releases_are_different() -> None:
    again = estimate(10, release="r2")
    assert (estimate(10) - again).std == pytest.approx(math.sqrt(2) * COUNTS.std)


@given(NUMBERS, NUMBERS, NUMBERS, st.integers(-9, 9))
def test_whole_numbers_stay_whole_and_exact(a: int, b: int, c: int, k: int) -> None:
    total = estimate(a, 0) + k * estimate(b, 1) - estimate(c, 2) + 7
    assert total.value == a + k * b - c + 7
    assert all(isinstance(end, int) for end in (total.value, *total.interval()))


def test_huge_numbers_lose_nothing() -> None:
    huge = 2**100 + 1
    assert estimate(huge).interval() == (huge - 6, huge + 6)
    assert (estimate(huge) - huge).value == 0


def test_sums_of_lists() -> None:
    total = sum([estimate(value, value) for value in range(10)])
    assert isinstance(total, Estimate)
    assert (total.value, len(total.terms)) == (45, 10)


def test_known_numbers_of_any_kind() -> None:
    x = estimate(12)
    assert (x / 4).value == 3
    assert (x * Fraction(1, 4)).value == 3
    assert (np.float64(0.5) * x).value == 6
    assert (x + np.int64(1)).value == 13
    assert (20 - x).value == 8
    assert (-x).half_width() == x.half_width()
    assert (x * 0).interval() == (0, 0)
    for wrong in ("2", True, math.nan):
        with pytest.raises(InvalidParameter):
            _ = x * wrong


def test_a_public_range_cuts_the_interval_and_follows_the_arithmetic() -> None:
    few = Estimate(3, estimate(3).terms, (0, math.inf))
    assert few.value == 3
    assert few.interval() == (0, 9)
    assert (few * -2).within == (-math.inf, 0)
    assert (few + few - few).within == (-math.inf, math.inf)
    assert (10 + few).interval() == (10, 19)
    assert Estimate(-50, estimate(3).terms, (0, math.inf)).interval() == (0, 6)


@pytest.mark.parametrize(
    "distribution", [COUNTS, SUMS, NORMAL, DiscreteLaplaceDistribution(0.4, 1)]
)
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_intervals_hold_as_often_as_they_say(distribution: Distribution, confidence: float) -> None:
    rng = np.random.default_rng(11)
    a, b, c = (draws(distribution, 100_000, rng) for _ in range(3))
    one, two, three = (estimate(0.0, cell, distribution) for cell in range(3))
    combinations = {
        "difference": (one - two, a - b),
        "average": ((one + two + three) / 3, (a + b + c) / 3),
        "overlapping": ((one + two) - 2 * (two + three), a - b - 2 * c),
    }
    for name, (number, noise) in combinations.items():
        right = np.abs(noise) <= number.half_width(confidence=confidence)
        assert misses(right, confidence) < 4.5, name
        if distribution.step < 0.01:
            assert misses(right, confidence) > -4.5, name


def test_a_confidence_is_a_probability() -> None:
    for wrong in (0, 1, 95):
        with pytest.raises(InvalidParameter, match="not_a_probability"):
            estimate(1).interval(confidence=wrong)
