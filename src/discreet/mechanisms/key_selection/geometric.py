"""Keys named together with their noisy counts: truncated geometric noise over its own bound.

X on [-k, k] with P(x) proportional to e**(-epsilon |x|), k the least whole number with
P(X = k) <= delta. A key of n people is published as n + X where that exceeds k. Of neighbours'
laws only the last value is out of reach of the other, so the pair (epsilon, delta) covers the
name *and* the count; and nobody's key, n = 0, never passes.

The bound is decided by P(X = k) <= delta in exact arithmetic: rounding up a logarithm in floating
point can take a whole number for the next one (modern-data:P2).

Source: modern-data:P2. Proof: ``proofs/key_selection.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.events.key_selection import GeometricThreshold as GeometricThresholdEvent
from discreet.core.parameters import Number, exact, probability
from discreet.mechanisms import grid
from discreet.mechanisms.distributions.laplace import DiscreteLaplaceDistribution
from discreet.mechanisms.key_selection.rule import (
    MOST_PEOPLE,
    KeptKeys,
    KeySelectionRule,
    out_of_reach,
)
from discreet.noise import Noiseless, Source, discrete_laplace
from discreet.noise.enclosure import exp_minus

if TYPE_CHECKING:
    from discreet.mechanisms.distributions.symmetric import Distribution

_STEEPEST = Fraction(1000)


@dataclass(frozen=True, kw_only=True)
class GeometricThreshold(KeySelectionRule):
    """Publishes counts with truncated geometric noise where they pass the bound of the noise.

    Assumptions: those of :class:`KeySelectionRule`.

    Guarantee: (epsilon, delta)-differential privacy for names and counts together, for a unit in
    at most ``groups`` groups, each of which gets an equal part.

    >>> GeometricThreshold(epsilon=1, delta=1e-5).bound
    11

    Source: modern-data:P2. Proof: ``proofs/key_selection.md``.
    """

    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        """Refuse parameters out of range, or under which nothing would ever be named."""
        super().__post_init__()
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "delta", probability("delta", grid.ordinary("delta", self.delta)))
        if self.bound > MOST_PEOPLE:
            raise out_of_reach()

    @cached_property
    def rate(self) -> Fraction:
        """The part of epsilon that each group gets."""
        return exact(self.epsilon) / (self.groups * self.swaps)

    @cached_property
    def bound(self) -> int:
        """k: noise stays within it, and only larger noisy counts are published."""
        return truncation(self.rate, exact(self.delta) / (self.groups * self.swaps))

    @property
    def distribution(self) -> Distribution:
        """Geometric noise, of which the truncated one is never the wider."""
        return DiscreteLaplaceDistribution(float(1 / self.rate), 1.0)

    def _event(self) -> Event:
        return GeometricThresholdEvent(
            epsilon=self.epsilon, delta=self.delta, groups=self.groups, swaps=self.swaps
        )

    def _release(self, people: NDArray[np.int64]) -> KeptKeys:
        noise = truncated_geometric(1 / self.rate, self.bound, len(people), self.randomness)
        noisy = people + noise
        return KeptKeys((noisy > self.bound) & (people > 0), noisy)

    def _probabilities(self, people: NDArray[np.int64]) -> NDArray[np.float64]:
        """P(X > k - n)."""
        e, k = float(self.rate), self.bound
        n = np.clip(people, 0, 2 * k + 1).astype(np.float64)
        a = math.exp(-e)
        whole = (1 + a - 2 * a ** (k + 1)) / (1 - a) if a < 1 else 2 * k + 1.0
        # Up to the middle, n of the largest values pass; beyond it, all but 2k + 1 - n of them.
        few = np.minimum(n, 2 * k + 1 - n)
        if a < 1:
            tail = np.exp(-e * np.maximum(k + 1 - few, 0)) * -np.expm1(-few * e) / (1 - a)
        else:
            tail = few
        chances: NDArray[np.float64] = np.where(n <= k, tail / whole, 1 - tail / whole)
        return chances


def truncation(epsilon: Fraction, delta: Fraction) -> int:
    """The least k with P(X = k) <= delta for the law on [-k, k].

    >>> truncation(Fraction(1), Fraction(1, 10**5))
    11
    """
    # A larger epsilon only makes the last value rarer, and needs ever more digits to say so.
    epsilon = min(epsilon, _STEEPEST)
    e, d = float(epsilon), float(delta)
    if e < 1e-8:
        raise out_of_reach()
    grow = math.expm1(min(e, 700.0))
    guess = max(0, math.ceil(math.log((grow + 2 * d) / (d * (grow + 2))) / e))
    while guess > 0 and _fits(guess - 1, epsilon, delta):
        guess -= 1
    while not _fits(guess, epsilon, delta):
        guess += 1
    return guess


def _fits(k: int, epsilon: Fraction, delta: Fraction) -> bool:
    """Whether a**k (1 - a) <= delta (1 + a - 2 a**(k+1)) for a = e**-epsilon, for certain.

    Never equal for delta < 1, since a is no algebraic number; so some precision decides.
    """
    bits = 64 + math.ceil(epsilon * k * 3 / 2)
    while True:
        one = 1 << bits
        (a, b), (c, d) = exp_minus(epsilon, bits), exp_minus(epsilon * k, bits)
        (e, f) = exp_minus(epsilon * (k + 1), bits)
        if d * (one - a) <= delta * (one + a - 2 * f) * one:
            return True
        if c * (one - b) > delta * (one + b - 2 * e) * one:
            return False
        bits *= 2


def truncated_geometric(
    scale: Fraction, bound: int, size: int, source: Source
) -> NDArray[np.int64]:
    """Two-sided geometric noise given that it lies within ``bound``: drawn again where not."""
    noise = discrete_laplace(scale, size, source)
    if isinstance(source, Noiseless):
        return noise
    beyond = np.flatnonzero(np.abs(noise) > bound)
    while len(beyond):
        noise[beyond] = discrete_laplace(scale, len(beyond), source)
        beyond = beyond[np.abs(noise[beyond]) > bound]
    return noise
