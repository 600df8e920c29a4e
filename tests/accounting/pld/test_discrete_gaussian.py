"""The discrete Gaussian's own law: against all outcomes listed, in every direction, never below.

The truth here is enumerated: masses of a product of discrete laws, added up by their loss. It
shares nothing with the code but the definition of the mechanism.
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet import events
from discreet.accounting import PRIVACY_LOSS, gaussian_delta
from discreet.accounting.pld.lattice_pair import LatticePair, directions
from discreet.accounting.pld.leaked_pair import LeakedPair
from discreet.core.errors import Unpriced
from discreet.core.events.event import Event
from discreet.mechanisms import DiscreteGaussian

Law = dict[int, float]
"""The P-masses of Y = v·x, whose loss is (2 Y - |v|**2) / 2 sigma**2."""


def discrete(sigma: float, step: int) -> Law:
    far = math.ceil(12 * sigma) + 8
    weights = {x: math.exp(-x * x / (2 * sigma * sigma)) for x in range(-far, far + 1)}
    whole = math.fsum(weights.values())
    return {step * x: weight / whole for x, weight in weights.items()}


def moved(sigma: float, move: tuple[int, ...]) -> dict[float, tuple[float, float]]:
    """For each loss its P- and Q-mass, where the vector moves by ``move``."""
    law: Law = {0: 1.0}
    for step in move:
        sums: defaultdict[int, float] = defaultdict(float)
        for (y, p), (x, q) in itertools.product(law.items(), discrete(sigma, step).items()):
            sums[y + x] += p * q
        law = dict(sums)
    square = sum(step * step for step in move)
    return {
        (2 * y - square) / (2 * sigma**2): (law.get(square - y, 0.0), q) for y, q in law.items()
    }


def gap(outcomes: dict[float, tuple[float, float]], epsilon: float) -> float:
    grown = math.exp(epsilon)
    return math.fsum(max(p - grown * q, 0.0) for p, q in outcomes.values())


def event(sigma: float, square: int) -> events.DiscreteGaussian:
    """Discrete noise for whole vectors whose squared distance is ``square``."""
    exact = Fraction(sigma)
    root = Fraction(math.isqrt(square * 10**24) + 1, 10**12)
    multiplier = exact / (math.isqrt(square) if math.isqrt(square) ** 2 == square else root)
    return events.DiscreteGaussian(noise_multiplier=multiplier, sigma=exact)


@pytest.mark.parametrize(
    ("sigma", "delta"), [(0.5, 0.603205), (1, 0.141351), (2, 0.00724878), (4, 3.0555e-6)]
)
def test_the_oracles_of_the_catalogue(sigma: float, delta: float) -> None:
    """modern-data:N1, at epsilon one and a sensitivity of one grid step."""
    stated = events.DiscreteGaussian(sigma, sigma).delta(epsilon=1)
    truth = gap(moved(sigma, (1,)), 1.0)
    assert stated == pytest.approx(delta, rel=2e-5)
    assert truth * (1 - 1e-12) <= stated <= truth * (1 + 1e-5)


@pytest.mark.parametrize("sigma", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-10])
def test_epsilon_is_certified_from_both_sides(sigma: float, delta: float) -> None:
    lower, upper = events.DiscreteGaussian(sigma, sigma).epsilon_bounds(delta=delta)
    outcomes = moved(sigma, (1,))
    assert gap(outcomes, lower) >= delta * (1 - 1e-9)
    assert gap(outcomes, upper) <= delta * (1 + 1e-9)
    assert upper - lower <= 1e-4 * upper


@pytest.mark.parametrize("sigma", [0.7, 1.0, 2.5])
@pytest.mark.parametrize("square", [1, 2, 4, 5, 9])
def test_whole_sensitivities_cover_every_direction_and_no_more(sigma: float, square: int) -> None:
    ways = [moved(sigma, way) for way in directions(square) if len(way) <= 5]
    for epsilon in (0.0, 0.2, 0.9, 1.7, 3.1, 5.0):
        stated = PRIVACY_LOSS.delta(event(sigma, square), epsilon)
        truths = [gap(way, epsilon) for way in ways]
        assert stated >= max(truths) * (1 - 1e-11)
        if square in (1, 2, 4, 5):
            assert stated <= max(truths) * (1 + 2e-3) + 1e-12


@given(
    st.floats(0.4, 3),
    st.lists(st.integers(-3, 3), min_size=1, max_size=3).filter(any),
    st.floats(0, 6),
)
@settings(max_examples=60, deadline=None)
def test_no_move_of_whole_numbers_is_priced_below_its_law(
    sigma: float, move: list[int], epsilon: float
) -> None:
    square = sum(step * step for step in move)
    truth = gap(moved(sigma, tuple(move)), epsilon)
    assert event(sigma, square).delta(epsilon=epsilon) >= truth * (1 - 1e-9) - 1e-15


def test_several_directions_matter_and_none_is_the_worst_everywhere() -> None:
    """Twins: one coordinate, or single steps only, would be priced below the other's law."""
    one, four = moved(1.0, (2,)), moved(1.0, (1, 1, 1, 1))
    assert gap(one, 0.3) < 0.98 * gap(four, 0.3)
    assert gap(four, 1.0) < 0.95 * gap(one, 1.0)
    assert directions(4) == [(2,), (1, 1, 1, 1)]
    assert [len(directions(n)) for n in (1, 3, 9, 16)] == [1, 1, 4, 8]


