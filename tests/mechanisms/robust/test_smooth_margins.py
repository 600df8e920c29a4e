"""Rounding in smooth sensitivity is paid for: the scale that is drawn is never below the truth."""

from __future__ import annotations

import decimal
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Pure
from discreet.core.parameters import Number
from discreet.mechanisms.robust import SmoothMedian
from discreet.mechanisms.robust.lattice import Lattice
from discreet.mechanisms.robust.order_statistics import SortedRows, sorted_rows
from discreet.mechanisms.robust.smooth_noise import SmoothNoise
from discreet.noise import Noiseless, Source

CONTEXT = decimal.Context(prec=50)
SPREAD = [0, 0, 0, 0, 0, 1, 60, 100, 100, 100, 100]
DENSE = [50 + i / 10 for i in range(-20, 21)]


@dataclass(frozen=True)
class Heard(SmoothNoise):
    """Noise that remembers at which scale it was drawn."""

    smoothing: float
    scales: list[Fraction] = field(default_factory=list)

    def beta(self, epsilon: Number) -> float:
        del epsilon
        return self.smoothing

    def multiplier(self, epsilon: Number) -> Fraction:
        del epsilon
        return Fraction(3)

    def event(self, epsilon: Number) -> Event:
        return Pure(epsilon=epsilon)

    def draw(self, scale: Fraction, source: Source) -> int:
        del source
        self.scales.append(scale)
        return 0

    def quantile(self, tail: float) -> float:
        return tail


def smooth_sensitivity(rows: SortedRows, beta: float) -> tuple[Fraction, int]:
    """The largest exp(-beta k) A^(k) in fifty digits, and its k."""
    best, where = Fraction(0), 0
    for k in range(len(rows.rows) + 1):
        fade = CONTEXT.exp(CONTEXT.multiply(decimal.Decimal(-k), decimal.Decimal(beta)))
        value = Fraction(fade) * rows.local_sensitivity(k)
        if value > best:
            best, where = value, k
    return best, where


@pytest.mark.parametrize("data", [SPREAD, DENSE])
@pytest.mark.parametrize("beta", [0.05, 0.3, 1.1])
def test_the_scale_is_above_the_smooth_sensitivity_by_more_than_any_rounding(
    data: list[float], beta: float
) -> None:
    noise = Heard(beta)
    SmoothMedian(bounds=(0, 100), epsilon=1, noise=noise, randomness=Noiseless()).release(data)
    rows = sorted_rows(data, Lattice.between((0, 100)))
    truth, changed = smooth_sensitivity(rows, beta)
    (scale,) = noise.scales
    enlarged = 3 * truth * (1 + Fraction(1, 1 << 37))
    assert scale >= enlarged * (1 + changed * Fraction(1, 1 << 35))
    assert scale <= 3 * truth * (1 + Fraction(1, 1 << 20))


def test_some_of_these_data_are_worst_after_changes() -> None:
    rows = sorted_rows(DENSE, Lattice.between((0, 100)))
    assert smooth_sensitivity(rows, 0.05)[1] > 5
