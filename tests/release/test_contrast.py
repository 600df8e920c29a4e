"""Differences of means: near the truth by the delta method, or by a box that always holds."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.mechanisms.distributions.distribution import (
    DiscreteLaplaceDistribution,
    Distribution,
    RoundedGaussian,
    RoundedLaplace,
)
from discreet.release import Contrast, Estimate, Ratio
from discreet.release.estimate import FAR
from tests.release.examples import COUNTS, POSITIVE, SUMS, draws, estimate, misses

FINE = 2.0**-30


def mean(s: float, n: float, cell: int, law_s: Distribution, law_n: Distribution = COUNTS) -> Ratio:
    bottom = Estimate(n, estimate(n, cell, law_n).terms, POSITIVE)
    return Ratio(estimate(s, cell, law_s, "s"), bottom)


def covered(size: int, law_s: Distribution, law_n: Distribution, trials: int) -> float:
    """Standard errors by which simulated differences of two means fall short."""
    rng = np.random.default_rng(trials + size)
    noise = [
        draws(distribution, trials, rng).tolist() for distribution in (law_s, law_n, law_s, law_n)
    ]
    right = []
    for a, b, c, d in zip(*noise, strict=True):
        one = mean(2.0 * size + a, size + b, 0, law_s, law_n)
        two = mean(3.0 * size + c, 2.0 * size + d, 1, law_s, law_n)
        low, high = (one - two).interval()
        right.append(low <= 0.5 <= high)
    return misses(np.array(right))


LAWS = [
    (RoundedLaplace(5, FINE), RoundedLaplace(3, FINE)),
    (RoundedGaussian(5, FINE), RoundedGaussian(3, FINE)),
    (RoundedLaplace(50, FINE), DiscreteLaplaceDistribution(1, 1)),
]


@pytest.mark.parametrize(("law_s", "law_n"), LAWS)
@pytest.mark.parametrize("size", [15, 150])
def test_differences_of_means_are_covered(
    size: int, law_s: Distribution, law_n: Distribution
) -> None:
    assert covered(size, law_s, law_n, 150) < 4


@pytest.mark.slow
@pytest.mark.parametrize(("law_s", "law_n"), LAWS)
@pytest.mark.parametrize("size", [15, 60, 150])
def test_differences_of_means_are_covered_in_many_trials(
    size: int, law_s: Distribution, law_n: Distribution
) -> None:
    assert covered(size, law_s, law_n, 2000) < 4


def test_far_from_zero_a_difference_is_as_short_as_its_noise() -> None:
    a, b = mean(50_000.0, 1000, 0, SUMS), mean(30_000.0, 1000, 1, SUMS)
    difference = a - b
    assert isinstance(difference, Contrast)
    assert difference.value == pytest.approx(20)
    low, high = difference.interval()
    widths = [(end[1] - end[0]) / 2 for end in (a.interval(), b.interval())]
    assert (low + high) / 2 == pytest.approx(20)
    assert max(widths) < (high - low) / 2 < sum(widths)


def test_near_zero_it_is_a_box() -> None:
    a, b = mean(250.0, 20, 0, SUMS), mean(30_000.0, 1000, 1, SUMS)
    assert COUNTS.half_width(0.95) * FAR > 20
    low, high = (a - b).interval()
    ends = a.interval(confidence=0.975), b.interval(confidence=0.975)
    assert (low, high) == pytest.approx((ends[0][0] - ends[1][1], ends[0][1] - ends[1][0]))


def test_without_a_denominator_nothing_is_said() -> None:
    assert (mean(500.0, 2, 0, SUMS) - mean(30_000.0, 1000, 1, SUMS)).interval() == (
        -math.inf,
        math.inf,
    )
    bounded = [
        Ratio(part.numerator, part.denominator, 0.0, (0.0, 10.0))
        for part in (mean(50.0, 2, 0, SUMS), mean(3000.0, 1000, 1, SUMS))
    ]
    low, high = (bounded[0] - bounded[1]).interval()
    assert -10 <= low < 0 < high <= 10


def test_with_estimates_and_numbers() -> None:
    ratio, count = mean(50_000.0, 1000, 0, SUMS), estimate(12, 7)
    for mixed in (ratio - count, -(count - ratio), (ratio + 1) - count - 1, ratio + -1 * count):
        assert isinstance(mixed, Contrast)
        assert mixed.value == pytest.approx(38)
        assert mixed.interval() == pytest.approx((ratio - count).interval())
    doubled = 2 * (ratio - count) / 4
    assert isinstance(doubled, Contrast)
    assert doubled.value == pytest.approx(19)
    total = sum([ratio - count, ratio, count])
    assert isinstance(total, Contrast)
    assert total.value == pytest.approx(100)


def test_what_cancels_has_no_noise() -> None:
    a, b = mean(50_000.0, 1000, 0, SUMS), mean(30_000.0, 1000, 1, SUMS)
    back = (a - b) + b
    assert isinstance(back, Contrast)
    assert back.interval() == pytest.approx(a.interval(), rel=1e-3)
    assert (back - a).interval() == pytest.approx((0, 0))


def test_it_reads_as_a_number_with_its_ends() -> None:
    difference = mean(50_000.0, 1000, 0, SUMS) - mean(30_000.0, 1000, 1, SUMS)
    assert repr(difference) == "20.00, 19.47 to 20.53 (95 %)"
