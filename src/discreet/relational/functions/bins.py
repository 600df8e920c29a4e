"""Bins of equal width between public ends, so that numbers can be keys.

``bin(x, low, high, n)`` is the lower edge of the bin in which ``x`` lies; the last bin includes
``high``, and ``x`` outside is NULL. ``width_bucket(x, low, high, n)`` is the standard's number of
the bin: 1 to n, 0 below ``low`` and n + 1 from ``high`` on.

Numerics: the place of a real x is floor((x - low) * n / (high - low)) in doubles, at most n - 1;
edge i is low + i * (high - low) / n in doubles, so lists of edges are exact. Whole ends that n
divides give whole edges.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.function import Function
from discreet.relational.functions.intervals import End, interval
from discreet.relational.functions.signature import takes_reals
from discreet.relational.types.column_domain import MAX_VALUES, ColumnDomain
from discreet.relational.types.data_type import SAFE_WHOLE, DataType, type_of_value

_LARGEST_END = 1e300


def binned(low: End, high: End, count: int) -> Function:
    """The lower edge of the bin.

    >>> bin_of = binned(0, 120, 12)
    >>> bin_of.apply([37.5], DataType.INTEGER), bin_of.apply([120.0], DataType.INTEGER)
    (30, 110)
    """
    _check(low, high, count)
    edge = edges(low, high, count)
    kind = DataType.INTEGER if isinstance(edge(0), int) else DataType.DOUBLE

    def compute(value: float) -> End | None:
        inside = float(low) <= value <= float(high)
        return edge(place(value, low, high, count)) if inside else None

    def result(domain: ColumnDomain) -> ColumnDomain:
        least, most = interval(domain)
        if most < float(low) or least > float(high):
            return ColumnDomain(kind, values=())
        first = place(max(float(least), float(low)), low, high, count)
        last = place(min(float(most), float(high)), low, high, count)
        return ColumnDomain(kind, values=tuple(edge(number) for number in range(first, last + 1)))

    return Function(
        "bin",
        accept=takes_reals("bin", 1),
        result=result,
        compute=compute,
        parameters=(low, high, count),
    )


def bucket(low: End, high: End, count: int) -> Function:
    """The number of the bin, as the standard's ``width_bucket`` has it."""
    _check(low, high, count)

    def compute(value: float) -> int:
        if value < float(low):
            return 0
        return count + 1 if value >= float(high) else place(value, low, high, count) + 1

    def result(domain: ColumnDomain) -> ColumnDomain:
        least, most = interval(domain)
        return ColumnDomain(DataType.INTEGER, low=compute(float(least)), high=compute(float(most)))

    return Function(
        "width_bucket",
        accept=takes_reals("width_bucket", 1),
        result=result,
        compute=compute,
        parameters=(low, high, count),
    )


def place(value: float, low: End, high: End, count: int) -> int:
    """The bin from 0 to n - 1 in which a value between the ends lies."""
    scaled = (value - float(low)) * float(count) / (float(high) - float(low))
    return min(math.floor(scaled), count - 1)


def edges(low: End, high: End, count: int) -> Callable[[int], End]:
    """The lower edge of each bin, whole where they all are."""
    if isinstance(low, int) and isinstance(high, int) and (high - low) % count == 0:
        width = (high - low) // count
        return lambda number: low + number * width
    start, span = float(low), float(high) - float(low)
    return lambda number: start + number * span / count


def _check(low: Any, high: Any, count: Any) -> None:
    ends = all(_is_end(end) for end in (low, high))
    whole = isinstance(count, int) and not isinstance(count, bool) and 1 <= count <= MAX_VALUES
    if not (ends and whole and float(low) < float(high)):
        raise InvalidParameter(
            code="bad_argument",
            expectation=f"low < high and 1 to {MAX_VALUES} bins, all constants",
            received=(low, high, count),
            remedy="Write bin(age, 0, 120, 12) for twelve bins of ten years.",
        )


def _is_end(end: object) -> bool:
    if isinstance(end, int) and not isinstance(end, bool):
        return abs(end) < SAFE_WHOLE
    return type_of_value(end) is DataType.DOUBLE and abs(end) <= _LARGEST_END  # type: ignore[arg-type]
