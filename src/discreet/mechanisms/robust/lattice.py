"""Bounded real data on a public lattice: clamped, rounded, and total.

Each number is clamped to public bounds and becomes a whole number of steps above the lower one.
The step is a power of two fixed by the bounds alone. What a number becomes depends on that number
only, so data sets that differ in one row still do, and everything after is exact in integers.

Source: contract, "Columns" and "Numbers". Proof: ``proofs/robust-noisy-test.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, exact, finite
from discreet.mechanisms.grid import floor_log2

FINE = 40
_FARTHEST = 1 << 1000


@dataclass(frozen=True)
class Lattice:
    """The numbers ``lower + k * 2**exponent`` for k from 0 to ``width``."""

    lower: Fraction
    upper: Fraction
    exponent: int
    width: int

    @classmethod
    def between(cls, bounds: tuple[Number, Number], *, bits: int = FINE) -> Lattice:
        """At least ``2**bits`` steps, and at most twice as many, from bound to bound."""
        lower, upper = _checked(bounds)
        exponent = floor_log2(upper - lower) - bits
        if not -1000 <= exponent <= 900:
            raise InvalidParameter(
                code="scale_out_of_range",
                expectation="bounds between 1e-280 and 1e280 apart",
                received=(float(lower), float(upper)),
                remedy="Rescale the data to usual units.",
            )
        width = math.ceil((upper - lower) / Fraction(2) ** exponent)
        return cls(lower, upper, exponent, width)

    def steps(self, values: Any) -> NDArray[np.int64]:
        """Whole steps for each value; NaN, None and whatever is no number become the lower bound.

        Guarantee: each result depends on its own value alone and lies in [0, width].
        """
        numbers = as_numbers(values)
        lower, upper = float(self.lower), float(self.upper)
        inside = np.clip(np.where(np.isnan(numbers), lower, numbers), lower, upper)
        steps = np.rint((inside - lower) * 2.0**-self.exponent)
        return np.clip(steps, 0, self.width).astype(np.int64)

    def value(self, steps: Fraction | int) -> float:
        """The number at a possibly fractional step, clamped to the bounds."""
        number = self.lower + steps * Fraction(2) ** self.exponent
        return float(min(max(number, self.lower), self.upper))

    def steps_for(self, distance: Number) -> int:
        """A distance in whole steps, rounded up, at least one."""
        return max(1, math.ceil(exact(distance) / Fraction(2) ** self.exponent))

    def length(self, steps: Number) -> float:
        """A distance of so many steps in the caller's units."""
        return float(exact(steps) * Fraction(2) ** self.exponent)


def as_numbers(values: Any) -> NDArray[np.float64]:
    """Each value as a float, NaN where it is none; never an error about a value."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iubf" and values.ndim == 1:
        return values.astype(np.float64)
    return np.array([as_number(value) for value in values], dtype=np.float64)


def as_number(value: Any) -> float:
    """The value as a float; integers too large become infinite, everything else strange NaN."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value > 0 or -1) if isinstance(value, int) else math.nan
    except Exception:  # a value of the data may fail in any way, and none may show
        return math.nan


def read_bounds(bounds: object) -> tuple[Number, Number]:
    """Two plain numbers within the range of floats, not yet in order."""
    if not isinstance(bounds, Sequence) or isinstance(bounds, str) or len(bounds) != 2:
        raise _no_bounds(type(bounds).__name__)
    lower, upper = (finite("bounds", bound) for bound in bounds)
    if not all(-_FARTHEST <= bound <= _FARTHEST for bound in (lower, upper)):
        raise InvalidParameter(
            code="parameter_out_of_range",
            expectation="bounds within 2**1000 of zero",
            remedy="Rescale the data to usual units.",
        )
    return lower, upper


def _no_bounds(received: object) -> InvalidParameter:
    return InvalidParameter(
        code="bounds_crossed",
        expectation="bounds=(lower, upper) with lower < upper",
        received=received,
        remedy="Declare the public range of the values, the smaller end first.",
    )


def _checked(bounds: tuple[Number, Number]) -> tuple[Fraction, Fraction]:
    lower, upper = map(exact, read_bounds(bounds))
    if not lower < upper:
        raise _no_bounds((float(lower), float(upper)))
    return lower, upper


def rows_of(data: Any) -> int:
    """The number of rows, which replace-one adjacency makes public; refused if there are none."""
    size = len(data)
    if size == 0:
        raise InvalidParameter(
            code="no_rows",
            expectation="at least one row, the number of rows being public here",
            remedy="Pass the rows of the table; an empty one has no median and no range.",
        )
    return size
