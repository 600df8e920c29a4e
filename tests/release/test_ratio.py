"""Ratios hold the truth as often as they say, at every sample size and whatever they share."""

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
from discreet.release import Contrast, Estimate, LinearFormula, NoisyMeasure, Ratio, ReleasedColumn
from tests.release.examples import COUNTS, POSITIVE, SUMS, draws, estimate, misses

FINE = 2.0**-30
TRIALS = 20_000


def mean(s: float, n: int, cell: int = 0, distribution: Distribution = SUMS) -> Ratio:
    ratio = estimate(s, cell, distribution, "s") / Estimate(n, estimate(n, cell).terms, POSITIVE)
    assert isinstance(ratio, Ratio)
    return ratio


def test_a_ratio_is_fiellers() -> None:
    """r is inside just if s - r n is within its own noise."""
    top, bottom = estimate(2000.0, 0, RoundedLaplace(5, FINE)), estimate(1000.0, 1, SUMS)
    ratio = Ratio(top, bottom)
    low, high = ratio.interval()
    assert low < ratio.value == 2 < high
    for end in (low, high):
        refuted = top - bottom * end
        assert abs(refuted.value) == pytest.approx(refuted.half_width(), rel=1e-3)
        assert abs(refuted.value) >= refuted.half_width() * (1 - 1e-6)


def test_the_normal_case_has_a_closed_form() -> None:
    law_s, law_n, z = RoundedGaussian(5, FINE), RoundedGaussian(3, FINE), 1.959963985
    ratio = Ratio(estimate(80.0, 0, law_s), estimate(40.0, 1, law_n))
    a, b, c = 40**2 - (z * 3) ** 2, -2 * 80 * 40, 80**2 - (z * 5) ** 2
    root = math.sqrt(b * b - 4 * a * c)
    assert ratio.interval() == pytest.approx(((-b - root) / 2 / a, (-b + root) / 2 / a), rel=1e-3)


@pytest.mark.parametrize("size", [6, 10, 100, 1000])
@pytest.mark.parametrize(
    ("law_s", "law_n"),
    [
        (RoundedLaplace(5, FINE), RoundedLaplace(3, FINE)),
        (RoundedGaussian(5, FINE), DiscreteLaplaceDistribution(3, 1)),
        (DiscreteLaplaceDistribution(2, 1), DiscreteLaplaceDistribution(0.7, 1)),
    ],
)
@pytest.mark.parametrize("within", [(-100.0, 100.0), (-math.inf, math.inf)])
def test_means_are_covered(
    size: int, law_s: Distribution, law_n: Distribution, within: tuple[float, float]
) -> None:
    rng = np.random.default_rng(size)
    s = NoisyMeasure("r", "s", law_s, tuple((2.0 * size + draws(law_s, TRIALS, rng)).tolist()))
    n = NoisyMeasure("r", "n", law_n, tuple((1.0 * size + draws(law_n, TRIALS, rng)).tolist()))
    answer = ReleasedColumn.quotient(
        "mean",
        LinearFormula(((1, s),)),
        LinearFormula(((1, n),), within=POSITIVE),
        within=within,
        confidence=0.95,
    )
    right = (np.array(answer.lower) <= 2) & (np.array(answer.upper) >= 2)
    assert misses(right) < 4
    if size >= 100 and law_s.step == FINE:
        assert misses(right) > -4  # and no wider than need be


@pytest.mark.parametrize(
    "distribution", [RoundedLaplace(4, FINE), COUNTS, DiscreteLaplaceDistribution(0.6, 1)]
)
@pytest.mark.parametrize("truths", [(6, 10), (30, 70), (400, 100)])
def test_shares_of_a_total_are_covered(distribution: Distribution, truths: tuple[int, int]) -> None:
    """Numerator and denominator share the numerator's noise."""
    rng = np.random.default_rng(sum(truths))
    a, b = (
        NoisyMeasure(
            "r", name, distribution, tuple((truth + draws(distribution, TRIALS, rng)).tolist())
        )
        for name, truth in zip("ab", truths, strict=True)
    )
    both = LinearFormula(((1, a), (1, b)), within=POSITIVE)
    answer = ReleasedColumn.quotient(
        "share", LinearFormula(((1, a),)), both, within=(0, 1), confidence=0.95
    )
    share = truths[0] / sum(truths)
    right = (np.array(answer.lower) <= share) & (np.array(answer.upper) >= share)
    assert misses(right) < 4


