"""Running sums of real vectors, such as gradients: clipped, on a grid, for any counter.

A vector is scaled down to an L2 norm of at most ``clip`` and each coordinate is rounded to a
power of two, so that sums are exact integers; rounding moves a vector by at most half a step in
each coordinate, which the norm accounts for. The counter's price is then that of one event for each
vector: ``learn`` reuses trees and factorisations through this.

Source: 004b:C9 (neighbours replace a record by nothing), modern-learn:6; contract, "Numbers".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, exact, positive
from discreet.mechanisms.grid import LIMIT, floor_log2, sqrt_above
from discreet.streams.contribution import EventContribution
from discreet.streams.statistics.statistic import sums_within

_WIDEST = 1 << 24


@dataclass(frozen=True, kw_only=True)
class ClippedVectors:
    """The running sum of vectors of ``dimension`` coordinates, of norm at most ``clip`` each.

    Rounding is finer than the clip by ``bits``, less the root of the dimension. Factorisations add
    digits of their own: with them 16 are plenty.

    >>> sums = ClippedVectors(dimension=2, clip=1)
    >>> sums.answer(sums.increments([[3.0, 4.0], [0.0, 0.5]])).round(6).tolist()
    [0.6, 1.3]
    """

    dimension: int
    clip: Number
    bits: int = 30

    def __post_init__(self) -> None:
        """Refuse sizes that are none."""
        object.__setattr__(self, "dimension", count("dimension", self.dimension))
        object.__setattr__(self, "clip", positive("clip", self.clip))
        object.__setattr__(self, "bits", count("bits", self.bits, least=8))
        if self.dimension > _WIDEST:
            raise InvalidParameter(
                code="dimension_too_large",
                expectation=f"at most {_WIDEST} coordinates",
                received=self.dimension,
                remedy="Sum parts of the vectors in streams of their own.",
            )
        if self.contribution.largest > LIMIT:
            raise InvalidParameter(
                code="step_too_fine",
                expectation="vectors of at most 2**61 steps",
                received=self.bits,
                remedy="Choose fewer bits: with 40 rounding is far below any noise.",
            )

    @property
    def exponent(self) -> int:
        """Of the grid: ``bits`` below the clip of one coordinate of a usual vector."""
        return floor_log2(exact(self.clip)) - self.bits - (self.dimension.bit_length() - 1) // 2

    @property
    def keys(self) -> int:
        """One for each coordinate."""
        return self.dimension

    @property
    def contribution(self) -> EventContribution:
        """The clip in steps, and half a step for each coordinate."""
        step = Fraction(2) ** self.exponent
        size = sqrt_above(Fraction(self.dimension))
        norm = exact(self.clip) * (1 + Fraction(1, 1 << 40)) / step + size / 2
        return EventContribution(l1=norm * size, l2_squared=norm**2, largest=math.ceil(norm))

    def increments(self, values: Any) -> NDArray[np.int64]:
        """The exact sum of one tick's clipped vectors, one row each, in steps, within 2**61."""
        rows = np.asarray(values, dtype=np.float64).reshape((-1, self.dimension))
        rows = np.nan_to_num(rows)  # no number is refused, for a refusal would tell it
        largest = np.abs(rows).max(axis=1, keepdims=True, initial=0.0)
        units = rows / np.where(largest > 0, largest, 1.0)
        lengths = np.sqrt(np.sum(units**2, axis=1, keepdims=True))
        # In steps, in which the clip is a usual number: a denormal clip has no room for fractions.
        clip = float(exact(self.clip) / Fraction(2) ** self.exponent)
        with np.errstate(all="ignore"):  # what is beyond all doubles is clipped; no norm warns
            inside = np.ldexp(rows, -self.exponent)
            norms = np.ldexp(largest, -self.exponent) * lengths
        clipped = units * (clip / np.maximum(lengths, 1.0))
        steps = np.rint(np.where(norms > clip, clipped, inside)).astype(np.int64)
        return sums_within(steps, int(self.contribution.largest))

    def answer(self, estimates: NDArray[Any]) -> Floats:
        """The sum, in the units of the vectors."""
        return np.ldexp(np.asarray(estimates, dtype=np.float64), self.exponent)
