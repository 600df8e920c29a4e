"""The least rho of pure events: the oracles, the supremum by enumeration, twins, and rounding.

The truth is D_alpha / alpha of laws written down here, in forty digits, over many orders.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from discreet import events
from discreet.accounting import PURE, ZERO_CONCENTRATED
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, ApproxDP

DIGITS = 40
Law = Sequence[tuple[Decimal, Decimal]]
"""P- and Q-masses of the outcomes."""
ORDERS = [Decimal(1) + Decimal(2) ** k / 64 for k in range(-26, 32)]
MOST = 10**5
"""Beyond this the largest loss alone counts, and the rate falls like one over the order."""


def rate(law: Law, order: Decimal) -> Decimal:
    """D_alpha / alpha."""
    moment = sum((((p / q).ln() * (order - 1)).exp() * p for p, q in law), Decimal(0))
    return moment.ln() / (order - 1) / order


def steepest(law: Law) -> Decimal:
    """The largest D_alpha / alpha over all orders tried, refined around the best of them."""
    with localcontext() as context:
        context.prec = DIGITS
        top = max(abs((p / q).ln()) for p, q in law)
        tried = [order for order in ORDERS if order * top < MOST]
        best = max(tried, key=lambda order: rate(law, order))
        low, high = 1 + (best - 1) / 2, 1 + (best - 1) * 2
        for _ in range(60):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (low, right) if rate(law, left) > rate(law, right) else (left, high)
        return max(rate(law, low), rate(law, best))


def response(epsilon: float, categories: int) -> Law:
    with localcontext() as context:
        context.prec = DIGITS
        odds = Decimal(epsilon).exp()
        whole = odds + categories - 1
        true, false = odds / whole, 1 / whole
        others = (categories - 2) * false
        return [(true, false), (false, true), *([(others, others)] if categories > 2 else [])]


def geometric(epsilon: float, steps: int) -> Law:
    """Two-sided geometric noise at 0 and at ``steps``, both tails gathered."""
    with localcontext() as context:
        context.prec = DIGITS
        fall = (-Decimal(epsilon) / steps).exp()
        point = (1 - fall) / (1 + fall)
        inner = [(point * fall**x, point * fall ** (steps - x)) for x in range(1, steps)]
        end = 1 / (1 + fall)
        return [(end, end * fall**steps), (end * fall**steps, end), *inner]


def rho(event: Event) -> float:
    return float(ZERO_CONCENTRATED.price(event))


@pytest.mark.parametrize(
    ("event", "wanted", "close"),
    [
        (events.Laplace(epsilon=1), 0.3679, 5e-5),
        (events.Laplace(epsilon=2), 1.135, 5e-4),
        (events.Pure(epsilon=5), 4.933, 5e-4),
        (events.Pure(epsilon=1), 0.4621, 5e-5),
        (events.DiscreteLaplace(epsilon=5, steps=1), 4.933, 5e-4),
        (events.DiscreteLaplace(epsilon=1, steps=1), 0.462117, 5e-7),
        (events.PermuteAndFlip(epsilon=1), 0.462117, 5e-7),
        (events.RandomizedResponse(epsilon=1, categories=100), 0.0611, 5e-5),
        (events.RandomizedResponse(epsilon=1, categories=2), 0.4621, 5e-5),
        (events.Exponential(epsilon=1), 0.12330, 5e-6),
        (events.SparseVector(epsilon=1, cutoff=3), 0.4621, 5e-5),
    ],
)
def test_the_oracles_of_the_catalogue(event: Event, wanted: float, close: float) -> None:
    """modern-data:N2."""
    assert rho(event) == pytest.approx(wanted, abs=close)
    assert event.zcdp() == ZCDP(rho=event.zcdp().rho)


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("steps", [1, 2, 3, 10, 40])
def test_geometric_noise_is_never_below_and_hardly_above_its_supremum(
    epsilon: float, steps: int
) -> None:
    truth = float(steepest(geometric(epsilon, steps)))
    stated = rho(events.DiscreteLaplace(epsilon=epsilon, steps=steps))
    assert truth <= stated <= truth * (1 + 1e-6)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 5.0, 12.0])
@pytest.mark.parametrize("categories", [2, 3, 6, 7, 9, 10, 52, 100, 10**4, 10**9])
def test_randomized_response_is_never_below_and_hardly_above_its_supremum(
    epsilon: float, categories: int
) -> None:
    truth = float(steepest(response(epsilon, categories)))
    stated = rho(events.RandomizedResponse(epsilon=epsilon, categories=categories))
    assert truth <= stated <= truth * (1 + 1e-5)


@given(st.floats(1e-6, 30), st.integers(2, 10**6), st.floats(-8, 8))
@settings(deadline=None)
def test_no_order_of_randomized_response_exceeds_its_price(
    epsilon: float, categories: int, exponent: float
) -> None:
    with localcontext() as context:
        context.prec = DIGITS
        order = 1 + Decimal(math.exp(exponent))
        truth = rate(response(epsilon, categories), order)
    price = ZERO_CONCENTRATED.price(
        events.RandomizedResponse(epsilon=epsilon, categories=categories)
    )
    assert Fraction(truth) <= price


def laplace_rate(epsilon: float, order: float) -> float:
    """By integration over the noise."""

    def density(x: float) -> float:
        return math.exp(-order * abs(x) + (order - 1) * abs(x - epsilon)) / 2

    moment = integrate.quad(density, 0, epsilon, epsabs=0, epsrel=1e-13)[0]
    ends = math.exp((order - 1) * epsilon) / 2 + math.exp(-order * epsilon) / 2
    return math.log(moment + ends) / (order - 1) / order


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.0, 6.0])
def test_no_order_of_laplace_noise_exceeds_its_price(epsilon: float) -> None:
    stated = rho(events.Laplace(epsilon=epsilon))
    rates = [laplace_rate(epsilon, 1 + 2.0**k) for k in range(-12, 7)]
    assert max(rates) <= stated * (1 + 1e-9)
    assert max(rates) >= stated * (1 - 1e-3)


def two_points(epsilon: float, place: float) -> Law:
    """Losses ``place`` and ``place - epsilon``."""
    with localcontext() as context:
        context.prec = DIGITS
        high, low = Decimal(place).exp(), (Decimal(place) - Decimal(epsilon)).exp()
        q = (1 - low) / (high - low)
        return [(q * high, q), ((1 - q) * low, 1 - q)]


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 12.0, 23.9])
def test_no_two_points_within_the_range_exceed_its_price(epsilon: float) -> None:
    price = ZERO_CONCENTRATED.price(events.Exponential(epsilon=epsilon))
    places = [epsilon * k / 40 for k in range(1, 40)]
    worst = max(steepest(two_points(epsilon, place)) for place in places)
    assert Fraction(worst) <= price
    assert float(worst) >= float(price) * 0.98


def test_a_wider_range_than_proved_costs_what_any_pure_event_does() -> None:
    wide = events.Exponential(epsilon=25)
    assert ZERO_CONCENTRATED.price(wide) == ZERO_CONCENTRATED.price(events.Pure(epsilon=25))
    assert rho(events.Exponential(epsilon=24)) < rho(wide)


def test_twins_are_refuted() -> None:
    """The divergence at one for k = 100, and the continuous formula for one step, are below."""
    many = steepest(response(1.0, 100))
    assert math.e - 1 < float(many) * (math.e + 99)
    step = steepest(geometric(1.0, 1))
    assert rho(events.Laplace(epsilon=1)) < float(step) * 0.8
    assert rho(events.Exponential(epsilon=1)) < float(step) * 0.3


@given(st.floats(1e-12, 600))
def test_prices_are_ordered(epsilon: float) -> None:
    """Rounding apart: bounded range, Laplace, geometric by its steps, pure, the quadratic one."""
    kinds: list[Event] = [
        events.Laplace(epsilon=epsilon),
        events.DiscreteLaplace(epsilon=epsilon, steps=50),
        events.DiscreteLaplace(epsilon=epsilon, steps=2),
        events.DiscreteLaplace(epsilon=epsilon, steps=1),
    ]
    prices = [ZERO_CONCENTRATED.price(kind) for kind in kinds]
    close = 1 + Fraction(1, 10**9)
    assert all(a <= b * close for a, b in itertools.pairwise(prices))
    pure = ZERO_CONCENTRATED.price(events.Pure(epsilon=epsilon))
    assert prices[-1] <= pure * close
    assert pure <= Fraction(epsilon) ** 2 / 2
    assert ZERO_CONCENTRATED.price(events.Exponential(epsilon=epsilon)) <= min(
        Fraction(epsilon) ** 2 / 8 if epsilon <= 24 else pure, pure
    )


@given(st.floats(1e-300, 1e300), st.integers(1, 10**9))
def test_nothing_is_free_and_nothing_overflows(epsilon: float, number: int) -> None:
    most = Fraction(epsilon) ** 2 / 2  # the bound of every pure event
    for event, bound in (
        (events.Laplace(epsilon=epsilon), most),
        (events.DiscreteLaplace(epsilon=epsilon, steps=number), most),
        (events.RandomizedResponse(epsilon=epsilon, categories=number + 1), most),
        (events.Exponential(epsilon=epsilon), most / 4),  # of bounded range
        (events.Pure(epsilon=epsilon), most),
    ):
        price = ZERO_CONCENTRATED.price(event)
        assert 0 < price <= bound or price <= PURE.price(event) * 2


@given(st.floats(1e-6, 50), st.floats(1.0001, 3))
def test_prices_grow_with_epsilon(epsilon: float, factor: float) -> None:
    makers: list[Callable[[float], Event]] = [
        lambda e: events.Laplace(epsilon=e),
        lambda e: events.DiscreteLaplace(epsilon=e, steps=3),
        lambda e: events.RandomizedResponse(epsilon=e, categories=40),
        lambda e: events.Exponential(epsilon=e),
    ]
    for make in makers:
        assert ZERO_CONCENTRATED.price(make(epsilon)) <= ZERO_CONCENTRATED.price(
            make(epsilon * factor)
        ) * (1 + Fraction(1, 10**6))


def test_an_approximate_event_sets_its_delta_apart_and_costs_the_rest_as_pure() -> None:
    from discreet.accounting import APPROXIMATELY_CONCENTRATED

    priced = APPROXIMATELY_CONCENTRATED.price(events.Approximate(epsilon=1, delta=1e-9))
    assert priced.rho == ZERO_CONCENTRATED.price(events.Pure(epsilon=1))
    assert priced.delta == Fraction(1e-9)


def test_a_concentrated_budget_charges_the_tight_price() -> None:
    from discreet.accounting import filter_for

    budget = filter_for(ApproxDP(epsilon=1, delta=1e-6, by=ZCDP))
    budget.record(events.Laplace(epsilon=0.1))
    spent = budget.spent()
    assert isinstance(spent, ZCDP)
    assert float(spent.rho) == pytest.approx(0.1 - 1 + math.exp(-0.1), rel=1e-9)
