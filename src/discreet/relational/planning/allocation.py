"""How a spend is split over the measures of a question, and which noise each of them gets.

Everything here follows from public quantities: the plan, the declared bounds, the unit and the
spend. Under a pure spend each measure gets discrete Laplace noise (Laplace on a fine grid for
real sums); under a concentrated one discrete Gaussian noise; under (epsilon, delta) whichever of
Laplace and one joint Gaussian has the smaller expected error.

The split minimises the sum of variances, each in units of its own bound and weighted by how much
the asked-for columns depend on it: epsilon shares go with the cube root of the weights, rho
shares with the square root. Questions that are asked together may bring a split of their own.

Source: 000a:C11; contract, "Spending", "Numbers". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Protocol, TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, Guarantee, PureDP, RenyiDP
from discreet.core.parameters import exact, positive
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from discreet.mechanisms.distributions.distribution import Distribution, distribution_of
from discreet.mechanisms.for_spend import Reading, least_error, readings
from discreet.mechanisms.grid import sqrt_above
from discreet.noise.randomness import SYSTEM, Source
from discreet.relational.aggregates.measures import CountValues, Linear, ValuesTotal
from discreet.relational.aggregates.weighted import Weighted
from discreet.relational.bounding.contributions import ContributionBounds

Additive: TypeAlias = DiscreteGaussian | DiscreteLaplace | Gaussian | Laplace

_FINEST = 30
_WIDEST = 50
_PARTS = 10**6
"""Shares are whole numbers of about this many parts, so that they add up to one exactly."""


@dataclass(frozen=True)
class WeightedMeasure:
    """A measure that wants noise: how far one unit moves it, and how much it matters.

    ``places`` is how finely rows may count by weight; None where only whole rows count.
    """

    measure: Linear
    contributions: ContributionBounds
    weight: float
    places: int | None = None

    def bound(self) -> Fraction:
        """The largest contribution of one row in the caller's units."""
        return self.measure.bound()


@dataclass(frozen=True)
class QuantileChoice:
    """Quantiles to be chosen by rank: how far one unit moves ranks, and how much they matter.

    Several levels of one column share their epsilon over ``rounds`` equal parts.
    """

    contributions: ContributionBounds
    weight: float
    rounds: int = 1


@dataclass(frozen=True)
class Noised:
    """A measure on its grid with its mechanism; ``distribution`` is in the caller's units.

    Where rows count by weight, the grid has ``places`` binary places more than the measure.
    """

    measure: Linear
    mechanism: Additive
    places: int | None = None

    @property
    def step(self) -> float:
        """One step of the grid in the caller's units."""
        return 2.0 ** (self.measure.exponent - (self.places or 0))

    @property
    def steps(self) -> int:
        """The largest contribution of one row, in steps of the grid."""
        return self.measure.steps() << (self.places or 0)

    @property
    def exact(self) -> Linear | Weighted:
        """What is added up before noise."""
        if self.places is None or isinstance(self.measure, CountValues | ValuesTotal):
            return self.measure
        return Weighted(self.measure, self.places)

    @property
    def whole(self) -> bool:
        """Whether values are whole numbers by themselves."""
        return self.measure.whole and not self.places

    @cached_property
    def distribution(self) -> Distribution:
        """The exact law of the noise in one cell."""
        return distribution_of(self.mechanism, step=self.step)


@dataclass(frozen=True)
class Allocation:
    """Noise for every part, the epsilon of each choice in one group, and the whole event."""

    noised: tuple[Noised, ...]
    choices: tuple[Fraction, ...]
    linear_event: Event


class Split(Protocol):
    """Shares of a spend for weighted parts; they add up to one. Public quantities only."""

    def epsilons(self, weights: Sequence[float]) -> list[Fraction]:
        """Shares of epsilon, where noise goes with one over the share."""

    def rhos(self, weights: Sequence[float]) -> list[Fraction]:
        """Shares of rho, where noise goes with one over the root of the share."""

    def error(self, parts: Sequence[WeightedMeasure], noised: Sequence[Noised]) -> float:
        """What the shares minimise, to choose between kinds of noise."""