def test_shared_noise_matters() -> None:
    a, b = estimate(400), estimate(100, 1)
    shared = Ratio(a, a + b).interval()
    apart = Ratio(estimate(400, 2), a + b).interval()
    assert shared[1] - shared[0] < 0.6 * (apart[1] - apart[0])
    assert Ratio(a * 2, a).interval() == pytest.approx((2, 2), rel=1e-3)


def test_a_column_and_its_cells_agree() -> None:
    n = NoisyMeasure("r", "n", COUNTS, (50, 3, 800))
    s = NoisyMeasure("r", "s", SUMS, (100.5, -3.25, 4000.0))
    for within in ((-10.0, 10.0), (-math.inf, math.inf)):
        answer = ReleasedColumn.quotient(
            "mean",
            LinearFormula(((1, s),)),
            LinearFormula(((1, n),), within=POSITIVE),
            offset=60.0,
            within=within,
            confidence=0.9,
        )
        assert answer.estimates is not None
        assert answer.lower is not None
        assert answer.upper is not None
        for cell, value, low, high in zip(
            answer.estimates, answer.values, answer.lower, answer.upper, strict=True
        ):
            assert cell.value == value
            assert cell.interval(confidence=0.9) == pytest.approx((low, high), rel=2e-3)


def test_a_denominator_near_zero_says_nothing() -> None:
    assert mean(10.0, 3).interval() == (-math.inf, math.inf)
    known = Ratio(estimate(10.0, 0, SUMS, "s"), estimate(3), 60.0, (0.0, 120.0))
    assert known.interval() == (0, 120)
    assert 0 <= known.value <= 120


def test_an_impossible_denominator_gives_no_value() -> None:
    assert math.isnan(mean(10.0, 0).value)
    assert math.isnan(mean(10.0, -4).value)
    assert Ratio(estimate(10), estimate(-4, 1)).value == -2.5  # a difference may be negative
    assert "–" in repr(mean(10.0, -4))


def test_known_numbers_shift_and_stretch() -> None:
    ratio = mean(5000.0, 100)
    low, high = ratio.interval()
    moved = (ratio * 2 + 1) / 4
    assert isinstance(moved, Ratio)
    assert moved.value == pytest.approx((50 * 2 + 1) / 4)
    assert moved.interval() == pytest.approx(((2 * low + 1) / 4, (2 * high + 1) / 4), rel=1e-4)
    turned = 1 - ratio
    assert turned.interval() == pytest.approx((1 - high, 1 - low), rel=1e-4)
    assert (ratio * 0).interval() == (0, 0)
    assert Ratio(estimate(100), Estimate(4)).interval() == pytest.approx((23.5, 26.5))
    assert Ratio(Estimate(100), Estimate(4)).interval() == (25, 25)
    inverse = 1 / estimate(100)
    assert isinstance(inverse, Ratio)
    assert inverse.interval() == pytest.approx((1 / 106, 1 / 94), rel=1e-4)


def test_ratios_of_one_denominator_stay_ratios() -> None:
    n = estimate(100)
    a, b = Ratio(estimate(500, 1), n), Ratio(estimate(300, 2), n)
    difference = a - b
    assert isinstance(difference, Ratio)
    assert difference.value == pytest.approx(2)
    assert isinstance(a - a, Ratio)
    assert (a - a).interval() == (0, 0)
    assert isinstance(a - mean(10.0, 50, 1), Contrast)
