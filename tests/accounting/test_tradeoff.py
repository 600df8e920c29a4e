"""Trade-off curves: below the truth everywhere, and close to it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from discreet import events
from discreet.accounting.tradeoff import Tradeoff

ALPHA = np.linspace(0, 1, 401)


@pytest.mark.parametrize("multiplier", [0.4, 1.0, 3.0])
def test_gaussian(multiplier: float) -> None:
    curve = events.Gaussian(multiplier).tradeoff()
    truth = stats.norm.cdf(stats.norm.isf(ALPHA) - 1 / multiplier)
    found = curve(ALPHA)
    assert (found <= truth).all()
    assert (found >= truth - 0.02).all()
    assert curve.advantage() >= math.erf(1 / multiplier / math.sqrt(8))
    assert curve.advantage() == pytest.approx(math.erf(1 / multiplier / math.sqrt(8)), rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_randomized_response(epsilon: float) -> None:
    """Two lines (000a:D2)."""
    curve = events.Pure(epsilon=epsilon).tradeoff()
    truth = np.maximum(1 - math.exp(epsilon) * ALPHA, math.exp(-epsilon) * (1 - ALPHA))
    assert (curve(ALPHA) <= np.maximum(truth, 0)).all()
    assert curve(ALPHA) == pytest.approx(np.maximum(truth, 0), abs=0.02)
    assert curve.advantage() == pytest.approx(math.tanh(epsilon / 2))


def test_laplace() -> None:
    """The pieces of 004a:B3: 1 - e^eps alpha, e^-eps/(4 alpha), e^-eps (1 - alpha)."""
    loss = 1.0
    curve = events.Laplace(epsilon=loss).tradeoff()
    with np.errstate(divide="ignore"):
        middle = math.exp(-loss) / 4 / ALPHA
    truth = np.where(
        math.exp(-loss) / 2 > ALPHA,
        1 - math.exp(loss) * ALPHA,
        np.where(ALPHA < 0.5, middle, math.exp(-loss) * (1 - ALPHA)),
    )
    assert (curve(ALPHA) <= truth + 1e-12).all()
    assert curve(ALPHA) == pytest.approx(truth, abs=0.01)


def test_sampled_both_directions() -> None:
    """Symmetrised: below the curves of both directions."""
    rate, mu = 0.2, 2.0
    curve = events.Gaussian(1 / mu).subsample(rate=rate).tradeoff()
    gaussian = stats.norm.cdf(stats.norm.isf(ALPHA) - mu)
    removed = (1 - rate) * (1 - ALPHA) + rate * gaussian
    assert (curve(ALPHA) <= removed + 1e-12).all()
    back = np.interp(ALPHA, removed[::-1], ALPHA[::-1])
    assert (curve(ALPHA) <= back + 1e-4).all()
    assert curve.advantage() == pytest.approx(rate * math.erf(mu / math.sqrt(8)), rel=1e-3)


def test_nothing_and_almost_nothing() -> None:
    assert events.Nothing().tradeoff()(0.3) == pytest.approx(0.7)
    assert events.Nothing().tradeoff().advantage() <= 1e-6
    wild = events.Gaussian(0.01).tradeoff()
    assert (wild(ALPHA[1:]) <= 1e-6).all()
    assert wild.advantage() == pytest.approx(1)


def test_the_advantage_is_an_upper_bound_between_grid_points() -> None:
    curve = Tradeoff((0.0, 1.0), (0.3, 0.01))
    fine = np.linspace(0, 1, 1_000_001)
    assert (1 - fine - curve(fine)).max() <= curve.advantage() + 1e-15