class SeparateSplit:
    """Every part stands for itself: the least sum of weighted variances."""

    def epsilons(self, weights: Sequence[float]) -> list[Fraction]:
        """With the cube root of the weights."""
        return shares(weights, 1 / 3)

    def rhos(self, weights: Sequence[float]) -> list[Fraction]:
        """With the square root of the weights."""
        return shares(weights, 1 / 2)

    def error(self, parts: Sequence[WeightedMeasure], noised: Sequence[Noised]) -> float:
        """Weighted variances in units of each part's bound."""
        return math.fsum(
            part.weight * relative_variance(part, item)
            for part, item in zip(parts, noised, strict=True)
        )


def relative_variance(part: WeightedMeasure, noised: Noised) -> float:
    """The variance of one cell in units of the largest contribution of a row."""
    bound = float(part.bound())
    if not bound:
        raise InvalidParameter(
            code="bounds_too_far",
            expectation="an argument whose width is a double above zero",
            remedy="Multiply it by a constant first: AVG(x * 1e9).",
        )
    return (noised.distribution.std / bound) ** 2


SEPARATE = SeparateSplit()


def allocate(
    parts: Sequence[WeightedMeasure],
    choices: Sequence[QuantileChoice],
    spend: Guarantee,
    randomness: Source = SYSTEM,
    split: Split = SEPARATE,
) -> Allocation:
    """Divide ``spend`` over parts and choices."""
    match spend:
        case PureDP():
            epsilon = _positive("epsilon", spend.epsilon)
            return _pure(parts, choices, epsilon, randomness, split)
        case ApproxDP():
            return _approximate(parts, choices, spend, randomness, split)
        case ZCDP() | ApproxZCDP():
            rho = _positive("rho", spend.rho)
            return _concentrated(parts, choices, rho, randomness, split)
        case RenyiDP():
            rho = _positive("epsilon", spend.epsilon) / exact(spend.alpha)
            return _concentrated(parts, choices, rho, randomness, split)
    raise InvalidParameter(
        code="spend_notion",
        expectation="a spend in PureDP, ApproxDP, ZCDP or RenyiDP",
        received=type(spend).__name__,
        remedy="Write spend=dp.PureDP(epsilon=0.5), or dp.ZCDP(rho=...).",
    )


def _positive(name: str, value: object) -> Fraction:
    return exact(positive(name, exact(value)))  # type: ignore[arg-type]


def _weights(parts: Sequence[WeightedMeasure], choices: Sequence[QuantileChoice]) -> list[float]:
    return [*(part.weight for part in parts), *(choice.weight for choice in choices)]


def shares(weights: Sequence[float], power: float) -> list[Fraction]:
    """Shares that go with a power of the weights and add up to one exactly."""
    parts = [max(1, round(_PARTS * weight**power)) for weight in weights]
    return [Fraction(part, sum(parts)) for part in parts]


def _pure(
    parts: Sequence[WeightedMeasure],
    choices: Sequence[QuantileChoice],
    epsilon: Fraction,
    randomness: Source,
    split: Split,
) -> Allocation:
    divided = split.epsilons(_weights(parts, choices))
    noised = tuple(
        _laplace(part, epsilon * share, randomness)
        for part, share in zip(parts, divided, strict=False)
    )
    chosen = tuple(
        _pure_choice(choice, epsilon * share)
        for choice, share in zip(choices, divided[len(parts) :], strict=True)
    )
    return Allocation(noised, chosen, compose(tuple(item.mechanism.event for item in noised)))


def _laplace(part: WeightedMeasure, epsilon: Fraction, randomness: Source) -> Noised:
    measure, places = _on_grid(part, part.contributions.l1(1) * part.bound() / epsilon)
    kind = DiscreteLaplace if measure.whole else Laplace
    sensitivity = part.contributions.l1(measure.steps() << (places or 0))
    mechanism = kind(epsilon=epsilon, sensitivity=sensitivity, randomness=randomness)
    return Noised(measure, mechanism, places)


