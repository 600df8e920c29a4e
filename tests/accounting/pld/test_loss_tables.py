"""What loss tables and their composition have on the books: every error they own up to, made large.

Tails that are cut, tails taken a little off their place, rounding and wrapping are all too small
to see in a price. Here each is made so large that a bound which forgot it falls short.
"""

from __future__ import annotations

import decimal
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest

from discreet import events
from discreet.accounting import PRIVACY_LOSS
from discreet.accounting.pld import composition
from discreet.accounting.pld.composition import ComposedLoss, Cumulant, compose
from discreet.accounting.pld.discretise import LossTable, exact_step, from_above, from_below
from discreet.accounting.pld.pair import DominatingPair, LaplacePair, NormalPair
from discreet.core.arrays import Floats
from tests.accounting.pld.test_pair import PAIRS, curve_of, normal_curve, sampled, turned

Curve = Callable[[float], float]
CONTEXT = decimal.Context(prec=60)
SPREAD = [(pair, curve) for pair, curve in PAIRS if not pair.purely_atomic]


@pytest.mark.parametrize(("pair", "curve"), PAIRS, ids=[repr(pair) for pair, _ in PAIRS])
@pytest.mark.parametrize("tail", [0.2, 0.01])
def test_tables_enclose_the_curve_however_much_is_cut_off(
    pair: DominatingPair, curve: Curve, tail: float
) -> None:
    low, high = pair.reach(1e-9)
    farthest = max(abs(low), abs(high))
    step = exact_step(farthest / 40, farthest)
    above, below = from_above(pair, step, tail), from_below(pair, step, tail)
    for e in np.linspace(low - 0.5, high + 0.5, 60).tolist():
        truth, slack = curve(e), 1e-13 * (1 + math.exp(min(e, 20.0)))
        assert curve_of(above, e) >= truth - slack
        assert curve_of(below, e) <= truth + slack
    assert float(above.masses.sum()) + above.infinite >= 1 - 1e-12


@dataclass(frozen=True)
class Displaced(NormalPair):
    """A normal pair whose tails are taken ``off`` the losses asked for, and which says so."""

    off: float = 0.0

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        return super().above(losses + self.off)

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        return super().below(losses + self.off)

    def blur(self, losses: Floats) -> Floats:
        return np.full(len(losses), abs(self.off))


@dataclass(frozen=True)
class Inexact(NormalPair):
    """A normal pair whose upper tails are off by the relative ``error``, and which says so."""

    error: float = 0.0

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        p, q = super().above(losses)
        return p * (1 - self.error), q * (1 + self.error)

    def rounding(self, losses: Floats) -> Floats:
        return np.full(len(losses), abs(self.error))


@pytest.mark.parametrize("off", [0.02, -0.02, 0.002])
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_tails_taken_off_their_place_still_give_a_bound(mu: float, off: float) -> None:
    table = from_above(Displaced(mu, off), exact_step(0.05, 6.0), 1e-9)
    curve = normal_curve(mu)
    for e in np.linspace(-3, 3, 61).tolist():
        assert curve_of(table, e) >= curve(e) - 1e-12


@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_tails_with_a_relative_error_still_give_a_bound(mu: float) -> None:
    """From losses upward that are rare, where upper tails are the smaller ones and are used."""
    table = from_above(Inexact(mu, 1e-3), exact_step(0.05, 6.0), 1e-9)
    curve = normal_curve(mu)
    for e in np.linspace(mu * mu, 3, 61).tolist():
        assert curve_of(table, e) >= curve(e) - 1e-12


