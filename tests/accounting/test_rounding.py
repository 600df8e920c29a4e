"""Inversions land on the private side, and not a float further than they must."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet import events
from discreet.accounting import (
    APPROX,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_multiplier,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)
from discreet.core.accountant import Accountant
from discreet.core.parameters import rounded_down

SPENDS = [0.01, 0.3, 1.0, 7.7]
DELTAS = [1e-12, 1e-6, 0.01]
BOTH = [(epsilon, delta) for epsilon in SPENDS for delta in DELTAS]


@pytest.mark.parametrize(("epsilon", "delta"), BOTH)
def test_the_largest_rho_keeps_the_limit_and_the_next_does_not(
    epsilon: float, delta: float
) -> None:
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_epsilon(math.nextafter(rho, math.inf), delta) > epsilon
    assert zcdp_delta(rho, epsilon) <= delta * (1 + 1e-9)


@pytest.mark.parametrize("multiplier", [0.3, 1.0, 5.5])
@pytest.mark.parametrize("delta", DELTAS)
def test_the_least_epsilon_keeps_delta_and_the_float_below_does_not(
    multiplier: float, delta: float
) -> None:
    epsilon = gaussian_epsilon(multiplier, delta)
    assert gaussian_delta(multiplier, epsilon) <= delta
    assert gaussian_delta(multiplier, math.nextafter(epsilon, 0)) > delta


@pytest.mark.parametrize(("epsilon", "delta"), BOTH)
def test_the_least_multiplier_keeps_the_pair(epsilon: float, delta: float) -> None:
    multiplier = gaussian_multiplier(epsilon, delta)
    assert gaussian_epsilon(multiplier, delta) <= epsilon
    assert gaussian_delta(multiplier * (1 - 1e-9), epsilon) > delta * (1 - 1e-9)


def test_fractions_between_floats_are_rounded_to_the_private_side() -> None:
    """A price at a fraction is never below that at the floats on its two sides."""
    tenth = Fraction(1, 10)
    below, above = rounded_down(tenth), math.nextafter(rounded_down(tenth), 1)
    assert below < tenth < above
    event = events.Gaussian(1)
    assert event.delta(epsilon=tenth) == event.delta(epsilon=below)
    assert zcdp_epsilon(tenth, 1e-6) >= zcdp_epsilon(above, 1e-6)
    assert zcdp_delta(1, tenth) >= zcdp_delta(1, below)
    assert gaussian_delta(tenth, 1) >= gaussian_delta(below, 1)
    assert gaussian_epsilon(tenth, 1e-6) >= gaussian_epsilon(below, 1e-6)


@pytest.mark.parametrize("multipliers", [(3, 7), (1, 1, 1), (0.1, 5, 11), (2, 2, 3, 3)])
def test_gaussian_parts_combine_to_no_more_noise_than_they_have(
    multipliers: tuple[float, ...],
) -> None:
    sums = APPROX.price(events.compose(tuple(events.Gaussian(z) for z in multipliers)))
    square = 1 / sum(1 / Fraction(z) ** 2 for z in multipliers)
    combined = sums.noise_multiplier()
    assert Fraction(combined) ** 2 <= square
    assert Fraction(math.nextafter(combined, math.inf)) ** 2 > square


def test_gaussian_parts_get_the_delta_that_others_leave() -> None:
    event = events.Gaussian(2) + events.Approximate(epsilon=1, delta=0.75e-6)
    assert APPROX.epsilon(event, 1e-6) == pytest.approx(1 + gaussian_epsilon(2, 0.25e-6), rel=1e-12)
    assert APPROX.epsilon(event, 1e-6) >= 1 + gaussian_epsilon(2, 0.25e-6)
    assert APPROX.epsilon(event, 0.5e-6) == math.inf


def test_enormous_prices_are_numbers_and_no_failures() -> None:
    assert zcdp_delta(1e15, 1) == 1
    assert zcdp_delta(10**400, 1) == 1
    assert zcdp_epsilon(10**400, 1e-6) == math.inf
    assert zcdp_epsilon(1, Fraction(1, 10**400)) == math.inf
    assert gaussian_epsilon(1, Fraction(1, 10**400)) == math.inf
    assert 0 < zcdp_rho(10**400, 1e-6) < math.inf
    assert events.Pure(epsilon=1e8).delta(epsilon=1) <= 1


class Heard(Accountant[float]):
    """An accountant that prices nothing and remembers at what it was asked to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[float] = []

    def epsilon(self, event: events.Event, delta: float) -> float:
        del event
        self.asked.append(delta)
        return math.inf

    def delta(self, event: events.Event, epsilon: float) -> float:
        del event
        self.asked.append(epsilon)
        return 1.0


@pytest.mark.parametrize("value", [Fraction(1, 10), Fraction(1, 3), Fraction(7, 10)])
def test_accountants_are_asked_at_no_more_than_was_given(value: Fraction) -> None:
    heard = Heard()
    priced = events.Gaussian(1).with_accountant(heard)
    priced.delta(epsilon=value)
    priced.epsilon(delta=value)
    assert all(Fraction(asked) <= value for asked in heard.asked)
    assert all(Fraction(math.nextafter(asked, 1)) > value for asked in heard.asked)
