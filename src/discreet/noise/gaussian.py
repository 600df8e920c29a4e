"""Exact Gaussian noise on the integers: the continuous law rounded, and the discrete law.

The scale sigma is a rational number of grid steps.

* ``rounded_gaussian``: round(X) with X continuous normal of standard deviation sigma;
* ``discrete_gaussian``: P(z) proportional to exp(-z**2 / 2 sigma**2).

The two differ, and so do their prices: contract, "Numbers"; modern-data:N1.
Source: 000a:C5, 004a:B7. Proofs: ``proofs/gaussian.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise import bins, few, table
from discreet.noise.bins import (
    centred_directions,
    centred_starts,
    two_sided_directions,
    two_sided_starts,
)
from discreet.noise.enclosure import exp_minus, multiply
from discreet.noise.laplace import bin_bits, checked_scale
from discreet.noise.randomness import SYSTEM, Noiseless
from discreet.noise.table import OutcomeWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.core.parameters import Number
    from discreet.noise.randomness import Source

_EXTRA = 64
_WIDEST_INTEGRAL = 32


def rounded_gaussian(scale: Number, size: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """Continuous normal noise of standard deviation ``scale``, rounded to the nearest integer.

    Guarantee: exactly P(k) = Phi((k + 1/2)/scale) - Phi((k - 1/2)/scale).
    """
    sigma = checked_scale(scale)
    if isinstance(source, Noiseless):
        return np.zeros(size, dtype=np.int64)
    if size <= few.FEW and sigma >= 1:
        return few.draw_numbers(few.rounded_gaussian_number, sigma, size, source)
    if sigma < _WIDEST_INTEGRAL:
        return table.draw(RoundedCells(sigma), size, source)
    return bins.draw(BinnedRoundedGaussian(sigma, bin_bits(sigma)), size, source)


def discrete_gaussian(scale: Number, size: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """Discrete normal noise. Guarantee: exactly P(z) proportional to exp(-z**2 / 2 scale**2)."""
    sigma = checked_scale(scale)
    if isinstance(source, Noiseless):
        return np.zeros(size, dtype=np.int64)
    if size <= few.FEW:
        return few.draw_numbers(few.discrete_gaussian_number, sigma, size, source)
    law = BinnedDiscreteGaussian(sigma, bin_bits(sigma))
    return bins.draw(law, size, source) if law.place_bits else table.draw(law, size, source)


@dataclass(frozen=True)
class _Squared(ABC):
    """Shared form: bins that start at magnitudes m and fall like exp(-m**2 / 2 scale**2)."""

    scale: Fraction
    place_bits: int

    def _ladder(self, offset: Fraction, work: int, bits: int) -> list[tuple[int, int]]:
        """exp(-(offset + h w)**2 / 2 scale**2) for h = 0, 1, … until the rest is negligible.

        Successive quotients are themselves a geometric sequence, so each rung takes two products.
        """
        width = 1 << self.place_bits
        twice = 2 * self.scale * self.scale
        rung = exp_minus(offset * offset / twice, work)
        quotient = exp_minus((2 * offset * width + width * width) / twice, work)
        second = exp_minus(2 * width * width / twice, work)
        ladder = [rung]
        floor = 1 << (work - bits - _EXTRA // 2)
        while rung[1] > floor:
            rung = multiply(rung, quotient, work)
            quotient = multiply(quotient, second, work)
            ladder.append(rung)
        # Quotients only shrink, so the rest is below a geometric series with the last of them.
        return [*ladder, (0, rung[1] * quotient[1] // ((1 << work) - quotient[1]) + 1)]

    @abstractmethod
    def _magnitude(self, index: int) -> Fraction:
        """Where the bin starts, exactly."""

    @abstractmethod
    def _magnitudes(self, bins: NDArray[np.int64]) -> NDArray[np.float64]:
        """Where bins start, in double precision."""

    def exponents(
        self, bins: NDArray[np.int64], places: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """((m + v)**2 - m**2) / 2 scale**2, divided early so that nothing overflows."""
        sigma = float(self.scale)
        step = places / sigma
        return step * (self._magnitudes(bins) / sigma + step / 2)

    def exponent(self, index: int, place: Fraction) -> Fraction:
        """The same, exactly."""
        return place * (2 * self._magnitude(index) + place) / (2 * self.scale * self.scale)


@dataclass(frozen=True)
class BinnedDiscreteGaussian(_Squared):
    """Outcomes in the order 0…, -1…, then outward, as for the discrete Laplace law."""

    fraction_bits = 0

    def weights(self, bits: int) -> OutcomeWeights:
        """A bin weighs as its first, most probable integer."""
        work = bits + 2 * _EXTRA
        *up, up_rest = self._ladder(Fraction(0), work, bits)
        *down, down_rest = self._ladder(Fraction(1), work, bits)
        shorter = min(len(up), len(down))
        both = [rung for pair in zip(up, down, strict=False) for rung in pair]
        rest = up_rest[1] + down_rest[1] + sum(r[1] for r in up[shorter:] + down[shorter:])
        return OutcomeWeights([low for low, _ in both], [high for _, high in both], rest)

    def values(self, count: int) -> NDArray[np.int64]:
        """Starts 0, -1, w, -1-w, 2w and so on."""
        return two_sided_starts(count, self.place_bits)

    def directions(self, count: int) -> NDArray[np.int64]:
        """Even outcomes lead upward, odd ones downward."""
        return two_sided_directions(count)

    def _magnitude(self, index: int) -> Fraction:
        return Fraction((index >> 1 << self.place_bits) + (index & 1))

    def _magnitudes(self, bins: NDArray[np.int64]) -> NDArray[np.float64]:
        return (((bins >> 1) << self.place_bits) + (bins & 1)).astype(np.float64)


@dataclass(frozen=True)
class BinnedRoundedGaussian(_Squared):
    """Continuous magnitudes from 1/2 up in bins, and [0, 1/2) for the integer zero.

    The place in a bin is real; only its integer part is ever needed unless a coin is doubtful.
    """

    fraction_bits = 48

    def weights(self, bits: int) -> OutcomeWeights:
        """Zero holds one unit of length at density 1; bins their width at their largest density."""
        work = bits + 2 * _EXTRA
        *ladder, rest = self._ladder(Fraction(1, 2), work, bits)
        width = self.place_bits
        low = [1 << work, *(rung[0] << width for rung in ladder for _ in (1, -1))]
        high = [1 << work, *(rung[1] << width for rung in ladder for _ in (1, -1))]
        return OutcomeWeights(low, high, 2 * rest[1] << width)

    def values(self, count: int) -> NDArray[np.int64]:
        """Starts 0, 1, -1, 1+w, -1-w and so on."""
        return centred_starts(count, self.place_bits)

    def directions(self, count: int) -> NDArray[np.int64]:
        """Zero stays; odd outcomes lead upward, even ones downward."""
        return centred_directions(count)

    def exponents(
        self, bins: NDArray[np.int64], places: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """As for every bin; in the cell of zero the place is shrunk into [0, 1/2)."""
        within = np.where(bins == 0, places / (2 << self.place_bits), places)
        return super().exponents(bins, within)

    def exponent(self, index: int, place: Fraction) -> Fraction:
        return super().exponent(index, place if index else place / (2 << self.place_bits))

    def _magnitude(self, index: int) -> Fraction:
        return Fraction(0) if index == 0 else ((index - 1) // 2 << self.place_bits) + Fraction(1, 2)

    def _magnitudes(self, bins: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.where(bins == 0, 0.0, ((bins - 1) >> 1 << self.place_bits) + 0.5)


@dataclass(frozen=True)
class RoundedCells:
    """The rounded Gaussian cell by cell, for scales at which one table holds them all."""

    scale: Fraction

    def weights(self, bits: int) -> OutcomeWeights:
        """Each integer weighs the integral of exp(-u**2 / 2) over its cell, in units of scale."""
        # A far cell is a sum near 2**bits times an exponential near 2**-bits: hence twice the bits.
        work = 2 * bits + _EXTRA
        inner = (0, 0)
        low: list[int] = []
        high: list[int] = []
        edge = 1 / (2 * self.scale)
        floor = 1 << (work - bits - _EXTRA // 2)
        while True:
            outer = _integral(edge, work)
            cell = (max(outer[0] - inner[1], 0), outer[1] - inner[0])
            # Zero has two halves; every other cell has a mirror image.
            low.extend((cell[0], cell[0]) if low else (2 * cell[0],))
            high.extend((cell[1], cell[1]) if high else (2 * cell[1],))
            rest = _mills(edge, work)
            if rest < floor:
                return OutcomeWeights(low, high, 2 * rest)
            inner = outer
            edge += 1 / self.scale

    def values(self, count: int) -> NDArray[np.int64]:
        """0, 1, -1, 2, -2 and so on."""
        outcome = np.arange(count, dtype=np.int64)
        return np.where(outcome & 1, (outcome + 1) >> 1, -(outcome >> 1))


def _mills(u: Fraction, work: int) -> int:
    """Upper bound of the integral of exp(-x**2 / 2) beyond ``u``: exp(-u**2 / 2) / u."""
    return int(exp_minus(u * u / 2, work)[1] / u) + 1


def _integral(u: Fraction, work: int) -> tuple[int, int]:
    """Enclose the integral of exp(-x**2 / 2) over [0, u].

    It equals u exp(-u**2 / 2) times the sum of u**(2n) / (1 * 3 * … * (2n+1)): positive terms
    only, floored for the lower bound and rounded up for the upper one. Beyond ``reach``, where
    exp(-u**2 / 2) < 2**(-work/2), the bound of the rest is added instead.
    """
    reach = isqrt(7 * work // 10) + 1
    if u > reach:
        low, high = _integral(Fraction(reach), work)
        return low, high + _mills(Fraction(reach), work)
    p, d = (u * u).numerator, (u * u).denominator
    low = high = sum_low = sum_high = 1 << work
    n = 0
    # Stop once terms fall to a quarter each and are down to a unit: the rest is below the last.
    while high > 1 or 4 * p > d * (2 * n + 3):
        n += 1
        low = low * p // (d * (2 * n + 1))
        high = -(-high * p // (d * (2 * n + 1)))
        sum_low += low
        sum_high += high
    total = multiply((sum_low, sum_high + high), exp_minus(u * u / 2, work), work)
    return total[0] * u.numerator // u.denominator, -(-total[1] * u.numerator // u.denominator)
