"""Approximate concentrated privacy: deltas are set apart, rho adds up."""

import math
from fractions import Fraction

import pytest

from discreet import events
from discreet.accounting import (
    APPROX,
    APPROXIMATELY_CONCENTRATED,
    ZERO_CONCENTRATED,
    ApproxZCDPPrice,
    zcdp_epsilon,
)
from discreet.core.errors import NotPrivate


def test_an_approximate_event_costs_what_a_pure_one_does_and_its_delta() -> None:
    event = events.Approximate(epsilon=Fraction(1, 10), delta=Fraction(1, 10**9)) * 100
    price = APPROXIMATELY_CONCENTRATED.price(event)
    pure = 100 * ZERO_CONCENTRATED.price(events.Pure(epsilon=Fraction(1, 10)))
    assert price == ApproxZCDPPrice(pure, Fraction(100, 10**9))


def test_the_advanced_composition_of_the_catalogue_is_beaten_and_the_optimum_is_not() -> None:
    """004a:D9 gives 5.77653 and 004a:D12 the optimum 4.78772 for k=100, (.1, 1e-9) at 1e-6."""
    event = events.Approximate(epsilon=0.1, delta=1e-9) * 100
    stated = APPROXIMATELY_CONCENTRATED.epsilon(event, 1e-6)
    assert 4.78772 < stated < 5.77653
    rho = 100 * 0.1 * math.tanh(0.05)
    assert stated == pytest.approx(zcdp_epsilon(rho, 1e-6 - 1e-7), rel=1e-9)
    assert stated < APPROX.epsilon(event, 1e-6)


def test_without_deltas_it_is_the_concentrated_accountant() -> None:
    event = events.Gaussian(2) * 3 + events.Laplace(epsilon=0.5)
    assert APPROXIMATELY_CONCENTRATED.epsilon(event, 1e-6) == ZERO_CONCENTRATED.epsilon(event, 1e-6)
    assert APPROXIMATELY_CONCENTRATED.delta(event, 3) == pytest.approx(
        ZERO_CONCENTRATED.delta(event, 3)
    )


def test_a_delta_that_does_not_cover_what_was_set_apart_buys_nothing() -> None:
    event = events.Approximate(epsilon=0.1, delta=1e-6)
    assert APPROXIMATELY_CONCENTRATED.epsilon(event, 1e-7) == math.inf
    assert APPROXIMATELY_CONCENTRATED.delta(event, 50.0) >= 1e-6


def test_concentrated_and_approximate_parts_have_a_price_together() -> None:
    event = events.DiscreteGaussian(4, 4) + events.Approximate(epsilon=0.1, delta=1e-9)
    assert event.epsilon(delta=1e-6) < 2
    with pytest.raises(NotPrivate):
        APPROXIMATELY_CONCENTRATED.price(events.Unprotected(event, reason="seeded"))
