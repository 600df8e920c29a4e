"""Composition against exact enumeration: the truth always lies between both bounds."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from discreet import events
from discreet.accounting.pld import PRIVACY_LOSS
from discreet.accounting.pld.composition import compose
from discreet.accounting.pld.discretise import LossTable
from discreet.core.events.event import Event
from tests.accounting.finite import Finite, geometric, response

DELTAS = (0.3, 1e-2, 1e-5, 1e-10, 1e-30)


def check(event: Event, exact: Finite, back: Finite | None, *, gap: float, low: float = 1) -> None:
    """The bounds enclose the worse direction; the upper one is within ``gap``."""
    for delta in DELTAS:
        lower, upper = PRIVACY_LOSS.epsilon_bounds(event, delta)
        if delta <= exact.infinite:
            assert upper == math.inf
            continue
        truth = max(law.epsilon(delta) for law in (exact, back) if law is not None)
        assert lower <= truth <= upper, (event, delta, lower, truth, upper)
        assert upper <= float(truth) * (1 + gap) + 1e-6, (event, delta)
        assert lower >= float(truth) * (1 - low) - 1e-6, (event, delta)


@pytest.mark.parametrize("epsilon", [0.01, 0.1, 1.0, 3.0, 30.0])
@pytest.mark.parametrize("times", [1, 2, 3, 50, 300])
def test_randomized_response(epsilon: float, times: int) -> None:
    exact = response(epsilon) * times
    check(events.Pure(epsilon=epsilon) * times, exact, None, gap=1e-9, low=1e-9)


@pytest.mark.parametrize("slack", [3e-12, 1e-8, 1e-3])
def test_leaking_response(slack: float) -> None:
    for times in (1, 7, 100):
        exact = response(0.3, delta=slack) * times
        event = events.Approximate(epsilon=0.3, delta=slack) * times
        check(event, exact, None, gap=1e-9, low=1e-9)


@pytest.mark.parametrize(("categories", "times"), [(3, 1), (3, 9), (10, 4), (100, 20)])
def test_many_categories(categories: int, times: int) -> None:
    event = events.RandomizedResponse(epsilon=1.3, categories=categories) * times
    check(event, response(1.3, categories) * times, None, gap=1e-9, low=1e-9)


@pytest.mark.parametrize(("steps", "times"), [(1, 40), (2, 20), (3, 8), (5, 4)])
def test_geometric_noise(steps: int, times: int) -> None:
    event = events.DiscreteLaplace(epsilon=0.7, steps=steps) * times
    check(event, geometric(0.7, steps) * times, None, gap=1e-9, low=1e-9)


@pytest.mark.parametrize("rate", [1e-9, 1e-3, 0.05, 0.5, 0.99])
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0])
def test_sampled_response(rate: float, epsilon: float) -> None:
    """Both directions, by enumeration."""
    for times in (1, 2, 25):
        one = response(epsilon).sampled(rate)
        event = events.Pure(epsilon=epsilon).subsample(rate=rate) * times
        check(event, one * times, one.reversed() * times, gap=1e-9, low=1e-9)


def test_sampled_leak() -> None:
    """What only Q can produce stays finite once sampled."""
    one = response(1.0, delta=1e-8).sampled(0.1)
    event = events.Approximate(epsilon=1.0, delta=1e-8).subsample(rate=0.1) * 10
    # Leaks are rounded up, and what is at most delta is not certain to be covered by it.
    for delta in (1e-2, 1e-5, 1e-7):
        lower, upper = PRIVACY_LOSS.epsilon_bounds(event, delta)
        truth = (one * 10).epsilon(delta)
        back = (one.reversed() * 10).epsilon(delta)
        assert lower <= max(truth, back) <= upper <= float(max(truth, back)) * 1.001


def test_different_responses() -> None:
    """No common grid: the bounds still hold, and the upper one stays close."""
    exact = response(0.3) * 5 + response(0.47) * 4 + geometric(0.21, 3) * 2
    event = (
        events.Pure(epsilon=0.3) * 5
        + events.Pure(epsilon=0.47) * 4
        + events.DiscreteLaplace(epsilon=0.21, steps=3) * 2
    )
    check(event, exact, None, gap=1e-3, low=0.05)


def test_ten_million() -> None:
    """Exact binomial sums at ten million copies, by the optimal-composition module."""
    from discreet.accounting.optimal import optimal_epsilon

    for epsilon, delta in ((1e-3, 1e-10), (1e-4, 1e-30)):
        event = events.Pure(epsilon=epsilon) * 10**7
        exact = optimal_epsilon(loss=epsilon, slack=0, times=10**7, delta=delta)
        lower, upper = PRIVACY_LOSS.epsilon_bounds(event, delta)
        assert lower <= exact
        assert exact * (1 - 1e-6) <= upper <= exact * (1 + 1e-6)
        assert lower >= exact * (1 - 1e-6)


def _table(masses: list[float], *, step: float, offset: float, first: int) -> LossTable:
    return LossTable(step, offset, first, np.array(masses), 0.0)


def _brute(parts: tuple[tuple[LossTable, int], ...]) -> Finite:
    """The exact law of composed tables, masses as the rationals they store."""
    law = {Fraction(0): Fraction(1)}
    for table, times in parts:
        for _ in range(times):
            after: dict[Fraction, Fraction] = {}
            for loss, mass in law.items():
                for i, more in enumerate(table.masses.tolist()):
                    at = Fraction(table.offset) + Fraction(table.step) * (table.first + i)
                    after[loss + at] = after.get(loss + at, Fraction(0)) + mass * Fraction(more)
            law = after
    decimal = tuple(
        (Decimal(z.numerator) / z.denominator, Decimal(p.numerator) / p.denominator)
        for z, p in law.items()
        if p
    )
    return Finite(decimal)


@pytest.mark.parametrize("tilt", [0.3, 3.0, 30.0])
def test_transforms_of_tables(tilt: float) -> None:
    """Fractions against Fourier, over all epsilons and tilts: masses, wrapping and rounding."""
    random = np.random.default_rng(7)
    step = 1 / 64
    parts = (
        (_table(random.dirichlet(np.ones(9)).tolist(), step=step, offset=0.0, first=-4), 5),
        (_table([0.7, 0.0, 1e-12, 0.3], step=step, offset=0.005, first=20), 3),
        (_table(random.dirichlet(np.full(30, 0.1)).tolist(), step=step, offset=0.01, first=-20), 1),
    )
    exact = _brute(parts)
    for epsilon in np.linspace(0, 2, 23).tolist():
        truth = exact.delta(epsilon)
        above = compose(parts, tilt, (1.0, 1.0), sign=1).delta(epsilon)
        below = compose(parts, tilt, (1.0, 1.0), sign=-1).delta(epsilon)
        assert below <= truth <= above
        if tilt == 3.0 and truth > 1e-7:
            assert above <= float(truth) * (1 + 1e-7)
            assert below >= float(truth) * (1 - 1e-7)


def test_offsets_are_exact() -> None:
    """Ten million copies of a sure loss are at exactly ten million times that loss."""
    table = _table([1.0], step=0.3, offset=0.1, first=0)
    composed = compose(((table, 10**7),), 1.0, (1.0, 1.0), sign=1)
    truth = Fraction(0.1) * 10**7
    near = float(truth)
    assert composed.delta(near - 1e-3) == pytest.approx(-math.expm1(-1e-3), rel=1e-3)
    assert composed.delta(near * (1 - 1e-15)) >= 0
    assert composed.delta(near - 1e-3) >= -math.expm1(-float(truth - Fraction(near - 1e-3)))
