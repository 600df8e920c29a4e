"""Amounts: what is shown of them is rounded to the side on which nobody is promised too much."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import pytest

from discreet import events
from discreet.accounting.adaptive import filter_for
from discreet.accounting.adaptive.orders import renyi_budget, renyi_price
from discreet.accounting.adaptive.steps import (
    STEPS,
    number_down,
    number_up,
    steps_down,
    steps_up,
)
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number, exact

AMOUNTS = [Fraction(n, d) for n in (1, 2, 5, 10**9 + 7) for d in (3, 7, 999, 10**7 + 19, 3**40)]


@pytest.mark.parametrize("amount", AMOUNTS)
def test_what_was_spent_is_shown_no_smaller_and_what_remains_no_larger(amount: Fraction) -> None:
    up, down = steps_up(amount), steps_down(amount)
    assert Fraction(down, STEPS) <= amount <= Fraction(up, STEPS)
    assert up - down <= 1
    spent, left = number_up(up), number_down(down)
    assert exact(left) <= amount <= exact(spent)
    assert exact(math.nextafter(spent, 0)) < amount < exact(math.nextafter(left, math.inf))


def test_floats_are_shown_as_they_are() -> None:
    for amount in (0.1, 1e-300, 5e-324, 3.0, sys.float_info.max):
        steps = steps_up(exact(amount))
        assert steps == steps_down(exact(amount))
        assert number_up(steps) == number_down(steps) == amount
    beyond = steps_up(exact(sys.float_info.max) * 2)
    assert number_up(beyond) == math.inf
    assert number_down(beyond) == sys.float_info.max


@pytest.mark.parametrize("third", [Fraction(1, 3), Fraction(2, 7)])
def test_a_filter_never_shows_less_spent_or_more_left_than_there_is(third: Fraction) -> None:
    budget = filter_for(PureDP(epsilon=1))
    budget.record(events.Laplace(epsilon=third))
    spent, left = budget.spent(), budget.remaining()
    assert isinstance(spent, PureDP)
    assert isinstance(left, PureDP)
    assert exact(spent.epsilon) >= third
    assert exact(left.epsilon) <= 1 - third


def laplace_divergence(epsilon: float, alpha: float) -> float:
    """The Rényi divergence of Laplace noise, in its printed form."""
    weight = alpha / (2 * alpha - 1)
    moment = weight * math.exp((alpha - 1) * epsilon) + (1 - weight) * math.exp(-alpha * epsilon)
    return math.log(moment) / (alpha - 1)


@pytest.mark.parametrize("alpha", [2.06, 7.99, Fraction(10, 3), Fraction(100, 49)])
def test_the_price_at_an_order_is_not_that_of_a_lower_one(alpha: Number) -> None:
    price = renyi_price(events.Laplace(epsilon=1), alpha)
    truth = laplace_divergence(1, float(alpha))
    assert truth * (1 - 1e-12) <= price <= truth * (1 + 1e-9)


@pytest.mark.parametrize("alpha", [2.06, Fraction(10, 3), 33])
def test_the_budget_of_an_order_converts_back_to_no_more(alpha: Number) -> None:
    order, delta = float(alpha), 1e-6
    budget = renyi_budget(alpha, epsilon=8, delta=delta)
    back = budget + math.log1p(-1 / order) - (math.log(delta) + math.log(order)) / (order - 1)
    assert 8 - 1e-9 <= back <= 8
