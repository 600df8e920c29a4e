"""Rounding to whole numbers or to decimal digits.

``floor``, ``ceil``, ``trunc`` and ``round`` give an INTEGER where the bounds prove that it fits and
a DOUBLE otherwise. ``round`` takes halves away from zero, like SQL; with digits it multiplies,
rounds and divides in doubles.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.function import Function
from discreet.relational.functions.intervals import (
    End,
    Interval,
    domain_within,
    interval,
    is_finite,
    is_safe_whole,
)
from discreet.relational.functions.signature import Accept, takes_numbers
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import LARGEST_REAL, DataType

MAX_DIGITS = 15
_FEW = 10_000
"""Rounded numbers that are listed one by one."""
_EXACT = 2**53


def _result(compute: Callable[[float], float], domain: ColumnDomain) -> ColumnDomain:
    if domain.kind is DataType.INTEGER:
        return domain
    low, high = (_end(compute, end) for end in interval(domain))
    kind = DataType.INTEGER if is_safe_whole((low, high)) else DataType.DOUBLE
    return domain_within(kind, (low, high))


def _rounding(name: str, compute: Callable[[float], float]) -> Function:
    """A monotone function from doubles to whole doubles, and the identity of whole numbers."""
    return Function(
        name,
        accept=takes_numbers(name, 1),
        result=lambda domain: _result(compute, domain),
        compute=lambda value: value if isinstance(value, int) else compute(value),
        carries=frozenset({0}),
    )


def half_away(value: float) -> float:
    """The nearest whole number, halves away from zero, as ``std::round`` has it.

    >>> half_away(2.5), half_away(-2.5), half_away(0.49999999999999994)
    (3.0, -3.0, 0.0)
    """
    whole = math.trunc(value)
    # The remainder is exact, so no half is missed or invented.
    return float(whole + (value - whole >= 0.5) - (value - whole <= -0.5))


def rounded_to(digits: int) -> Function:
    """``round(x, digits)`` for a public number of digits; negative ones are tens, hundreds, ...

    >>> rounded_to(-3).apply([1500], DataType.INTEGER)
    2000
    """
    if not isinstance(digits, int) or abs(digits) > MAX_DIGITS:
        raise InvalidParameter(
            code="bad_argument",
            expectation=f"a whole number of digits from -{MAX_DIGITS} to {MAX_DIGITS} for round",
            received=digits,
            remedy="Write round(x, 2).",
        )
    scale: int = 10 ** abs(digits)

    def compute(value: End) -> End:
        if isinstance(value, int):
            return value if digits >= 0 else _whole_tens(value, scale)
        shifted: float = value * scale if digits > 0 else value / scale
        if not math.isfinite(shifted):
            return math.nan
        return half_away(shifted) / scale if digits > 0 else half_away(shifted) * scale

    def ends(domain: ColumnDomain) -> Interval:
        low, high = (_end(compute, end) for end in interval(domain))
        return low, high

    def result(domain: ColumnDomain) -> ColumnDomain:
        low, high = ends(domain)
        if digits > 0 and domain.kind is DataType.DOUBLE:
            return replace(
                domain_within(DataType.DOUBLE, (low, high)), values=_multiples(low, high, 1, scale)
            )
        whole = domain.kind is DataType.INTEGER or is_safe_whole((low, high))
        known = domain_within(DataType.INTEGER if whole else DataType.DOUBLE, (low, high))
        return replace(known, values=_multiples(low, high, scale, 1)) if digits < 0 else known

    return Function(
        "round_to",
        accept=_accept_tens(scale) if digits < 0 else takes_numbers("round", 1),
        result=result,
        compute=compute,
        parameters=(digits,),
        finite=lambda domain: (
            is_finite(interval(domain))
            and max(map(abs, interval(domain))) < LARGEST_REAL / (2 * scale)
        ),
        carries=frozenset({0}),
    )


def _multiples(low: End, high: End, scale: int, parts: int) -> tuple[object, ...] | None:
    """Every multiple of scale / parts from low to high, which are two of them, if few.

    Numerics: doubles name a multiple exactly up to 2**53 steps; beyond, none are listed.
    """
    if isinstance(low, int) and isinstance(high, int):
        first, last = low * parts // scale, high * parts // scale
    elif max(abs(low), abs(high)) * parts <= _EXACT:
        first, last = round(low * parts / scale), round(high * parts / scale)
    else:
        return None
    if last - first > _FEW:
        return None
    return tuple(
        number * scale if parts == 1 else number / parts for number in range(first, last + 1)
    )


def _end(compute: Callable[[End], End], end: End) -> End:
    rounded = end if math.isinf(end) else compute(end)
    return math.copysign(math.inf, end) if math.isnan(rounded) else rounded


def _whole_tens(value: int, scale: int) -> int:
    tens = (abs(value) + scale // 2) // scale * scale
    return tens if value >= 0 else -tens


def _accept_tens(scale: int) -> Accept:
    numbers = takes_numbers("round", 1)

    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        (kind,) = numbers(domain)
        low, high = interval(domain[0])
        # Half a unit is added before the division, which must not overflow either.
        fits = is_safe_whole((low - scale, high + scale))
        return (kind if fits else DataType.DOUBLE,)

    return accept


FLOOR = _rounding("floor", lambda value: float(math.floor(value)))
CEIL = _rounding("ceil", lambda value: float(math.ceil(value)))
TRUNC = _rounding("trunc", lambda value: float(math.trunc(value)))
ROUND = _rounding("round", half_away)

FUNCTIONS = (FLOOR, CEIL, TRUNC, ROUND)