def test_the_continuous_curve_is_a_twin_that_is_refuted() -> None:
    for sigma in (0.5, 1.0, 2.0, 4.0):
        assert gaussian_delta(sigma, 1) < gap(moved(sigma, (1,)), 1.0) * 0.99


@pytest.mark.parametrize("sigma", [4.0, 6.5])
@pytest.mark.parametrize("move", [(5,), (4, 1), (3, 3), (4, 3, 1)])
def test_many_steps_are_priced_by_smoothing_and_never_below_the_law(
    sigma: float, move: tuple[int, ...]
) -> None:
    priced = event(sigma, sum(step * step for step in move))
    ((pair, _),) = PRIVACY_LOSS.price(priced).parts
    assert isinstance(pair, LeakedPair)
    assert pair.leak < 1e-21
    outcomes = moved(sigma, move)
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        truth = gap(outcomes, epsilon)
        assert truth <= PRIVACY_LOSS.delta(priced, epsilon)
    assert priced.delta(epsilon=1.0) <= gap(outcomes, 1.0) * 1.5


def test_smoothing_costs_little_where_noise_has_many_steps() -> None:
    fine = events.DiscreteGaussian(noise_multiplier=50, sigma=5000) * 1000
    continuous = events.Gaussian(50) * 1000
    assert fine.epsilon(delta=1e-6) == pytest.approx(continuous.epsilon(delta=1e-6), rel=1e-3)


def test_coarse_noise_in_too_many_directions_is_left_to_concentrated_privacy() -> None:
    coarse = events.DiscreteGaussian(noise_multiplier=0.2, sigma=1)
    with pytest.raises(Unpriced, match="Directions are too many"):
        PRIVACY_LOSS.price(coarse)
    assert math.isfinite(coarse.epsilon(delta=1e-6))


def composed(outcomes: dict[float, tuple[float, float]], times: int, sigma: float) -> np.ndarray:
    """P-masses of Y over ``times`` releases, on a lattice, by plain convolution."""
    ys = sorted(round(loss * sigma**2 + 0.5) for loss in outcomes)
    masses = np.array([outcomes[(2 * y - 1) / (2 * sigma**2)][0] for y in ys])
    total = np.ones(1)
    for _ in range(times):
        total = np.convolve(total, masses)
    first = times * ys[0]
    losses = (np.arange(first, first + len(total)) - times / 2) / sigma**2
    return np.stack((losses, total))


@pytest.mark.parametrize(("sigma", "times"), [(1.0, 3), (4.0, 30), (8.0, 100)])
@pytest.mark.parametrize("delta", [1e-3, 1e-7])
def test_compositions_are_enclosed(sigma: float, times: int, delta: float) -> None:
    losses, masses = composed(moved(sigma, (1,)), times, sigma)

    def truth(epsilon: float) -> float:
        return float((masses * np.maximum(-np.expm1(epsilon - losses), 0.0)).sum())

    many: Event = events.DiscreteGaussian(sigma, sigma) * times
    lower, upper = many.epsilon_bounds(delta=delta)
    assert truth(upper) <= delta * (1 + 1e-9)
    assert truth(lower) >= delta * (1 - 1e-9)
    assert upper - lower <= 1e-3 * upper


