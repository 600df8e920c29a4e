"""Exact Laplace noise on the integers: rounded continuous, discrete, and one-sided geometric.

Scales are rational numbers of grid steps. Writing s for the scale and a = exp(-1/s):

* ``rounded_laplace``: round(L) with L continuous Laplace of scale s;
* ``discrete_laplace``: P(z) proportional to a**|z|;
* ``geometric``: P(k) = (1 - a) a**k on k = 0, 1, 2, …

Source: 000a:C2, 000a:A11, 004a:B5; contract, "Numbers". Proofs: ``proofs/laplace.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import exact, positive
from discreet.noise import bins, few, table
from discreet.noise.bins import (
    centred_directions,
    centred_starts,
    rungs,
    two_sided_directions,
    two_sided_starts,
)
from discreet.noise.enclosure import exp_minus, multiply
from discreet.noise.randomness import SYSTEM, Noiseless
from discreet.noise.table import OutcomeWeights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from discreet.core.parameters import Number
    from discreet.noise.randomness import Source

LARGEST_SCALE = 1 << 55
_TABLE_BITS = 7
_BINS_PER_SCALE_BITS = 6
_EXTRA = 40


def rounded_laplace(scale: Number, size: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """Continuous Laplace noise of the given scale, rounded to the nearest integer.

    Guarantee: exactly P(0) = 1 - exp(-1/2s) and P(±k) = exp(-(k-1/2)/s) (1 - exp(-1/s)) / 2.
    """
    return _draw(BinnedRoundedLaplace, few.rounded_laplace_number, scale, size, source)


def discrete_laplace(scale: Number, size: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """Two-sided geometric noise. Guarantee: exactly P(z) = (1-a)/(1+a) a**|z|."""
    return _draw(BinnedDiscreteLaplace, few.discrete_laplace_number, scale, size, source)


def geometric(scale: Number, size: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """One-sided geometric noise. Guarantee: exactly P(k) = (1-a) a**k for k >= 0."""
    return _draw(BinnedGeometric, few.geometric_number, scale, size, source)


def _draw(
    kind: type[_Exponential],
    number: Callable[[Fraction, Source], int],
    scale: Number,
    size: int,
    source: Source,
) -> NDArray[np.int64]:
    checked = checked_scale(scale)
    if isinstance(source, Noiseless):
        return np.zeros(size, dtype=np.int64)
    if size <= few.FEW:
        return few.draw_numbers(number, checked, size, source)
    law = kind(checked, bin_bits(checked))
    return bins.draw(law, size, source) if law.place_bits else table.draw(law, size, source)


def checked_scale(scale: Number) -> Fraction:
    """The scale as an exact rational, refused outside what 64-bit results can hold."""
    checked = exact(positive("scale", scale))
    if checked > LARGEST_SCALE:
        raise InvalidParameter(
            code="scale_out_of_range",
            expectation=f"a noise scale of at most 2**{LARGEST_SCALE.bit_length() - 1} grid steps",
            received=f"about 2**{int(checked).bit_length() - 1}",
            remedy="Use a coarser grid, a smaller sensitivity or a larger epsilon.",
        )
    return checked


def bin_bits(scale: Fraction) -> int:
    """Logarithm of the bin width: zero while one table holds the law, else near scale/48."""
    length = (scale.numerator // scale.denominator).bit_length()
    return 0 if length <= _TABLE_BITS else length - _BINS_PER_SCALE_BITS


@dataclass(frozen=True)
class _Exponential(ABC):
    """Shared form of the three laws: bins whose probabilities fall by exp(-width/scale)."""

    scale: Fraction
    place_bits: int
    fraction_bits = 0

    @abstractmethod
    def weights(self, bits: int) -> OutcomeWeights:
        """Enclosed weights of the bins."""

    @abstractmethod
    def values(self, count: int) -> NDArray[np.int64]:
        """The integer each bin starts from."""

    @abstractmethod
    def directions(self, count: int) -> NDArray[np.int64]:
        """Where the places of each bin lead."""

    def exponents(
        self, bins: NDArray[np.int64], places: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Distance into the bin over the scale, whichever the bin."""
        rate = float(1 / self.scale)
        return places * rate

    def exponent(self, index: int, place: Fraction) -> Fraction:
        return place / self.scale

    def _ladder(self, first: tuple[int, int], work: int, bits: int) -> list[tuple[int, int]]:
        """``first`` times exp(-h * width / scale) for h = 0, 1, … until the rest is negligible."""
        fall = exp_minus(Fraction(1 << self.place_bits) / self.scale, work)
        steps = [first]
        floor = 1 << (work - bits - _EXTRA // 2)
        while steps[-1][1] > floor:
            steps.append(multiply(steps[-1], fall, work))
        return steps

    def _rest(self, last: tuple[int, int], work: int) -> int:
        """Upper bound of everything below the last rung of a ladder."""
        fall = exp_minus(Fraction(1 << self.place_bits) / self.scale, work)[1]
        return last[1] * fall // max((1 << work) - fall, 1) + 1


@dataclass(frozen=True)
class BinnedDiscreteLaplace(_Exponential):
    """Outcomes in the order 0…, -1…, then outward; each bin starts nearest to zero."""

    def weights(self, bits: int) -> OutcomeWeights:
        """Bins h >= 0 weigh exp(-h w/s), their mirror images exp(-(h w + 1)/s)."""
        work = bits + 2 * _EXTRA
        step = exp_minus(1 / self.scale, work)
        up = self._ladder((1 << work, 1 << work), work, bits)
        down = [multiply(rung, step, work) for rung in up]
        both = [rung for pair in zip(up, down, strict=True) for rung in pair]
        rest = self._rest(up[-1], work) + self._rest(down[-1], work)
        return OutcomeWeights([low for low, _ in both], [high for _, high in both], rest)

    def values(self, count: int) -> NDArray[np.int64]:
        """Starts 0, -1, w, -1-w, 2w and so on."""
        return two_sided_starts(count, self.place_bits)

    def directions(self, count: int) -> NDArray[np.int64]:
        """Even outcomes lead upward, odd ones downward."""
        return two_sided_directions(count)


@dataclass(frozen=True)
class BinnedRoundedLaplace(_Exponential):
    """Outcomes in the order 0, then 1…, -1…, and outward."""

    def weights(self, bits: int) -> OutcomeWeights:
        """Zero weighs 1 - exp(-1/2s); each bin its width times its first probability."""
        work = bits + 2 * _EXTRA
        one = 1 << work
        half = exp_minus(1 / (2 * self.scale), work)
        step = exp_minus(1 / self.scale, work)
        first = multiply(half, (one - step[1], one - step[0]), work)
        # Twice the weights, so that halves stay integers: 2 P(0) and w * 2 P(±1).
        zero = (2 * (one - half[1]), 2 * (one - half[0]))
        ladder = self._ladder(
            (first[0] << self.place_bits, first[1] << self.place_bits), work, bits
        )
        low = [zero[0], *(rung[0] for rung in ladder for _ in (1, -1))]
        high = [zero[1], *(rung[1] for rung in ladder for _ in (1, -1))]
        return OutcomeWeights(low, high, 2 * self._rest(ladder[-1], work))

    def values(self, count: int) -> NDArray[np.int64]:
        """Starts 0, 1, -1, 1+w, -1-w and so on."""
        return centred_starts(count, self.place_bits)

    def directions(self, count: int) -> NDArray[np.int64]:
        """Zero stays; odd outcomes lead upward, even ones downward."""
        return centred_directions(count)

    def exponents(
        self, bins: NDArray[np.int64], places: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """As for every bin, but the lone zero is always kept."""
        return np.where(bins == 0, 0.0, super().exponents(bins, places))

    def exponent(self, index: int, place: Fraction) -> Fraction:
        return Fraction(0) if index == 0 else super().exponent(index, place)


@dataclass(frozen=True)
class BinnedGeometric(_Exponential):
    """Outcomes 0, 1, 2, … upward only."""

    def weights(self, bits: int) -> OutcomeWeights:
        """Bin h weighs exp(-h w/s)."""
        work = bits + 2 * _EXTRA
        ladder = self._ladder((1 << work, 1 << work), work, bits)
        low, high = zip(*ladder, strict=True)
        return OutcomeWeights(low, high, self._rest(ladder[-1], work))

    def values(self, count: int) -> NDArray[np.int64]:
        """Starts 0, w, 2w and so on."""
        return rungs(np.arange(count, dtype=np.int64), self.place_bits)

    def directions(self, count: int) -> NDArray[np.int64]:
        """Always upward."""
        return np.ones(count, dtype=np.int64)
