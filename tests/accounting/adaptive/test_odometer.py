"""Odometers: running totals, and what they prove at a moment of the adversary's choice."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache

import pytest

from discreet import events
from discreet.accounting import zcdp_epsilon
from discreet.accounting.adaptive import (
    ApproxOdometer,
    ConvertedOdometer,
    PureOdometer,
    RenyiOdometer,
    ZCDPOdometer,
)
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, ApproxDP, PureDP, RenyiDP
from discreet.core.interactive import Filter, Odometer
from discreet.core.unit import Row


def test_totals_add_up_without_limit() -> None:
    pure = PureOdometer(unit=Row())
    for _ in range(3):
        pure.record(events.Laplace(epsilon=100.5))
    assert pure.spent() == PureDP(epsilon=301.5, unit=Row())
    approx = ApproxOdometer()
    approx.record(events.Approximate(epsilon=1, delta=0.25))
    approx.record(events.Laplace(epsilon=1))
    assert approx.spent() == ApproxDP(epsilon=2.0, delta=0.25)
    rho = ZCDPOdometer()
    rho.record(events.Gaussian(noise_multiplier=0.5) * 4)
    assert rho.spent() == ZCDP(rho=8.0)
    order = RenyiOdometer(alpha=3)
    order.record(events.Gaussian(noise_multiplier=1))
    assert order.spent() == RenyiDP(alpha=3, epsilon=1.5)
    assert isinstance(order, Odometer)
    assert not isinstance(order, Filter)
    assert repr(order) == f"RenyiOdometer(spent={order.spent()})"


def test_a_sum_of_deltas_that_reaches_one_promises_nothing() -> None:
    odometer = ApproxOdometer()
    for _ in range(4):
        odometer.record(events.Approximate(epsilon=1, delta=0.25))
    with pytest.raises(InvalidParameter):
        odometer.spent()


def test_the_ladder_pays_for_not_knowing_when_one_stops() -> None:
    odometer = ZCDPOdometer.converted(delta=1e-6, first=0.01)
    assert isinstance(odometer, ConvertedOdometer)
    assert odometer.spent() == ApproxDP(epsilon=0, delta=0)
    last = 0.0
    for answers in range(1, 200):
        odometer.record(events.Gaussian(noise_multiplier=10))  # rho 1/200
        spent = odometer.spent()
        assert isinstance(spent, ApproxDP)
        assert spent.delta == 1e-6
        # Never below what a filter fixed at this rho would say, and less than twice that.
        fixed = zcdp_epsilon(answers / 200, 1e-6)
        assert max(fixed, last) <= spent.epsilon < 2 * fixed
        last = float(spent.epsilon)
    rungs = sum(1 / ((j + 1) * (j + 2)) for j in range(2_000))
    assert rungs < 1


MENU = (0.5, 1.0, 2.0)
DEPTH = 3
NODES = [history for depth in range(DEPTH) for history in itertools.product((0, 1), repeat=depth)]


@cache
def reading(costs: tuple[float, ...], first: float, delta: float) -> float:
    odometer = ZCDPOdometer.converted(delta=delta, first=first)
    for epsilon in costs:
        odometer.record(events.RandomizedResponse(epsilon=epsilon, categories=2))
    spent = odometer.spent()
    assert isinstance(spent, ApproxDP)
    return float(spent.epsilon)


@pytest.mark.parametrize("delta", [0.9, 0.5])
def test_the_reading_holds_wherever_the_adversary_stops(delta: float) -> None:
    """Every adaptive choice of costs and stopping time: sum of (P - exp(E) Q)+ is within delta."""
    stop = 0.0
    worst = 0.0
    for choice in itertools.product((*MENU, stop), repeat=len(NODES)):
        strategy = dict(zip(NODES, choice, strict=True))
        if strategy[()] == stop:
            continue
        excess = 0.0
        leaves: list[tuple[tuple[int, ...], tuple[float, ...], float, float]] = [((), (), 1.0, 1.0)]
        while leaves:
            history, costs, p, q = leaves.pop()
            epsilon = strategy.get(history, stop)
            if epsilon == stop:
                excess += max(0.0, p - math.exp(reading(costs, 0.5, delta)) * q)
                continue
            keep = 1 / (1 + math.exp(-epsilon))
            leaves.append(((*history, 0), (*costs, epsilon), p * keep, q * (1 - keep)))
            leaves.append(((*history, 1), (*costs, epsilon), p * (1 - keep), q * keep))
        worst = max(worst, excess)
    assert 0 < worst <= delta


@pytest.mark.parametrize(
    ("rho", "top", "rung"),
    [(0.001, 0.01, 0), (0.01, 0.01, 0), (0.011, 0.02, 1), (0.02, 0.02, 1), (0.3, 0.32, 5)],
)
def test_a_converted_odometer_shows_the_top_of_its_rung_at_the_rungs_own_part_of_delta(
    rho: float, top: float, rung: int
) -> None:
    """Neither the rho at which one stopped nor the whole delta: only rungs were fixed before."""
    delta, first = 1e-6, 0.01
    odometer = ZCDPOdometer.converted(delta=delta, first=first)
    odometer.record(events.Gaussian(noise_multiplier=1 / math.sqrt(2 * rho) * (1 + 1e-12)))
    shown = odometer.spent()
    assert isinstance(shown, ApproxDP)
    part = delta / ((rung + 1) * (rung + 2))
    assert shown.epsilon == pytest.approx(zcdp_epsilon(top, part), rel=1e-9)
    assert shown.delta == delta
    assert shown.epsilon > zcdp_epsilon(top, delta) * 1.001


def test_the_parts_of_all_rungs_are_one_delta() -> None:
    shares = [Fraction(1, (j + 1) * (j + 2)) for j in range(2_000)]
    assert 1 - Fraction(1, 1_000) < sum(shares) < 1
