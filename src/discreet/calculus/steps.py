"""Clamping and rounding to a public power-of-two grid, in exact whole numbers.

Rounding to the nearest step is monotone, so rounding and then clamping to the rounded bounds is
the same as clamping and then rounding; the whole computation is in steps.

Source: contract, "Numbers". Proof: ``proofs/calculus.md``.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

from discreet.calculus.containment import attempt
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, exact, finite, positive

if TYPE_CHECKING:
    from collections.abc import Sequence

_WHOLE_FLOATS = 2**53
_WHOLE_INT64 = 2**63
_LARGEST_STEP = 2**1000


@dataclass(frozen=True)
class Grid:
    """A step, and public bounds in steps: rounded to the nearest, and rounded outward."""

    step: Fraction
    low: int
    high: int
    floor: int
    ceiling: int

    @classmethod
    def of(cls, *, lower: Number, upper: Number, step: Number) -> Self:
        """Refuse crossed bounds and steps that are not powers of two."""
        least, most = exact(finite("lower", lower)), exact(finite("upper", upper))
        if least > most:
            raise InvalidParameter(
                code="bounds_crossed",
                expectation="lower <= upper",
                received=(lower, upper),
                remedy="Swap the bounds.",
            )
        size = exact(positive("grid", step))
        if not _power_of_two(size):
            raise InvalidParameter(
                code="grid_not_power_of_two",
                expectation="a grid that is a power of two, such as 1, 0.5 or 2**-30",
                received=step,
                remedy="Use 1 for whole numbers, else 2.0**-k at most 2**-30 of the noise scale.",
            )
        least, most = least / size, most / size
        return cls(size, round(least), round(most), math.floor(least), math.ceil(most))

    def steps(self, value: Any, absent: int) -> int:
        """``value`` in steps, rounded to the nearest (ties to even) and clamped."""
        number = plain(value)
        if number is None:
            return absent
        if isinstance(number, float):
            scaled = number / float(self.step)
            if math.isfinite(scaled):  # a division by a power of two is exact, or gives zero
                return min(max(round(scaled), self.low), self.high)
            if math.isinf(number):
                return self.high if number > 0 else self.low
        return min(max(round(Fraction(number) / self.step), self.low), self.high)

    def total(self, rows: Sequence[Any], absent: int) -> int:
        """The sum of all rows in steps: exact, so that their order does not matter."""
        fast = self._array_total(rows, absent)
        return sum(self.steps(row, absent) for row in rows) if fast is None else fast

    def _array_total(self, rows: Any, absent: int) -> int | None:
        """The same sum for an array of floats, where machine numbers hold every step exactly."""
        numpy = sys.modules.get("numpy")
        if numpy is None or type(rows) is not numpy.ndarray or rows.ndim != 1:
            return None
        largest = max(abs(self.low), abs(self.high), abs(absent))
        small = largest < _WHOLE_FLOATS and largest * max(len(rows), 1) < _WHOLE_INT64
        if rows.dtype not in (numpy.float64, numpy.float32) or not small:
            return None
        with numpy.errstate(all="ignore"):
            scaled = numpy.rint(rows.astype(numpy.float64) / float(self.step))
        absences = numpy.isnan(scaled)
        whole = numpy.clip(scaled[~absences], self.low, self.high).astype(numpy.int64)
        return int(whole.sum()) + absent * int(numpy.count_nonzero(absences))


def plain(value: Any) -> int | float | Fraction | None:
    """A Python number equal to ``value``, infinities included; None for NaN and other things."""
    if isinstance(value, (int, Fraction)):
        return None if isinstance(value, bool) else value
    if isinstance(value, Integral):
        return int(value)
    number = attempt(float, value) if isinstance(value, Real) else None
    return number if isinstance(number, float) and not math.isnan(number) else None


def _power_of_two(size: Fraction) -> bool:
    whole = max(size.numerator, size.denominator)
    single = min(size.numerator, size.denominator) == 1
    return single and whole & (whole - 1) == 0 and whole <= _LARGEST_STEP
