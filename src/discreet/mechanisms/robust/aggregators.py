"""Robust averages of block results, as whole totals with a public divisor.

Keeping totals whole makes the arithmetic exact: an average is a total of integers divided, after
the noise, by a public number. With width w of the range and k values cut at each end, the totals
move by at most w, w, (k + 1) w and w when one of the m values is replaced, so the averages move by
w/m, w/(m - 2k), (k + 1) w/m and w. The Winsorized mean is worse than the trimmed one: replacing
one value can also move the value that k extremes are replaced by. If only one value is left
between the ends, that is all of them, and it moves by w as a median does.

Source: 000b:B2, completed for m - 2k = 1. Proof: ``proofs/robust-subsample.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, exact, nonnegative

_FLOAT_SLACK = Fraction(1, 10**9)


class Aggregator(ABC):
    """A total of sorted values, how far one of them moves it, and what to divide it by."""

    @abstractmethod
    def total(self, values: Sequence[int]) -> int:
        """The total, given the values in increasing order."""

    @abstractmethod
    def widths(self, size: int) -> int:
        """How many widths of the range one of ``size`` values can move the total by."""

    @abstractmethod
    def divisor(self, size: int) -> int:
        """What turns a total of ``size`` values into an average."""

    def sensitivity(self, size: int, width: Number) -> Fraction:
        """How far replacing one of ``size`` values, all within ``width``, moves the average.

        >>> [str(a.sensitivity(6, 1)) for a in (Mean(), Trimmed(1/6), Winsorized(1/6), Median())]
        ['1/6', '1/4', '1/3', '1']
        """
        return Fraction(self.widths(size), self.divisor(size)) * exact(width)


@dataclass(frozen=True)
class Mean(Aggregator):
    """The plain mean."""

    def total(self, values: Sequence[int]) -> int:
        return sum(values)

    def widths(self, size: int) -> int:
        """One value counts once."""
        return 1

    def divisor(self, size: int) -> int:
        return size


@dataclass(frozen=True)
class _Cutting(Aggregator):
    """Treats the share ``alpha`` of values at each end apart: k = floor(alpha * size) of them."""

    alpha: Number

    def __post_init__(self) -> None:
        """Refuse a share that would leave nothing."""
        object.__setattr__(self, "alpha", nonnegative("alpha", self.alpha))
        if not self.alpha < 0.5:
            raise InvalidParameter(
                code="nothing_left",
                expectation="alpha below 1/2, so that values are left between both ends",
                received=self.alpha,
                remedy="Cut less at each end, or use Median().",
            )

    def count_cut_values(self, size: int) -> int:
        """How many values at each end; a float just below a fraction counts as that fraction."""
        return min(math.floor(exact(self.alpha) * size + _FLOAT_SLACK), (size - 1) // 2)


@dataclass(frozen=True)
class Trimmed(_Cutting):
    """The mean of what is left after cutting off ``alpha`` of the values at each end."""

    def total(self, values: Sequence[int]) -> int:
        """Those in the middle."""
        k = self.count_cut_values(len(values))
        return sum(values[k : len(values) - k])

    def widths(self, size: int) -> int:
        """One value in, one out: what lies between moves by a width in all."""
        return 1

    def divisor(self, size: int) -> int:
        """Those in the middle."""
        return size - 2 * self.count_cut_values(size)


@dataclass(frozen=True)
class Winsorized(_Cutting):
    """The mean after replacing ``alpha`` of the values at each end by the nearest one left."""

    def total(self, values: Sequence[int]) -> int:
        """Those in the middle, the outermost of them k times more."""
        k = self.count_cut_values(len(values))
        middle = values[k : len(values) - k]
        return sum(middle) + k * (middle[0] + middle[-1])

    def widths(self, size: int) -> int:
        """The outermost values left count k + 1 times; a single one left counts for all."""
        return (
            self.count_cut_values(size) + 1 if size - 2 * self.count_cut_values(size) > 1 else size
        )

    def divisor(self, size: int) -> int:
        return size


@dataclass(frozen=True)
class Median(Aggregator):
    """The lower median: worst-case sensitivity is the whole width."""

    def total(self, values: Sequence[int]) -> int:
        """The one in the middle."""
        return values[(len(values) - 1) // 2]

    def widths(self, size: int) -> int:
        """It can jump from end to end."""
        return 1

    def divisor(self, size: int) -> int:
        """It stands for itself."""
        return 1
