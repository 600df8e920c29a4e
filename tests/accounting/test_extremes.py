"""One rule for prices without end: a number, infinity included, or words about what was given.

Events with parameters from the least float to beyond the largest, under every accountant and
every report. Infinity and one always hold; nothing on the way may be mistaken for a parameter.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from discreet import events
from discreet.accounting import (
    APPROX,
    APPROXIMATELY_CONCENTRATED,
    GAUSSIAN,
    OPTIMAL,
    PRIVACY_LOSS,
    PURE,
    RENYI,
    SHUFFLED,
    ZERO_CONCENTRATED,
    calibrate,
)
from discreet.accounting.adaptive import PrivacyFilter, PureFilter, RenyiFilter, ZCDPFilter
from discreet.accounting.gaussian import gaussian_epsilon, gaussian_multiplier
from discreet.accounting.key_selection import (
    _gaussian_deltas,
    alone,
    bound_showing_chance,
    threshold_delta,
)
from discreet.core.errors import DiscreetError, Exhausted, InvalidParameter, Unpriced
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, PureDP, RenyiDP

ACCOUNTANTS = (
    PURE,
    APPROX,
    ZERO_CONCENTRATED,
    APPROXIMATELY_CONCENTRATED,
    GAUSSIAN,
    RENYI,
    OPTIMAL,
    SHUFFLED,
    PRIVACY_LOSS,
)
HUGE = 10**400
NUMBERS: tuple[Any, ...] = (
    *(5e-324, 1e-300, 1e-160, 1e-20, 1e-3, 0.7, 24.5, 701.0, 1e16, 1e160, 1e300),
    *(HUGE, Fraction(1, HUGE)),
)
DELTAS: tuple[Any, ...] = (5e-324, 1e-300, 1e-20, 1e-6, 0.5, 1 - 2**-53, Fraction(1, HUGE))
COUNTS = (1, 2, 5, 17, 4096, 10**9, 10**18, 10**320)
RATES = (5e-324, 1e-20, 0.01, 1 - 2**-53, Fraction(1, HUGE))

ENDLESS = (
    events.Gaussian(1e-160),
    events.Laplace(epsilon=1e300) * 10**9,
    events.Pure(epsilon=HUGE),
    events.DiscreteGaussian(1e-200, 1),
    events.RandomizedResponse(epsilon=HUGE, categories=100),
    events.Exponential(epsilon=1e200) * 10**200,
)


def _basic(draw: random.Random) -> Event:
    loss, steps = draw.choice(NUMBERS), draw.choice(COUNTS)
    kinds: list[Callable[[], Event]] = [
        lambda: events.Pure(epsilon=loss),
        lambda: events.Approximate(epsilon=loss, delta=draw.choice((0, *DELTAS))),
        lambda: events.Laplace(epsilon=loss),
        lambda: events.DiscreteLaplace(epsilon=loss, steps=steps),
        lambda: events.Gaussian(loss),
        lambda: events.DiscreteGaussian(draw.choice((loss, draw.choice(NUMBERS))), loss),
        lambda: events.Exponential(epsilon=loss),
        lambda: events.SparseVector(epsilon=loss, cutoff=steps),
        lambda: events.RandomizedResponse(epsilon=loss, categories=steps + 1),
        lambda: events.Shuffled(events.Pure(epsilon=loss), people=steps),
        lambda: events.Tuned(events.Gaussian(loss), events.PoissonRuns(mean=draw.choice(NUMBERS))),
        lambda: events.KeySelection(epsilon=loss, delta=draw.choice(DELTAS), groups=3, swaps=1),
        lambda: events.GaussianThreshold(
            epsilon=loss, delta=draw.choice(DELTAS), groups=steps, swaps=2
        ),
    ]
    return draw.choice(kinds)()


def extreme(draw: random.Random) -> Event:
    """An event, perhaps on a sample, perhaps repeated, perhaps beside another."""
    made = _basic(draw)
    if draw.random() < 0.3 and made.relation() is None:
        size = draw.choice(COUNTS)
        samples: list[Callable[[], Event]] = [
            lambda: made.subsample(rate=draw.choice(RATES)),
            lambda: made.subsample(size=(size + 1) // 2, of=size),
        ]
        made = draw.choice(samples)()
    made = made * draw.choice(COUNTS) if draw.random() < 0.4 else made
    other = _basic(draw)
    return made + other if {made.relation(), other.relation()} == {None} else made


def reports(event: Event, delta: float, epsilon: float) -> dict[str, Callable[[], Any]]:
    """Everything an event can be asked."""
    asked: dict[str, Callable[[], Any]] = {
        "epsilon": lambda: event.epsilon(delta=delta),
        "delta": lambda: event.delta(epsilon=epsilon),
        "bounds": lambda: event.epsilon_bounds(delta=delta),
        "rdp": lambda: event.rdp(orders=[1 + 1e-9, 2, 32, 1e15]),
        "zcdp": lambda: event.zcdp().rho,
        "gdp": lambda: event.gdp().mu,
        "pld": lambda: len(event.pld().parts),
    }
    for each in ACCOUNTANTS:
        priced, name = event.with_accountant(each), type(each).__name__
        asked[f"epsilon {name}"] = partial(priced.epsilon, delta=delta)
        asked[f"delta {name}"] = partial(priced.delta, epsilon=epsilon)
    return asked


def is_price(name: str, answer: Any) -> bool:
    """Whether the answer is a number of its kind."""
    numbers = np.asarray(answer, dtype=np.float64)
    most = 1.0 if name.startswith("delta") else math.inf
    return bool(((numbers >= 0) & (numbers <= most)).all())


def all_answer(seed: int, size: int) -> None:
    """Every report of so many events is a price or Unpriced."""
    draw = random.Random(seed)
    for _ in range(size):
        event, delta = extreme(draw), draw.choice((0, *DELTAS))
        for name, ask in reports(event, delta, draw.choice((0, *NUMBERS))).items():
            try:
                answer = ask()
            except Unpriced:
                continue
            except (DiscreetError, ArithmeticError, ValueError, MemoryError) as failure:
                pytest.fail(f"{name} of {event} at {delta}: {failure!r}")
            assert is_price(name, answer), (name, event, delta, answer)


@pytest.mark.parametrize("seed", range(4))
def test_extreme_events_have_prices_or_none(seed: int) -> None:
    all_answer(seed, 12)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 106))
def test_many_extreme_events_have_prices_or_none(seed: int) -> None:
    all_answer(seed, 80)


@pytest.mark.parametrize("event", ENDLESS, ids=range(6))
def test_a_price_without_end_is_infinite(event: Event) -> None:
    """Beyond floats, or beyond what the event promises: the number itself says so."""
    price = event.epsilon(delta=1e-300)
    assert price > 1e200
    assert event.delta(epsilon=1) == 1
    assert event.epsilon_bounds(delta=1e-300)[1] == price
    assert event.tradeoff()(0.5)[0] == 0
    for order in event.rdp(orders=[2, 8]):
        assert order > 1e200


@pytest.mark.parametrize("event", ENDLESS[:3], ids=range(3))
def test_a_guarantee_needs_a_number(event: Event) -> None:
    with pytest.raises(Unpriced) as refusal:
        (event * 10**300).zcdp()
    assert refusal.value.code == "price_infinite"
    with pytest.raises(Unpriced) as refusal:
        (event * 10**300).gdp()
    assert refusal.value.code == "price_infinite"


def test_filters_refuse_what_no_limit_can_hold() -> None:
    """They compare exact amounts, so that no price is too large to be refused."""
    filters: tuple[PrivacyFilter, ...] = (
        ZCDPFilter(limit=ZCDP(rho=1)),
        PureFilter(limit=PureDP(epsilon=1)),
        RenyiFilter(limit=RenyiDP(alpha=8, epsilon=1)),
    )
    for budget in filters:
        for event in (events.Laplace(epsilon=HUGE), events.Laplace(epsilon=1e300) * 10**320):
            with pytest.raises(Exhausted):
                budget.record(event)


def test_tiny_losses_are_not_rounded_to_none() -> None:
    """mu squared of a loss of 1e-200 is below the least float, and the loss is still one."""
    tiny = events.Pure(epsilon=1e-200)
    assert GAUSSIAN.price(tiny) > 0
    assert tiny.with_accountant(GAUSSIAN).epsilon(delta=1e-300) >= 1e-200
    assert tiny.with_accountant(GAUSSIAN).delta(epsilon=0) >= 1e-201
    assert GAUSSIAN.price(tiny * 10**320) > 0
    assert GAUSSIAN.price(events.Nothing() * 5) == 0


def test_deltas_that_add_up_beyond_one_are_one() -> None:
    many = events.Approximate(epsilon=1, delta=0.9) * 1000
    assert many.with_accountant(APPROX).delta(epsilon=1000) == 1


def test_noise_that_cannot_be_drawn_is_refused_with_words() -> None:
    with pytest.raises(InvalidParameter) as refusal:
        gaussian_multiplier(5e-324, 1e-320)
    assert refusal.value.code == "target_out_of_reach"
    with pytest.raises(InvalidParameter) as refusal:
        calibrate(events.Gaussian, epsilon=1, delta=0)
    assert refusal.value.code == "target_out_of_reach"
    spent = gaussian_multiplier(1e100, 1e-6)
    assert gaussian_epsilon(spent, 1e-6) <= 1e100


def test_very_many_groups_are_judged_in_stretches() -> None:
    """Above what the list of all numbers of groups says, and close to it."""
    sigma, threshold, groups = 3000.0, 20_000, 1 << 17
    unique = np.arange(0, groups + 1, 512, dtype=np.float64)
    shows = np.array([bound_showing_chance(alone(sigma, threshold), int(u)) for u in unique])
    hidden = _gaussian_deltas(np.sqrt(groups - unique) / sigma, 0.1)
    listed = float((shows + (1 - shows) * hidden).max())
    found = threshold_delta(sigma, threshold, groups, 1, 0.1)
    assert listed <= found <= listed * 1.01
    assert threshold_delta(1e15, 10**17, 10**18, 1, 0.1) < 1
