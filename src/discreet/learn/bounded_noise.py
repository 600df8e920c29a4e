"""Noise for sums of vectors whose coordinates are all within [-1, 1].

A sum over rows then moves within a cube, whose own norm is the largest coordinate: a pure spend
buys noise of density proportional to exp(-epsilon max |z_i|), with a deviation of about
size / (sqrt(3) epsilon), against sqrt(2) size / epsilon for Laplace noise. A spend with a delta, or
in rho, buys Gaussian noise by the L2 norm. Of the two that (epsilon, delta) permits, the one of
less variance is taken, by public numbers alone.

Coordinates may be in *groups* that get shares of the spend, and in *blocks*, such as classes, of
which each row is in one: then each block has noise of its own for the whole price.

Source: 004c:10-8 (noise in the norm of what is hidden); modern-learn:12; contract, "Numbers".
Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Gaussian as GaussianEvent
from discreet.core.events.mechanisms import Pure
from discreet.core.guarantee import ZCDP, ApproxDP, PureDP
from discreet.core.parameters import Number, exact
from discreet.learn.exact_sums import Whole
from discreet.learn.privacy import Privacy
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.for_spend import LaplaceInRho, readings
from discreet.mechanisms.grid import LIMIT, floor_log2, sqrt_above
from discreet.noise import rounded_gaussian, rounded_max_norm

_FINE = 34
_COARSE = 30
"""A deviation is 2**34 steps, and never less than 2**30."""
_MOST_BITS = 36
_LARGEST = Fraction(2**100)
_LEAST = 2.0**-1000
"""Beyond these numbers nothing is bought, and doubles would end."""


@dataclass(frozen=True)
class SumGroup:
    """As many coordinates as ``size``, noised together for ``share`` of the spend."""

    size: int
    share: Number = 1


@dataclass(frozen=True)
class BoundedNoise:
    """Noise for the sums of one learner, fixed before any data is read.

    Contract: each row adds a vector with coordinates within [-1, 1] to one block and nothing to the
    others; shares add up to one.

    Guarantee: releasing all groups once costs ``event``, which the spend covers.

    >>> from discreet import PureDP, Row
    >>> noise = BoundedNoise(Privacy(PureDP(epsilon=1), Row()), (SumGroup(10),))
    >>> noise.event
    Pure(epsilon=1)
    >>> round(noise.deviation(0), 3)
    6.633

    Source: 004c:10-8, modern-learn:12. Proof: ``proofs/learn.md``.

    Numerics: whole steps, at least 2**30 of them to a deviation; sensitivities are exact for the
    pure law, and rounded up for the Gaussian one.
    """

    privacy: Privacy
    groups: tuple[SumGroup, ...]

    def __post_init__(self) -> None:
        """Refuse shares that do not add up to one, and spends that buy no noise of this kind."""
        if sum(exact(group.share) for group in self.groups) != 1:
            raise InvalidParameter(
                code="shares_do_not_fit",
                expectation="shares that add up to one",
                received=[float(group.share) for group in self.groups],
                remedy="Divide them by their sum.",
            )
        _ = self.event, self._each

    @property
    def event(self) -> Event:
        """What all groups together cost."""
        kept = self._law
        event = Pure(epsilon=kept) if self.pure else GaussianEvent(kept)
        return mark_unprotected_event(event, self.privacy.randomness)

    def deviation(self, place: int) -> float:
        """The standard deviation of one coordinate of a group, in units."""
        return self._each[place].deviation

    def scale(self, place: int) -> float:
        """Of the noise of a group, in units: its radius if it is ``pure``, else its deviation."""
        return float(self._each[place].scale)

    def bits(self, place: int) -> int:
        """Steps of 2**-bits, at most 2**-30 of the deviation."""
        return self._each[place].bits

    def release(self, place: int, totals: Whole, *, bits: int) -> Floats:
        """Noisy sums in units: ``totals`` counts steps of 2**-bits, one row for each block."""
        step = self.bits(place)
        shift = bits - step
        shape = np.shape(totals)
        whole = [_rounded(int(each), shift) for each in np.ravel(totals)]
        noise = self._draw(place, len(whole) // self.groups[place].size)
        noisy = np.array(whole, dtype=np.int64) + noise
        released: Floats = np.clip(noisy, -LIMIT, LIMIT).reshape(shape) * 2.0**-step
        return released

    def _draw(self, place: int, blocks: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        size, source = self.groups[place].size, self.privacy.randomness
        scale = self._each[place].scale * (1 << self.bits(place))
        if self.pure:
            return rounded_max_norm(scale, size, blocks, source).reshape(-1)
        return rounded_gaussian(scale, size * blocks, source)

    @cached_property
    def _each(self) -> tuple[_GroupNoise, ...]:
        """Scale (of the radius, or the deviation), deviation and bits of each group."""
        return tuple(_group_noise(self._scale(group), group, self.pure) for group in self.groups)

    def _scale(self, group: SumGroup) -> Fraction:
        if self.pure:
            return self.privacy.rows_that_differ / (exact(self._law) * exact(group.share))
        wide = sqrt_above(group.size / exact(group.share))
        return exact(self._law) * self.privacy.rows_that_differ * wide

    @property
    def pure(self) -> bool:
        """Whether noise has the norm of a cube, for a pure price; else it is normal."""
        return self._chosen[0]

    @property
    def _law(self) -> Number:
        """Epsilon, or the noise multiplier."""
        return self._chosen[1]

    @cached_property
    def _chosen(self) -> tuple[bool, Number]:
        options: list[tuple[float, bool, Number]] = []
        for reading in readings(self.privacy.spend):
            match reading:
                case PureDP(epsilon=epsilon):
                    options.append((_pure_variance(self.groups, float(epsilon)), True, epsilon))
                case ApproxDP() | ZCDP():
                    multiplier = multiplier_for(reading)
                    variance = sum(g.size**2 / float(g.share) for g in self.groups)
                    options.append((multiplier * multiplier * variance, False, multiplier))
                case LaplaceInRho():
                    continue
        _, pure, law = min(options, key=lambda option: option[0])
        return pure, law


@dataclass(frozen=True)
class _GroupNoise:
    scale: Fraction
    deviation: float
    bits: int


def _group_noise(scale: Fraction, group: SumGroup, pure: bool) -> _GroupNoise:  # noqa: FBT001
    wide = math.sqrt((group.size + 1) * (group.size + 2) / 3) if pure else 1.0
    deviation = wide * float(min(scale, _LARGEST))
    power = floor_log2(Fraction(deviation))
    bits = min(_MOST_BITS, _FINE - power)
    if bits < max(0, _COARSE - power):
        raise InvalidParameter(
            code="noise_beyond_grid",
            expectation="noise between 2**-6 and 2**34 times what one row may add",
            received=deviation,
            remedy="Choose a usual epsilon.",
        )
    return _GroupNoise(scale, deviation, bits)


def multiplier_for(spend: ApproxDP | ZCDP) -> float:
    """The least noise multiplier of one Gaussian release that a spend covers."""
    from discreet.accounting.gaussian import gaussian_multiplier  # loads all accountants

    if isinstance(spend, ApproxDP):
        return gaussian_multiplier(spend.epsilon, spend.delta)
    multiplier = float(sqrt_above(1 / (2 * exact(spend.rho))))
    return multiplier * (1 + 2.0**-50)


def _pure_variance(groups: Sequence[SumGroup], epsilon: float) -> float:
    return sum(
        g.size * (g.size + 1) * (g.size + 2) / 3 / max((epsilon * float(g.share)) ** 2, _LEAST)
        for g in groups
    )


def _rounded(total: int, shift: int) -> int:
    """A total in coarser steps, halves upward, within ±2**61."""
    whole = (total + (1 << shift >> 1)) >> shift if shift > 0 else total << -shift
    return max(-LIMIT, min(LIMIT, whole))