def bound(sign: int, **changes: object) -> ComposedLoss:
    """A composed loss with few masses near zero and one."""
    plain = ComposedLoss(
        sign=sign,
        step=0.25,
        start=-1.0,
        top=3.0,
        masses=np.array([0.1, 0.1, 0.2, 0.2, 0.1, 0.1, 0.1, 0.05, 0.05]),
        tilt=2.0,
        log_mass=0.5,
        error=0.0,
        wobble=0.0,
        infinite=0.0,
    )
    return replace(plain, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
@pytest.mark.parametrize("sign", [1, -1])
def test_errors_of_masses_are_added_to_the_bound(sign: int, epsilon: float) -> None:
    plain = bound(sign)
    off = replace(plain, masses=plain.masses - sign * 1e-3, error=1e-3)
    shrunk = replace(plain, masses=plain.masses * (1 - sign * 1e-3), wobble=1.1e-3)
    for made in (off, shrunk):
        assert sign * made.delta(epsilon) >= sign * plain.delta(epsilon) * (1 - sign * 1e-12)


def test_what_wraps_around_is_charged_where_nothing_else_is_left() -> None:
    nothing = np.zeros(9)
    assert bound(1, masses=nothing).delta(0.5) > 0
    assert bound(1, masses=nothing, infinite=1e-9).delta(0.5) > 1e-9
    assert bound(-1, masses=nothing).delta(0.5) == 0


def exactly_tilted(table: LossTable, t: float) -> tuple[list[decimal.Decimal], decimal.Decimal]:
    """Tilted masses, not normalised, and their sum, in sixty digits."""
    tilted = [
        CONTEXT.multiply(
            decimal.Decimal(float(mass)),
            CONTEXT.exp(CONTEXT.multiply(decimal.Decimal(t), decimal.Decimal(float(loss)))),
        )
        for mass, loss in zip(table.masses, table.losses, strict=True)
    ]
    total = decimal.Decimal(0)
    for mass in tilted:
        total = CONTEXT.add(total, mass)
    return tilted, total


@pytest.mark.parametrize("tilt", [0.5, 40.0, 900.0])
def test_rounding_in_tilting_is_within_what_is_charged_for_it(tilt: float) -> None:
    table = from_above(NormalPair(1.0), exact_step(0.37, 6.0), 1e-9)
    made = compose(((table, 1),), tilt, (0.5, 0.5), sign=1)
    exact, _ = exactly_tilted(table, tilt)
    worst = 0.0
    for mass, truth in zip(made.masses.tolist(), exact, strict=True):
        if mass < 1e-250:
            continue
        scale = CONTEXT.exp(decimal.Decimal(made.log_mass))
        found = CONTEXT.multiply(decimal.Decimal(mass), scale)
        worst = max(worst, abs(float(found / truth - 1)))
    assert 0 < worst <= made.wobble


@pytest.mark.parametrize("times", [2, 5])
def test_composed_masses_are_off_by_no_more_than_their_error(times: int) -> None:
    table = from_above(LaplacePair(0.7), exact_step(0.1, 0.7), 1e-9)
    tilted = Cumulant(((table, times),)).tilted(1.5).masses
    parts = ((table, times),)
    sizes = np.array([len(tilted)], dtype=np.intp)
    length = composition._fast_length(times * len(tilted) + 4)
    masses, error = composition._convolved(parts, sizes, tilted, length)
    exact = [Fraction(1)]
    for _ in range(times):
        grown = [Fraction(0)] * (len(exact) + len(tilted) - 1)
        for i, left in enumerate(exact):
            for j, right in enumerate(tilted.tolist()):
                grown[i + j] += left * Fraction(right)
        exact = grown
    gaps = [
        abs(Fraction(mass) - truth) for mass, truth in zip(masses.tolist(), exact, strict=False)
    ]
    assert 0 < max(gaps) <= error
    assert error < 1e-12


def test_masses_at_infinity_compose_like_independent_accidents() -> None:
    for times in (1, 3, 10):
        table = LossTable(0.5, 0.0, 0, np.array([0.9]), 0.1)
        made = compose(((table, times),), 1.0, (0.5, 0.5), sign=1)
        assert made.infinite == pytest.approx(1 - 0.9**times, rel=1e-9)
        assert made.infinite >= 1 - 0.9**times


@pytest.mark.parametrize("rate", [0.05, 0.4])
def test_both_directions_of_a_sample_count(rate: float) -> None:
    """Removing a unit is the worse above zero: the price is never below either, nor far above."""
    event = events.Gaussian(1).subsample(rate=rate)
    removing = sampled(normal_curve(1.0), rate)
    adding = turned(removing)
    for epsilon in (0.01, 0.02, 0.3):
        worse = max(removing(epsilon), adding(epsilon))
        assert worse <= PRIVACY_LOSS.delta(event, epsilon) <= worse * 1.01
    for delta in (1e-3, 1e-2):
        lower, upper = PRIVACY_LOSS.epsilon_bounds(event, delta)
        assert upper == PRIVACY_LOSS.epsilon(event, delta)
        assert max(removing(upper), adding(upper)) <= delta
        assert max(removing(lower), adding(lower)) >= delta


def sampled_responses(loss: float, rate: float, times: int, epsilon: float) -> tuple[float, float]:
    """Delta of removing and of adding a unit, by listing all outcomes of sampled responses."""
    lie = 1 / (1 + math.exp(loss))
    without = (lie, 1 - lie)
    sample = tuple((1 - rate) * w + rate * (1 - w) for w in without)
    removing = adding = 0.0
    for outcome in itertools.product((0, 1), repeat=times):
        p = math.prod(sample[o] for o in outcome)
        q = math.prod(without[o] for o in outcome)
        removing += max(0.0, p - math.exp(epsilon) * q)
        adding += max(0.0, q - math.exp(epsilon) * p)
    return removing, adding


@pytest.mark.parametrize(
    ("loss", "rate", "times", "epsilon", "worse"),
    [(4, 0.9, 2, 2.0, 1), (1, 0.9, 2, 0.5, 1), (1, 0.5, 5, 0.05, 1), (1, 0.1, 3, 0.2, 0)],
)
def test_either_direction_may_be_the_worse_and_the_worse_one_counts(
    loss: float, rate: float, times: int, epsilon: float, worse: int
) -> None:
    event = events.Pure(epsilon=loss).subsample(rate=rate) * times
    deltas = sampled_responses(loss, rate, times, epsilon)
    assert deltas[worse] > 1.02 * deltas[1 - worse]
    assert max(deltas) <= PRIVACY_LOSS.delta(event, epsilon) <= 1.001 * max(deltas)
    lower, upper = PRIVACY_LOSS.epsilon_bounds(event, max(deltas))
    assert lower <= epsilon * (1 + 1e-12)
    assert upper >= epsilon * (1 - 1e-12)
    assert upper == PRIVACY_LOSS.epsilon(event, max(deltas)) <= 1.01 * epsilon + 0.01


def composed_delta(
    first: tuple[float, ...], second: tuple[float, ...], times: int, epsilon: float
) -> float:
    """The hockey-stick divergence of so many copies of two finite laws, by listing outcomes."""
    total = 0.0
    for outcome in itertools.product(range(len(first)), repeat=times):
        p = math.prod(first[o] for o in outcome)
        q = math.prod(second[o] for o in outcome)
        total += max(0.0, p - math.exp(epsilon) * q)
    return total


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize("loss", [0.5, 1.0])
def test_permute_and_flip_is_never_priced_as_of_bounded_range(loss: float, times: int) -> None:
    """Two candidates, equal or as far apart as a unit can move them: losses span more than loss."""
    even, apart = (0.5, 0.5), (math.exp(-loss) / 2, 1 - math.exp(-loss) / 2)
    event = events.PermuteAndFlip(epsilon=loss) * times
    for epsilon in (0.0, 0.3 * loss, 0.8 * loss * times):
        truth = max(
            composed_delta(even, apart, times, epsilon), composed_delta(apart, even, times, epsilon)
        )
        assert truth <= PRIVACY_LOSS.delta(event, epsilon)
        assert truth <= event.delta(epsilon=epsilon)
    bounded = PRIVACY_LOSS.delta(events.Exponential(epsilon=loss) * times, 0.0)
    assert bounded < composed_delta(even, apart, times, 0.0), "what it would have been"


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("times", [1, 3])
def test_noise_on_a_grid_has_its_own_price(steps: int, times: int) -> None:
    """Geometric noise moved by so many steps: all outcomes of a coordinate, in its closed form."""
    loss = 1.2
    a = math.exp(-loss / steps)
    masses = [(1 - a) / (1 + a) * a ** abs(z) for z in range(1, steps)]
    tail = 1 / (1 + a)
    first = (tail, *masses, a**steps / (1 + a))
    second = tuple(reversed(first))
    event = events.DiscreteLaplace(epsilon=loss, steps=steps) * times
    for epsilon in (0.0, 0.4, 0.9 * loss * times):
        truth = composed_delta(first, second, times, epsilon)
        assert truth * (1 - 1e-12) <= PRIVACY_LOSS.delta(event, epsilon) <= truth * 1.01 + 1e-12


@pytest.mark.parametrize(("size", "of"), [(1, 2), (9, 10)])
def test_a_sample_of_fixed_size_is_priced_for_replaced_units(size: int, of: int) -> None:
    """Both mixtures in one composition: the unit's place is taken by another."""
    loss, times = 1.5, 2
    lie, rate = 1 / (1 + math.exp(loss)), size / of
    one, other = (1 - lie, lie), (lie, 1 - lie)
    mixed = tuple((1 - rate) * o + rate * x for x, o in zip(one, other, strict=True))
    event = events.RandomizedResponse(epsilon=loss, categories=2).subsample(size=size, of=of)
    for epsilon in (0.0, 0.5):
        for first, second in ((mixed, other), (other, mixed)):
            truth = composed_delta(first, second, times, epsilon)
            assert truth <= PRIVACY_LOSS.delta(event * times, epsilon) * (1 + 1e-12)


def test_more_copies_than_margins_bear_have_another_price() -> None:
    """Beyond 2**36 copies the transform is refused, and the event is priced by others."""
    many = events.Pure(epsilon=1e-3) * 2**64
    assert 1e12 < many.epsilon(delta=0.25) < 1e14
    assert many.delta(epsilon=1.0) == 1.0
