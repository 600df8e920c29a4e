"""Roots, logarithms, exponentials and powers: DOUBLE in, DOUBLE out, NULL outside their domain.

Numerics: the square root is correctly rounded everywhere. The others come from the engine's
mathematical library, whose last place may differ from ours; their bounds are widened by four
places, and they yield no finite lists of values.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet.relational.functions.function import Function, never
from discreet.relational.functions.intervals import (
    Interval,
    domain_within,
    interval,
    is_finite,
    spread,
    widened,
)
from discreet.relational.functions.signature import takes_reals
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

_TINIEST = math.ulp(0.0)
_NOTHING = ColumnDomain(DataType.DOUBLE, values=())


def _total(compute: Callable[..., float], *values: float) -> float:
    """The value, NaN outside the domain and infinity where its magnitude is too large."""
    try:
        return compute(*values)
    except ValueError:
        return math.nan
    except OverflowError:
        return math.inf


def _logarithm(name: str, compute: Callable[[float], float]) -> Function:
    def contributions(domain: ColumnDomain) -> ColumnDomain:
        low, high = interval(domain)
        if high <= 0:
            return _NOTHING
        # No positive double is smaller than the tiniest, so logarithms have a least value.
        least = compute(max(low, _TINIEST))
        return domain_within(
            DataType.DOUBLE, widened((least, math.inf if math.isinf(high) else compute(high)))
        )

    return Function(
        name,
        accept=takes_reals(name, 1),
        result=contributions,
        compute=lambda value: compute(value) if value > 0 else None,
        exact=never,
        finite=lambda domain: domain.bounded and domain.low > 0,
        carries=frozenset({0}),
    )


def _root_reach(domain: ColumnDomain) -> ColumnDomain:
    low, high = interval(domain)
    if high < 0:
        return _NOTHING
    return domain_within(DataType.DOUBLE, (math.sqrt(max(low, 0.0)), math.sqrt(high)))


def _exponential_reach(domain: ColumnDomain) -> Interval:
    low, high = (_total(math.exp, end) for end in interval(domain))
    low, high = widened((low, high))
    return max(low, 0.0), high


def _power(base: float, exponent: float) -> float:
    """The power, with the sign of the result where it is too large: odd powers keep the base's."""
    value = _total(math.pow, base, exponent)
    return -value if math.isinf(value) and base < 0 and exponent % 2 == 1 else value


def _power_reach(base: ColumnDomain, exponent: ColumnDomain) -> Interval:
    """Bounds of a power, at the corners where it is monotone between them."""
    anywhere = (-math.inf, math.inf)
    if not base.bounded or not exponent.bounded:
        return anywhere
    if base.low > 0 or (base.low == 0 and exponent.low >= 0):
        # Its logarithm, exponent times log(base), is bilinear: extremes lie at corners.
        ends = [
            _power(first, second)
            for first in (base.low, base.high)
            for second in (exponent.low, exponent.high)
        ]
        low, high = widened(spread(ends))
        return max(low, 0.0), high
    if exponent.low == exponent.high and float(exponent.low).is_integer():
        return _whole_power_reach(base.low, base.high, exponent.low)
    return anywhere


def _whole_power_reach(low: float, high: float, exponent: float) -> Interval:
    if exponent < 0 and low <= 0 <= high:
        return -math.inf, math.inf
    even = exponent % 2 == 0
    ends = [_power(low, exponent), _power(high, exponent)]
    if even and low <= 0 <= high:
        ends.append(_power(0.0, exponent))
    least, most = widened(spread(ends))
    return (max(least, 0.0) if even else least), most


LN = _logarithm("ln", math.log)
LOG10 = _logarithm("log10", math.log10)
LOG2 = _logarithm("log2", math.log2)
SQRT = Function(
    "sqrt",
    accept=takes_reals("sqrt", 1),
    result=_root_reach,
    compute=lambda value: _total(math.sqrt, value),
    finite=lambda domain: domain.bounded and domain.low >= 0,
    carries=frozenset({0}),
)
EXP = Function(
    "exp",
    accept=takes_reals("exp", 1),
    result=lambda domain: domain_within(DataType.DOUBLE, _exponential_reach(domain)),
    compute=lambda value: _total(math.exp, value),
    exact=never,
    finite=lambda domain: is_finite(_exponential_reach(domain)),
)
POWER = Function(
    "power",
    accept=takes_reals("power", 2),
    result=lambda *domain: domain_within(DataType.DOUBLE, _power_reach(*domain)),
    compute=_power,
    exact=never,
    finite=lambda *domain: is_finite(_power_reach(*domain)),
)

FUNCTIONS = (LN, LOG10, LOG2, SQRT, EXP, POWER)