def _on_grid(part: WeightedMeasure, scale: Fraction) -> tuple[Linear, int | None]:
    """The measure on its grid, and how many binary places weights add to it.

    Numerics: noise is drawn at a scale of at most 2**51 steps, and a row contributes less than
    2**62 of them. Where weights make the grid finer anyway, reals need less of it themselves.
    """
    if part.places is None:
        return part.measure.on_grid(scale), None
    measure = part.measure.on_grid(scale, _FINEST if part.places else 40)
    steps = scale / Fraction(2) ** measure.exponent
    room = min(_WIDEST - math.ceil(steps).bit_length(), 62 - measure.steps().bit_length())
    return measure, max(0, min(part.places, room))


def _approximate(
    parts: Sequence[WeightedMeasure],
    choices: Sequence[QuantileChoice],
    spend: ApproxDP,
    randomness: Source,
    split: Split,
) -> Allocation:
    epsilon = _positive("epsilon", spend.epsilon)
    laplace = _pure(parts, choices, epsilon, randomness, split)
    divided = split.epsilons(_weights(parts, choices))
    left = epsilon * sum(divided[: len(parts)], Fraction(0))

    def allocate_for_reading(reading: Reading) -> Allocation:
        if isinstance(reading, PureDP) or not parts:
            return laplace
        gaussian = _joint(parts, left, spend.delta, randomness, split)  # type: ignore[arg-type]
        return Allocation(gaussian, laplace.choices, gaussian[0].mechanism.event)

    return least_error(
        readings(spend), allocate_for_reading, lambda each: split.error(parts, each.noised)
    )


def _joint(
    parts: Sequence[WeightedMeasure],
    epsilon: Fraction,
    delta: float,
    randomness: Source,
    split: Split,
) -> tuple[Noised, ...]:
    """One Gaussian release of all parts together.

    Part j, divided by its sensitivity and multiplied by the root of its share, moves by at most
    the root of its share; shares add up to one, so the joint vector moves by at most one.
    """
    noised = []
    first: Gaussian | None = None
    for part, share in zip(parts, split.rhos(_weights(parts, ())), strict=True):
        spread = sqrt_above(1 / share)
        scale = part.contributions.l2(1) * part.bound() * spread / epsilon
        measure, places = _on_grid(part, scale)
        sensitivity = part.contributions.l2(measure.steps() << (places or 0)) * spread
        first = Gaussian(
            epsilon=epsilon, delta=delta, sensitivity=sensitivity, randomness=randomness
        )
        noised.append(Noised(measure, first, places))
    return tuple(noised)


def _concentrated(
    parts: Sequence[WeightedMeasure],
    choices: Sequence[QuantileChoice],
    rho: Fraction,
    randomness: Source,
    split: Split,
) -> Allocation:
    divided = split.rhos(_weights(parts, choices))
    noised = []
    for part, share in zip(parts, divided, strict=False):
        width = part.contributions.l2(1) * part.bound() * sqrt_above(1 / (2 * rho * share))
        measure, places = _on_grid(part, width)
        sensitivity = part.contributions.l2(measure.steps() << (places or 0))
        mechanism = DiscreteGaussian(
            rho=rho * share, sensitivity=sensitivity, randomness=randomness
        )
        noised.append(Noised(measure, mechanism, places))
    chosen = tuple(
        _concentrated_choice(choice, rho * share)
        for choice, share in zip(choices, divided[len(parts) :], strict=True)
    )
    return Allocation(tuple(noised), chosen, compose(tuple(n.mechanism.event for n in noised)))


def _pure_choice(choice: QuantileChoice, epsilon: Fraction) -> Fraction:
    """Epsilon in one group: a unit with r rows in it loses r/most of that, ``rows`` in all."""
    contributions = choice.contributions
    return epsilon * Fraction(contributions.most, contributions.rows * contributions.swaps)


def _concentrated_choice(choice: QuantileChoice, rho: Fraction) -> Fraction:
    """Epsilon in one group, rounded down, at the cheaper of two prices that hold.

    Either one exponential mechanism with all of a unit's rows in one group's share, or one for
    each group the unit can be in; each costs its epsilon squared over eight, and r rounds with
    a part of it each cost a part of that together.
    """
    contributions = choice.contributions
    price = min(
        Fraction(contributions.rows, contributions.most) ** 2, Fraction(contributions.groups)
    )
    squared = 8 * rho * choice.rounds / (contributions.swaps**2 * price)
    return 1 / sqrt_above(1 / squared)
