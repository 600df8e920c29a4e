"""Intervals of numbers, with infinity where there is no bound.

Whole ends are exact. Real ends are computed by the operation itself: rounding to nearest is
monotone, so the rounded result of any pair inside lies between the rounded results at the ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TypeAlias

from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import LARGEST_REAL, SAFE_WHOLE, DataType

End: TypeAlias = int | float
Interval: TypeAlias = tuple[End, End]


def interval(domain: ColumnDomain) -> Interval:
    """The bounds of a number, infinite where unknown."""
    low = -math.inf if domain.low is None else domain.low
    high = math.inf if domain.high is None else domain.high
    return low, high


def domain_within(kind: DataType, ends: Interval) -> ColumnDomain:
    """Facts of a number in the interval; ends outside the doubles, on either side, are no bounds.

    So is an interval that is none: NaN, or ends that cross, say nothing about any row.
    """
    low, high = ends
    if not low <= high:
        return ColumnDomain(kind)
    return ColumnDomain(
        kind,
        low=low if abs(low) <= LARGEST_REAL else None,
        high=high if abs(high) <= LARGEST_REAL else None,
    )


def is_finite(ends: Interval) -> bool:
    """Whether both ends are finite, so that no operation on doubles inside can overflow."""
    return max(map(abs, ends)) <= LARGEST_REAL


def is_safe_whole(ends: Interval) -> bool:
    """Whether 64-bit integers hold every number inside with room to spare."""
    return max(map(abs, ends)) < SAFE_WHOLE


def corners(operation: Callable[[End, End], End], first: Interval, second: Interval) -> Interval:
    """The extremes of an operation that is monotone in each argument, wherever it goes."""
    return spread(operation(left, right) for left in first for right in second)


def spread(ends: Iterable[End]) -> Interval:
    """The least and the greatest."""
    every = list(ends)
    return min(every), max(every)


def times(left: End, right: End) -> End:
    """The product of two ends, where nothing times anything is nothing."""
    return 0 if left == 0 or right == 0 else left * right


def widened(ends: Interval, places: int = 4) -> Interval:
    """Both ends moved outward, for functions whose last places differ between libraries."""
    low, high = float(ends[0]), float(ends[1])
    for _ in range(places):
        low, high = math.nextafter(low, -math.inf), math.nextafter(high, math.inf)
    return low, high
