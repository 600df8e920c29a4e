"""Gaussian DP: certified, exact for Gaussians, and never a central-limit value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet import events
from discreet.accounting import GAUSSIAN, gaussian_epsilon
from discreet.accounting.tight_mu import pure_mu
from discreet.core.errors import Unpriced


def test_gaussians_add_in_squares() -> None:
    event = events.Gaussian(2.0) * 3 + events.Gaussian(1.0)
    assert event.gdp().mu == pytest.approx(math.sqrt(3 / 4 + 1))
    exact = gaussian_epsilon(1 / math.sqrt(1.75), 1e-6)
    assert event.with_accountant(GAUSSIAN).epsilon(delta=1e-6) == pytest.approx(exact, rel=1e-9)
    assert event.with_accountant(GAUSSIAN).delta(epsilon=exact) == pytest.approx(1e-6, rel=1e-6)


@given(st.floats(1e-14, 30))
def test_a_pure_event_lies_above_its_gaussian(epsilon: float) -> None:
    """The curve of mu passes below the corner of the two lines, and just below."""
    mu = pure_mu(epsilon)
    # Phi(-mu/2) <= 1/(1 + e^epsilon), by way of tanh where that would cancel.
    if epsilon < 1:
        assert math.erf(mu / math.sqrt(8)) >= math.tanh(epsilon / 2)
        assert math.erf(mu / math.sqrt(8)) <= math.tanh(epsilon / 2) * (1 + 3e-12)
    else:
        corner = -epsilon - math.log1p(math.exp(-epsilon))
        assert stats.norm.logcdf(-mu / 2) <= corner
        assert stats.norm.logcdf(-mu / 2) >= corner * (1 + 1e-11)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_two_lines_against_the_curve(epsilon: float) -> None:
    alpha = np.linspace(1e-9, 1 - 1e-9, 1001)
    lines = np.maximum(1 - math.exp(epsilon) * alpha, math.exp(-epsilon) * (1 - alpha))
    curve = stats.norm.cdf(stats.norm.isf(alpha) - pure_mu(epsilon))
    assert (curve <= lines + 1e-12).all()


def test_pure_events_compose() -> None:
    """mu = 2.0045… is what k = 100 responses at 0.2 really have, less than half a per cent off."""
    event = events.NoisyMax(epsilon=0.2) * 50 + events.Pure(epsilon=0.2) * 50
    assert event.gdp().mu == pytest.approx(10 * pure_mu(0.2))
    assert events.Nothing().gdp().mu == 0
    delta = event.with_accountant(GAUSSIAN).delta(epsilon=5.0)
    assert event.delta(epsilon=5.0) <= delta


def test_sampled_pure_events_stay_pure() -> None:
    """Amplification first, (.1, 1) → .158565 (004a:E1), then the two lines of that."""
    event = events.Laplace(epsilon=1).subsample(rate=0.1) * 9
    assert event.gdp().mu == pytest.approx(3 * pure_mu(0.158565), rel=1e-5)


@pytest.mark.parametrize(
    "event",
    [
        events.Gaussian(1.0).subsample(rate=0.1),
        events.Gaussian(1.0).subsample(size=1, of=10),
        events.DiscreteGaussian(noise_multiplier=1, sigma=1),
        events.Approximate(epsilon=1, delta=1e-9),
        events.Gaussian(1.0) + events.Gaussian(1.0).subsample(rate=0.5),
    ],
)
def test_no_central_limit(event: events.Event) -> None:
    """004a:D6: what is not Gaussian-private for certain is refused."""
    with pytest.raises(Unpriced):
        event.gdp()


@pytest.mark.parametrize("loss", [5e-324, 1e-300, 1e-200, 1e-160])
def test_the_square_of_a_tiny_loss_does_not_vanish(loss: float) -> None:
    event = events.Laplace(epsilon=loss)
    assert GAUSSIAN.price(event) > 0
    assert event.gdp().mu >= loss