@pytest.mark.parametrize("rate", [0.01, 0.3])
@pytest.mark.parametrize("sigma", [0.6, 1.0, 3.0])
def test_poisson_samples_of_both_directions(sigma: float, rate: float) -> None:
    outcomes = moved(sigma, (1,))
    removed = {z: ((1 - rate) * q + rate * p, q) for z, (p, q) in outcomes.items()}
    added = {z: (q, p) for z, (p, q) in removed.items()}
    sampled = events.DiscreteGaussian(sigma, sigma).subsample(rate=rate)
    for epsilon in (0.0, 0.05, 0.4, 1.0, 2.5):
        truth = max(gap(removed, epsilon), gap(added, epsilon))
        stated = sampled.delta(epsilon=epsilon)
        assert truth * (1 - 1e-9) - 1e-15 <= stated <= truth * 1.01 + 1e-12


@pytest.mark.parametrize("square", [1, 4])
def test_samples_of_fixed_size_keep_what_does_not_move(square: int) -> None:
    """An even square puts an outcome at a loss of zero, which both sides must keep."""
    rate, sigma = 0.25, 1.0
    sampled = event(sigma, square).subsample(size=1, of=4)
    for way in (moved(sigma, way) for way in directions(square)):
        for epsilon in (0.0, 0.2, 1.0):
            kept = {z: ((1 - rate) * q + rate * p, q) for z, (p, q) in way.items()}
            other = {z: (p, (1 - rate) * p + rate * q) for z, (p, q) in way.items()}
            truth = max(gap(kept, epsilon), gap(other, epsilon))
            assert PRIVACY_LOSS.delta(sampled, epsilon) >= truth * (1 - 1e-9)


@pytest.mark.parametrize("square", [1, 2])
def test_two_samples_of_fixed_size_cost_at_least_what_two_mixtures_do(square: int) -> None:
    """Here a loss of zero once leaves all of the other's."""
    rate, sigma = 0.5, 0.7
    (way,) = (moved(sigma, way) for way in directions(square))
    kept = [((1 - rate) * q + rate * p, q) for p, q in way.values()]
    other = [(p, (1 - rate) * p + rate * q) for p, q in way.values()]
    two = event(sigma, square).subsample(size=1, of=2) * 2
    for mixture in (kept, other):
        for epsilon in (0.0, 0.2, 1.0, 2.0):
            grown = math.exp(epsilon)
            pairs = itertools.product(mixture, mixture)
            truth = math.fsum(max(a * c - grown * b * d, 0.0) for (a, b), (c, d) in pairs)
            assert PRIVACY_LOSS.delta(two, epsilon) >= truth * (1 - 1e-9)


@pytest.mark.parametrize("square", range(1, 17))
def test_roots_that_doubles_round_down_count_as_the_whole_square(square: int) -> None:
    for sigma in (0.7, 2.0, 7.0, 31.0):
        for written in (sigma / math.sqrt(square), 1 / (math.sqrt(square) / sigma)):
            price = PRIVACY_LOSS.price(events.DiscreteGaussian(written, sigma))
            assert price.parts == ((LatticePair(sigma, square), 1),), (square, sigma)
    mechanism = DiscreteGaussian(rho=Fraction(1, 10), sensitivity=math.sqrt(square))
    ((pair, _),) = PRIVACY_LOSS.price(mechanism.event).parts
    assert isinstance(pair, LatticePair)
    assert pair.square == square


def test_far_tails_are_never_called_impossible() -> None:
    assert events.DiscreteGaussian(8, 32).delta(epsilon=5) > 0
    assert PRIVACY_LOSS.delta(events.DiscreteGaussian(8, 32), 5) > 0


def test_noise_below_one_step_of_sensitivity_counts_as_one() -> None:
    assert PRIVACY_LOSS.price(events.DiscreteGaussian(4, 2)).parts == ((LatticePair(2.0, 1), 1),)
