"""Log-linear densities: masses, cells and digits have exactly their law."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from discreet.noise import Noiseless, Seeded, log_linear
from discreet.noise.log_linear import _mass

HEIGHTS = np.array([3, 0, 0, 4, -1], dtype=np.int64)


def masses(heights: np.ndarray, rate: float, parts: int) -> np.ndarray:
    """By quadrature, for each of ``parts`` of each cell."""
    knots = np.arange(len(heights))
    places = np.linspace(0, len(heights) - 1, parts * (len(heights) - 1) + 1)
    found = [
        integrate.quad(lambda u: math.exp(-rate * np.interp(u, knots, heights)), a, b)[0]
        for a, b in pairwise(places)
    ]
    return np.array(found) / sum(found)


@pytest.mark.parametrize("fall", [Fraction(0), Fraction(1, 10**12), Fraction(1, 3), Fraction(700)])
@pytest.mark.parametrize("low", [Fraction(0), Fraction(5, 2)])
def test_masses_are_enclosed(low: Fraction, fall: Fraction) -> None:
    down, up = _mass(low, fall, 80)
    d = float(fall)
    true = math.exp(-float(low)) * (-math.expm1(-d) / d if d else 1.0)
    assert down <= up <= down + 8
    assert down / 2**80 == pytest.approx(true, rel=1e-13)


def test_places_have_their_law_and_others_are_refuted() -> None:
    """False alarm of the first assertion: 1e-6. The others miss with less."""
    rate, digits, size = Fraction(3, 4), 2, 8000
    source = Seeded(5)
    drawn = [log_linear(HEIGHTS, rate, digits, source) for _ in range(size)]
    seen = np.bincount(drawn, minlength=16)
    for wrong in (0.8, 1.0, 1.25):
        expected = masses(HEIGHTS, float(rate) * wrong, 4) * size
        assert (stats.chisquare(seen, expected).pvalue > 1e-6) == (wrong == 1.0)


def test_digits_are_those_of_a_truncated_exponential() -> None:
    line = np.array([0, 5], dtype=np.int64)
    drawn = np.array([log_linear(line, Fraction(1), 30, Seeded(seed)) for seed in range(600)])
    law = stats.truncexpon(5, scale=1 / 5)
    assert stats.kstest(drawn * 2.0**-30, law.cdf).pvalue > 1e-6
    mirrored = [log_linear(line[::-1], Fraction(1), 30, Seeded(seed)) for seed in range(600)]
    assert stats.kstest(1 - np.array(mirrored) * 2.0**-30, law.cdf).pvalue > 1e-6


def test_far_apart_heights_and_no_noise() -> None:
    far = np.array([0, 1 << 60, -(1 << 60), 1 << 60], dtype=np.int64)
    assert log_linear(far, Fraction(1, 1 << 20), 4, Seeded(1)) in (2 * 16 - 1, 2 * 16)
    assert log_linear(HEIGHTS, Fraction(1), 3, Noiseless()) == 4 * 8
