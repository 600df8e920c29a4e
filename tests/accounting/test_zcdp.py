"""The zCDP accountant: conversion oracles, upward rounding, and soundness against exact laws."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet import events
from discreet.accounting import (
    APPROX,
    GAUSSIAN,
    PRIVACY_LOSS,
    PURE,
    RENYI,
    ZERO_CONCENTRATED,
    calibrate,
    filter_for,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_multiplier,
    zcdp_delta,
    zcdp_epsilon,
    zcdp_rho,
)
from discreet.core.errors import InvalidParameter, Unpriced
from discreet.core.guarantee import ApproxDP
from tests.accounting import normal

RHOS = (1e-8, 1e-4, 0.018, 0.5, 1.0, 7.0, 300.0)


def test_the_oracle_of_the_catalogue() -> None:
    """004a:D7."""
    assert zcdp_epsilon(0.5, 1e-6) == pytest.approx(5.22153, abs=5e-6)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize("delta", [1e-30, 1e-9, 1e-6, 1e-3, 0.1])
def test_epsilons_round_upward(rho: float, delta: float) -> None:
    truth = max(Decimal(0), normal.concentrated_epsilon(rho, delta))
    stated = Decimal(zcdp_epsilon(rho, delta))
    assert truth <= stated <= truth * (1 + Decimal("1e-9")) + Decimal("1e-9")


@pytest.mark.parametrize(
    ("rho", "epsilon"),
    [
        *itertools.product(RHOS[1:], [1e-3, 0.1, 1.0, 5.0, 40.0]),
        (1e-8, 1e-3),
    ],
)
def test_deltas_round_upward(rho: float, epsilon: float) -> None:
    log_delta = normal.concentrated_log_delta(rho, epsilon)
    stated = zcdp_delta(rho, epsilon)
    if log_delta > -700:
        truth = min(Decimal(1), log_delta.exp())
        assert truth <= Decimal(stated) <= truth * (1 + Decimal("1e-6"))


def test_a_tiny_delta_is_not_zero() -> None:
    assert zcdp_delta(0.5, 200) > 0


@given(st.floats(0.01, 20), st.floats(1e-12, 0.1))
def test_the_largest_rho_is_on_the_private_side(epsilon: float, delta: float) -> None:
    rho = zcdp_rho(epsilon, delta)
    assert zcdp_epsilon(rho, delta) <= epsilon
    assert zcdp_epsilon(rho * (1 + 1e-9), delta) > epsilon * (1 - 1e-9)


@given(st.floats(0.05, 50), st.floats(0, 50))
def test_the_conversion_covers_the_exact_gaussian(z: float, epsilon: float) -> None:
    rho = Fraction(1) / (2 * Fraction(z) ** 2)
    assert ZERO_CONCENTRATED.price(events.Gaussian(z)) == rho
    assert zcdp_delta(float(rho), epsilon) >= gaussian_delta(z, epsilon) * (1 - 1e-9)


def test_better_than_the_simple_conversion() -> None:
    for rho in RHOS:
        simple = rho + 2 * math.sqrt(rho * math.log(1e6))
        assert zcdp_epsilon(rho, 1e-6) < simple


def test_prices() -> None:
    """Those of pure events are in test_tight_rho."""
    price = ZERO_CONCENTRATED.price
    assert price(events.DiscreteGaussian(2, 5)) == Fraction(1, 8)
    laplace = price(events.Laplace(epsilon=1))
    assert price(events.Gaussian(2) * 8 + events.Laplace(epsilon=1)) == 1 + laplace
    with pytest.raises(Unpriced):
        price(events.Approximate(epsilon=1, delta=1e-6))


def test_many_small_pure_events_cost_less_than_their_sum() -> None:
    many = events.Laplace(epsilon=0.1) * 1000
    assert many.epsilon(delta=1e-6) < 25 < PURE.epsilon(many, 1e-6)


def test_nothing_costs_nothing() -> None:
    nothing = events.Nothing()
    assert nothing.epsilon(delta=0) == 0
    assert nothing.delta(epsilon=0) == 0
    assert zcdp_epsilon(0, 1e-6) == zcdp_delta(0, 0) == 0


def test_without_delta_there_is_no_conversion() -> None:
    assert ZERO_CONCENTRATED.epsilon(events.Gaussian(1), 0) == math.inf
    assert events.Gaussian(1).epsilon(delta=0) == math.inf
    assert events.Laplace(epsilon=0.5).epsilon(delta=0) == 0.5


def test_a_price_without_a_number_is_infinite_and_what_needs_a_number_refuses() -> None:
    """One rule for events, accountants and functions."""
    gaussian = events.Gaussian(1)
    assert gaussian.epsilon(delta=0) == math.inf
    assert gaussian_epsilon(1, 0) == zcdp_epsilon(0.5, 0) == math.inf
    assert events.DiscreteGaussian(1, 1).epsilon(delta=0) == math.inf
    for accountant in (APPROX, GAUSSIAN, PRIVACY_LOSS, RENYI, ZERO_CONCENTRATED):
        assert gaussian.with_accountant(accountant).epsilon(delta=0) == math.inf
    refusing: list[Callable[[], object]] = [
        lambda: gaussian_multiplier(1, 0),
        lambda: zcdp_rho(1, 0),
        lambda: calibrate(events.Gaussian, epsilon=1, delta=0),
        lambda: filter_for(ApproxDP(epsilon=1, delta=1e-6)).record(gaussian, delta=0),
    ]
    for refuse in refusing:
        with pytest.raises((InvalidParameter, Unpriced)):
            refuse()


def renyi(p: list[float], q: list[float], alpha: float) -> float:
    return math.log(sum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))) / (
        alpha - 1
    )


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_pure_price_covers_randomized_response_at_every_order(epsilon: float) -> None:
    keep = 1 / (1 + math.exp(-epsilon))
    p, q = [keep, 1 - keep], [1 - keep, keep]
    for alpha in (1.01, 1.5, 2, 5, 40):
        assert renyi(p, q, alpha) <= epsilon**2 / 2 * alpha


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_bounded_range_price_covers_the_exponential_mechanism(epsilon: float) -> None:
    """Scores of two candidates in the worst case: log-odds move within a range of epsilon."""
    for shift in range(21):
        base = (shift / 20 - 0.5) * 3 * epsilon
        laws = []
        for odds in (base, base + epsilon):
            first = 1 / (1 + math.exp(-odds))
            laws.append([first, 1 - first])
        p, q = laws
        for alpha in (1.01, 2, 8):
            assert renyi(p, q, alpha) <= epsilon**2 / 8 * alpha * (1 + 1e-12)
            assert renyi(q, p, alpha) <= epsilon**2 / 8 * alpha * (1 + 1e-12)
