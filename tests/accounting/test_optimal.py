"""Optimal composition against brute force, rational arithmetic and the documents' tables."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import events
from discreet.accounting import mixed
from discreet.accounting.binomial import BiasedCoin, log_masses, mass_from, mass_to
from discreet.accounting.gaussian import gaussian_epsilon
from discreet.accounting.mixed import Copies, mixed_delta, mixed_epsilon, mixed_epsilon_bounds
from discreet.accounting.optimal import optimal_delta, optimal_epsilon
from discreet.accounting.optimal_events import OPTIMAL
from discreet.accounting.zcdp import zcdp_epsilon
from discreet.core.errors import InvalidParameter, Unpriced
from discreet.theory.composition import concentrated_epsilon
from tests.processor_time import at_most


def enumerated(losses: list[float], slacks: list[float], epsilon: float) -> float:
    """delta by all 2**k sets, as printed (004a:D13)."""
    total = 0.0
    for signs in itertools.product((1, -1), repeat=len(losses)):
        mass = math.prod(1 / (1 + math.exp(-s * e)) for s, e in zip(signs, losses, strict=True))
        loss = math.fsum(s * e for s, e in zip(signs, losses, strict=True))
        total += mass * max(0.0, -math.expm1(epsilon - loss))
    return 1 - math.prod(1 - d for d in slacks) * (1 - total)


def rational_delta(odds: Fraction, times: int, power: int) -> Fraction:
    """delta at epsilon = power * ln(odds), exactly."""
    total = sum(
        (
            math.comb(times, j) * (odds**j - odds ** (power + times - j))
            for j in range(times + 1)
            if 2 * j - times > power
        ),
        Fraction(0),
    )
    return total / (1 + odds) ** times


def test_oracles() -> None:
    x = math.e
    expected = x**2 / (1 + x) ** 2 * (1 - 1 / math.e)
    assert optimal_delta(loss=1, slack=0, times=2, epsilon=1) == pytest.approx(0.337835, abs=5e-7)
    assert optimal_delta(loss=1, slack=0, times=2, epsilon=1) == pytest.approx(expected, rel=1e-11)
    assert optimal_epsilon(loss=0.1, slack=1e-9, times=100, delta=1e-6) == pytest.approx(
        4.78772, abs=5e-6
    )


@pytest.mark.parametrize(
    ("k", "advanced", "concentrated", "optimal", "gaussian"),
    [
        (10, 1.7123, 1.4716, 0.9994, 0.9405),
        (100, 5.7565, 5.2215, 4.7746, 3.3076),
        (200, 8.4338, 7.7662, 7.1856, 4.8866),
        (500, 14.2539, 13.3737, 12.5179, 8.3062),
        (1000, 21.6226, 20.5519, 19.3447, 12.5952),
    ],
)
def test_figure_3_1(
    k: int, advanced: float, concentrated: float, optimal: float, gaussian: float
) -> None:
    near = 5.1e-5
    assert concentrated_epsilon([0.1] * k, slack=1e-6) == pytest.approx(advanced, abs=near)
    assert zcdp_epsilon(k * 0.1**2 / 2, 1e-6) == pytest.approx(concentrated, abs=near)
    assert optimal_epsilon(loss=0.1, slack=0, times=k, delta=1e-6) == pytest.approx(
        optimal, abs=near
    )
    assert gaussian_epsilon(math.sqrt(200 / k), 1e-6) == pytest.approx(gaussian, abs=near)


@pytest.mark.parametrize(("odds", "times"), [(Fraction(2), 30), (Fraction(11, 10), 200)])
def test_deltas_are_above_exact_ones_by_a_hair(odds: Fraction, times: int) -> None:
    # A float just below ln(odds), so that the exact curve at odds is no lower than the true one.
    loss = math.log(float(odds))
    for power in range(0, times, 7):
        truth = rational_delta(odds, times, power)
        got = optimal_delta(loss=loss, slack=0, times=times, epsilon=power * Fraction(loss))
        assert float(truth) * (1 - 1e-11) <= got <= float(truth) * (1 + 1e-9)


def test_tiny_deltas_and_many_mechanisms() -> None:
    with at_most(10):
        for loss, delta, rough in [
            (1e-3, 1e-6, 19.42),
            (1e-3, 1e-30, 40.83),
            (1.0, 1e-30, 4653299.7),
        ]:
            epsilon = optimal_epsilon(loss=loss, slack=0, times=10**7, delta=delta)
            assert epsilon == pytest.approx(rough, rel=1e-3)
            assert optimal_delta(loss=loss, slack=0, times=10**7, epsilon=epsilon) <= delta
            drift = loss * math.tanh(loss / 2) * 10**7
            spread = math.sqrt(2 * 10**7 * math.log(1 / delta)) * loss
            assert epsilon < drift + spread
        assert optimal_epsilon(loss=1e4, slack=0, times=10**7, delta=1e-30) <= 1e11


def test_leaks_alone() -> None:
    """With epsilon zero exactly 1 - (1 - delta)**k <= k delta is left (000b:B51)."""
    for k, slack in [(1, 0.1), (5, 0.1), (1000, 1e-9)]:
        got = optimal_delta(loss=0, slack=slack, times=k, epsilon=0)
        assert got == pytest.approx(-math.expm1(k * math.log1p(-slack)), rel=1e-9)
        assert got <= k * slack * (1 + 1e-11)
    assert optimal_epsilon(loss=0.1, slack=1e-3, times=10, delta=1e-3) == math.inf
    assert optimal_epsilon(loss=0.1, slack=0, times=10, delta=0) == pytest.approx(1)


def test_logarithms_of_binomials_keep_within_their_error() -> None:
    for trials, top, bottom in [(40, 3, 4), (500, 2, 3), (3000, 1, 2)]:
        p = Fraction(top, bottom)
        j = np.arange(0, trials + 1, max(1, trials // 40), dtype=np.float64)
        log, error = log_masses(j, trials, BiasedCoin(float(p), float(1 - p)))
        for x, value, bound in zip(j.astype(int).tolist(), log, error, strict=True):
            mass = math.comb(trials, x) * p**x * (1 - p) ** (trials - x)
            scale = 1 << max(0, mass.denominator.bit_length() - mass.numerator.bit_length())
            truth = math.log(mass * scale) - math.log(2) * (scale.bit_length() - 1)
            assert abs(value - truth) <= bound + 1e-15 * abs(truth) + 1e-15
            assert bound < 1e-10


def test_tail_bounds_are_above_the_tails() -> None:
    coin = BiasedCoin(0.6, 0.4)
    masses = [math.comb(50, j) * 0.6**j * 0.4 ** (50 - j) for j in range(51)]
    for j in range(52):
        assert mass_from(j, 50, coin) >= sum(masses[j:]) * (1 - 1e-12)
        assert mass_to(j - 1, 50, coin) >= sum(masses[:j]) * (1 - 1e-12)
    assert mass_from(45, 50, coin) < 3 * sum(masses[45:])


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.0, 2.5])
def test_mixed_composition_by_enumeration(epsilon: float) -> None:
    losses, slacks = [0.1, 0.3, 0.3, 0.9, 1.5], [0, 1e-3, 0, 1e-4, 1e-2]
    parts = [Copies(loss=e, slack=d) for e, d in zip(losses, slacks, strict=True)]
    truth = enumerated(losses, slacks, epsilon)
    got = mixed_delta(parts, epsilon=epsilon)
    assert truth * (1 - 1e-12) <= got <= truth * (1 + 1e-10) + 1e-15


def test_equal_losses_are_the_homogeneous_case() -> None:
    parts = [Copies(loss=0.1, slack=1e-9, times=60), Copies(loss=0.1, slack=1e-9, times=40)]
    assert mixed_epsilon(parts, delta=1e-6) == pytest.approx(4.78772, abs=5e-6)
    close = [Copies(loss=0.1 * (1 + 1e-13 * i), slack=0) for i in range(15)]
    alike = optimal_epsilon(loss=0.1, slack=0, times=15, delta=1e-6)
    assert mixed_epsilon(close, delta=1e-6) == pytest.approx(alike, rel=1e-9)


def test_the_grid_bounds_the_exact_value_from_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [Copies(loss=0.05 + 0.01 * i, slack=1e-8, times=1 + i % 2) for i in range(12)]
    deltas = [1e-2, 1e-6]
    exact = [mixed_epsilon_bounds(parts, delta=d) for d in deltas]
    for low, high in exact:
        assert low <= high <= low * (1 + 1e-9)
    monkeypatch.setattr(mixed, "LISTED", 1)
    mixed._law.cache_clear()
    gridded = [mixed_epsilon_bounds(parts, delta=d) for d in deltas]
    mixed._law.cache_clear()
    for (low, high), (grid_low, grid_high) in zip(exact, gridded, strict=True):
        assert grid_low <= low
        assert high * (1 - 1e-11) <= grid_high <= high * (1 + 1e-4)
        assert grid_low >= 0.98 * low


def test_many_different_losses() -> None:
    parts = [Copies(loss=0.1 * (1 + 1e-9 * i), slack=0) for i in range(300)]
    alike = optimal_epsilon(loss=0.1, slack=0, times=300, delta=1e-6)
    low, high = mixed_epsilon_bounds(parts, delta=1e-6)
    assert low <= alike * (1 + 1e-6)
    assert alike <= high <= alike * (1 + 1e-5)
    few = [Copies(loss=1e-3 * (1 + 1e-9 * i), slack=0, times=10**6) for i in range(10)]
    alike = optimal_epsilon(loss=1e-3, slack=0, times=10**7, delta=1e-30)
    low, high = mixed_epsilon_bounds(few, delta=1e-30)
    assert low <= alike * (1 + 1e-6)
    assert alike <= high <= alike * (1 + 1e-3)


def test_a_twin_that_rounds_losses_down_is_caught() -> None:
    """Rounding to a grid is an upper bound upwards only."""
    losses = [0.14, 0.26, 0.37]
    truth = enumerated(losses, [0] * 3, 0.4)
    assert enumerated([0.1, 0.2, 0.3], [0] * 3, 0.4) < truth
    assert enumerated([0.2, 0.3, 0.4], [0] * 3, 0.4) > truth


def test_the_accountant_prices_what_is_exact() -> None:
    event = events.Approximate(epsilon=0.1, delta=1e-9) * 100
    assert OPTIMAL.epsilon(event, 1e-6) == pytest.approx(4.78772, abs=5e-6)
    mix = events.Laplace(epsilon=0.3) * 2 + events.Exponential(epsilon=0.5)
    assert OPTIMAL.delta(mix, 0.4) == pytest.approx(enumerated([0.3, 0.3, 0.5], [0] * 3, 0.4))
    assert OPTIMAL.epsilon(events.Nothing(), 0.0) == 0
    with pytest.raises(Unpriced):
        OPTIMAL.epsilon(events.Gaussian(noise_multiplier=1), 1e-6)
    many = events.compose(tuple(events.Laplace(epsilon=0.1 + i / 1000) for i in range(30)))
    with pytest.raises(Unpriced):
        OPTIMAL.epsilon(many, 1e-6)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(InvalidParameter):
        optimal_delta(loss=-1, slack=0, times=2, epsilon=1)
    with pytest.raises(InvalidParameter):
        optimal_delta(loss=1, slack=1, times=2, epsilon=1)
    with pytest.raises(InvalidParameter, match="copies_expected"):
        mixed_delta([], epsilon=1)
