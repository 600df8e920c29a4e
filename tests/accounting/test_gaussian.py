"""The Gaussian curve: oracles of the catalogue, and never below the truth."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from discreet import events
from discreet.accounting import gaussian_delta, gaussian_epsilon, gaussian_multiplier
from tests.accounting import normal

POINTS = [
    (z, epsilon)
    for z in (0.05, 0.3, 0.48448, 1.0, 1.7, 3.73063, 10.0, 123.456, 1e4, 1e6)
    for epsilon in (0.0, 1e-9, 1e-5, 0.01, 0.3, 1.0, 2.5, 10.0, 30.0, 200.0)
    if abs(epsilon * z) + 1 / (2 * z) < 36
]


@pytest.mark.parametrize(
    ("epsilon", "delta", "multiplier"),
    [(1, 1e-5, 3.73063), (0.5, 1e-5, 7.03183), (1, 1e-6, 4.22468)],
)
def test_multipliers_of_the_catalogue(epsilon: float, delta: float, multiplier: float) -> None:
    """000a:C5 and 004a:B7."""
    found = gaussian_multiplier(epsilon, delta)
    assert found == pytest.approx(multiplier, abs=5e-6)
    assert gaussian_epsilon(found, delta) == pytest.approx(epsilon)


def test_the_unit_point_of_the_curve() -> None:
    assert gaussian_delta(1, 1) == pytest.approx(0.126937, abs=5e-7)


def test_the_classic_calibration_fails_above_epsilon_one() -> None:
    """000a:C5: sound but wasteful at 1, unsound at 10."""
    classic = math.sqrt(2 * math.log(1.25 / 1e-5))
    assert classic == pytest.approx(4.8448, abs=5e-5)
    assert gaussian_delta(classic, 1) < 1e-5
    assert gaussian_delta(classic / 10, 10) == pytest.approx(2.27e-5, abs=1e-7)
    assert gaussian_multiplier(10, 1e-5) > classic / 10


def test_a_delta_is_not_a_tail_of_the_loss() -> None:
    """000a:A5: (1, 1e-5) holds, yet the loss exceeds 1 sixteen times as often."""
    sigma = 3.73063
    mean, deviation = 1 / (2 * sigma**2), 1 / sigma
    tail = stats.norm.sf((1 - mean) / deviation)
    assert gaussian_delta(sigma, 1) == pytest.approx(1e-5, rel=1e-4)
    assert tail == pytest.approx(1.612e-4, rel=1e-3)
    beyond_twice = stats.norm.sf((2 - mean) / deviation)
    assert beyond_twice <= 1e-5 / -math.expm1(-1), "the corrected statement"


@pytest.mark.parametrize(("z", "epsilon"), POINTS)
def test_the_curve_is_never_below_the_truth(z: float, epsilon: float) -> None:
    truth = normal.gaussian_delta(z, epsilon)
    stated = Decimal(gaussian_delta(z, epsilon))
    assert truth <= stated
    assert stated <= truth * (1 + Decimal("1e-5")) + Decimal("1e-300")


@pytest.mark.parametrize(
    ("z", "epsilon"),
    [(2027243804130.1104, 8.352919842550482e-12), (3610458187659.5596, 7.625402673058919e-12)],
)
def test_the_curve_is_never_below_the_truth_however_much_noise(z: float, epsilon: float) -> None:
    assert normal.gaussian_delta(z, epsilon) <= Decimal(gaussian_delta(z, epsilon))


def test_a_tiny_delta_is_not_zero() -> None:
    assert gaussian_delta(1, 100) > 0


@pytest.mark.parametrize(("z", "epsilon"), [p for p in POINTS if 0.1 <= p[0] <= 20 and p[1] <= 10])
def test_the_curve_agrees_with_integration(z: float, epsilon: float) -> None:
    mu = 1 / z
    edge = mu / 2 + epsilon / mu

    def excess(x: float) -> float:
        return max(0.0, float(stats.norm.pdf(x - mu) - math.exp(epsilon) * stats.norm.pdf(x)))

    value, _ = integrate.quad(excess, edge, edge + 60, limit=400, epsabs=1e-13)
    assert gaussian_delta(z, epsilon) == pytest.approx(value, rel=1e-6, abs=1e-11)


@pytest.mark.parametrize("z", [0.3, 1.0, 5.0, 50.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3, 0.3])
def test_inverses_are_on_the_private_side(z: float, delta: float) -> None:
    epsilon = gaussian_epsilon(z, delta)
    assert normal.gaussian_delta(z, epsilon) <= Decimal(delta)
    if epsilon > 0:
        assert normal.gaussian_delta(z, epsilon * (1 - 1e-9)) > Decimal(delta)
        multiplier = gaussian_multiplier(epsilon, delta)
        assert normal.gaussian_delta(multiplier, epsilon) <= Decimal(delta)
        assert multiplier == pytest.approx(z, rel=1e-9)


@given(st.floats(1e-3, 1e6), st.floats(0, 100))
def test_the_curve_falls_with_noise_and_epsilon(z: float, epsilon: float) -> None:
    here = gaussian_delta(z, epsilon)
    assert 0 <= here <= 1
    assert gaussian_delta(z * 1.01, epsilon) <= here * (1 + 1e-9)
    assert gaussian_delta(z, epsilon * 1.01 + 1e-9) <= here * (1 + 1e-9)


@pytest.mark.parametrize("multipliers", [[1.0], [3.0, 4.0], [2.0, 2.0, 2.0, 7.5], [1e3, 1e-1]])
def test_several_gaussians_are_one(multipliers: list[float]) -> None:
    together = sum((events.Gaussian(z) for z in multipliers), start=events.Nothing())
    one = 1 / math.sqrt(math.fsum(z**-2 for z in multipliers))
    for epsilon in (0.0, 0.5, 3.0):
        assert together.delta(epsilon=epsilon) == pytest.approx(gaussian_delta(one, epsilon))
    assert together.epsilon(delta=1e-6) == pytest.approx(gaussian_epsilon(one, 1e-6))


@pytest.mark.parametrize("times", [4, 100, 10_000])
def test_repeating_with_more_noise_changes_nothing(times: int) -> None:
    many = events.Gaussian(2 * math.sqrt(times)) * times
    once = events.Gaussian(2)
    assert many.epsilon(delta=1e-6) == pytest.approx(once.epsilon(delta=1e-6), rel=1e-9)


def test_the_continuous_curve_never_prices_the_discrete_law() -> None:
    from discreet.accounting import APPROX
    from discreet.core.errors import Unpriced

    with pytest.raises(Unpriced):
        APPROX.price(events.DiscreteGaussian(1, 1))
    assert events.DiscreteGaussian(1, 1).delta(epsilon=1) > gaussian_delta(1, 1)


def test_arrays_of_noise_are_one_release() -> None:
    """In any dimension the curve depends on the L2 distance alone: rotate it onto one axis."""
    rng = np.random.default_rng(1)
    shift = rng.normal(size=5)
    shift *= 0.7 / np.linalg.norm(shift)
    draws = rng.normal(size=(400_000, 5)) + shift
    loss = draws @ shift - 0.7**2 / 2
    estimate = np.maximum(0, 1 - np.exp(0.5 - loss)).mean()
    assert gaussian_delta(1 / 0.7, 0.5) == pytest.approx(estimate, abs=2e-3)
