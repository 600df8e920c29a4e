"""The least mu of pure events, against trade-off curves listed corner by corner.

A listed pair has a trade-off function of straight lines; mu is the largest distance of normal
quantiles over its corners. Laws without corners are listed in many narrow outcomes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet import events
from discreet.accounting import GAUSSIAN
from discreet.accounting.tight_mu import (
    bounded_range_mu,
    geometric_mu,
    laplace_mu,
    pure_mu,
    response_mu,
)
from discreet.core.events.event import Event

Pairs = Sequence[tuple[float, float]]
"""P- and Q-masses of outcomes."""

losses = st.floats(0.01, 12)


def listed_mu(pairs: Pairs) -> float:
    """The largest Phi^-1(P[A]) - Phi^-1(Q[A]) over the best tests A."""
    p, q = np.array(sorted(pairs, key=lambda pair: pair[1] / pair[0])).T
    # From the side on which masses are small.
    power, level = np.cumsum(p)[:-1], np.cumsum(q)[:-1]
    misses, rest = np.cumsum(p[::-1])[-2::-1], np.cumsum(q[::-1])[-2::-1]
    z_p = np.where(power < 0.5, stats.norm.ppf(power), stats.norm.isf(misses))
    z_q = np.where(level < 0.5, stats.norm.ppf(level), stats.norm.isf(rest))
    return float((z_p - z_q).max())


def geometric(epsilon: float, steps: int) -> Pairs:
    fall = math.exp(-epsilon / steps)
    share = (1 - fall) / (1 + fall)
    ends = [(1 / (1 + fall), fall**steps / (1 + fall)), (fall**steps / (1 + fall), 1 / (1 + fall))]
    return ends + [(share * fall**x, share * fall ** (steps - x)) for x in range(1, steps)]


def response(epsilon: float, categories: int) -> Pairs:
    whole = math.exp(epsilon) + categories - 1
    truth, lie, rest = math.exp(epsilon) / whole, 1 / whole, (categories - 2) / whole
    return [(truth, lie), (lie, truth), *([(rest, rest)] if categories > 2 else [])]


def two_points(epsilon: float, place: float) -> Pairs:
    """Losses ``place`` and ``place - epsilon``."""
    share = math.expm1(place - epsilon) / math.expm1(-epsilon)
    return [
        (share, share * math.exp(-place)),
        (1 - share, (1 - share) * math.exp(epsilon - place)),
    ]


@given(losses, st.integers(1, 40))
@settings(max_examples=60)
def test_geometric_noise(epsilon: float, steps: int) -> None:
    assert geometric_mu(epsilon, steps) == pytest.approx(
        listed_mu(geometric(epsilon, steps)), rel=1e-9
    )


@given(losses, st.sampled_from([2, 3, 7, 100, 10_000]))
@settings(max_examples=60)
def test_response_among_many(epsilon: float, categories: int) -> None:
    expected = listed_mu(response(epsilon, categories))
    assert response_mu(epsilon, categories) == pytest.approx(expected, rel=1e-9)


@given(losses)
@settings(max_examples=60)
def test_bounded_range_is_worst_in_the_middle(epsilon: float) -> None:
    """Where half of the range is gain and half is loss; as pure at half the epsilon."""
    places = np.linspace(0, epsilon, 101)[1:-1]
    worst = max(listed_mu(two_points(epsilon, float(place))) for place in places)
    assert bounded_range_mu(epsilon) == pytest.approx(worst, rel=1e-9)
    assert bounded_range_mu(epsilon) == pure_mu(epsilon / 2)


@given(losses)
@settings(max_examples=40)
def test_laplace_noise_by_its_curve(epsilon: float) -> None:
    """f(a) = exp(-epsilon) / 4 a in the middle; geometric noise of fine steps approaches it."""
    levels = np.exp(np.linspace(-epsilon, 0, 2001)) / 2
    curve = math.exp(-epsilon) / (4 * levels)
    distances = stats.norm.isf(levels) - stats.norm.ppf(curve)
    assert laplace_mu(epsilon) == pytest.approx(float(distances.max()), rel=1e-9)
    assert laplace_mu(epsilon) == pytest.approx(geometric_mu(epsilon, 2**20), rel=1e-5)


def test_known_values() -> None:
    assert laplace_mu(1.0) == pytest.approx(1.030064, abs=1e-6)
    assert geometric_mu(1.0, 1) == pytest.approx(pure_mu(1.0))
    assert response_mu(1.0, 2) == pytest.approx(pure_mu(1.0))
    assert pure_mu(1.0) == pytest.approx(1.232035, abs=1e-6)


@pytest.mark.parametrize(
    ("event", "pairs"),
    [
        (events.DiscreteLaplace(epsilon=1, steps=1), geometric(1, 1)),
        (events.DiscreteLaplace(epsilon=2, steps=5), geometric(2, 5)),
        (events.RandomizedResponse(epsilon=1, categories=100), response(1, 100)),
        (events.Exponential(epsilon=3), two_points(3, 1.5)),
        (events.PermuteAndFlip(epsilon=3), response(3, 2)),
    ],
)
def test_events_cost_what_their_pairs_need(event: Event, pairs: Pairs) -> None:
    """Twins: Laplace's mu for one grid step, half the epsilon for permute-and-flip, are below."""
    mu = event.gdp().mu
    assert listed_mu(pairs) * (1 - 1e-12) <= mu <= listed_mu(pairs) * (1 + 1e-9)
    assert laplace_mu(1) < listed_mu(geometric(1, 1)) * 0.9
    assert bounded_range_mu(3) < listed_mu(response(3, 2)) * 0.9


def test_squares_add_up_and_never_fall_below_the_privacy_loss() -> None:
    """The other accountant knows the whole law: at every delta this one must say more."""
    for event in (
        events.Laplace(epsilon=0.5),
        events.Exponential(epsilon=1.5),
        events.RandomizedResponse(epsilon=1, categories=50),
        events.DiscreteLaplace(epsilon=1, steps=3),
    ):
        many = event * 20
        assert float(many.gdp().mu) == pytest.approx(math.sqrt(20) * float(event.gdp().mu))
        for delta in (1e-2, 1e-6, 1e-10):
            lower, _ = many.epsilon_bounds(delta=delta)
            assert many.with_accountant(GAUSSIAN).epsilon(delta=delta) >= lower


def test_tiny_losses_keep_their_digits() -> None:
    """mu is sqrt(pi / 2) times a small epsilon, half of that where the range is bounded."""
    for epsilon in (1e-4, 1e-8, 1e-12):
        assert laplace_mu(epsilon) == pytest.approx(math.sqrt(math.pi / 2) * epsilon, rel=1e-4)
        assert pure_mu(epsilon) == pytest.approx(math.sqrt(math.pi / 2) * epsilon, rel=1e-4)
        assert bounded_range_mu(epsilon) == pytest.approx(
            math.sqrt(math.pi / 8) * epsilon, rel=1e-4
        )
