"""Sums, products, quotients and remainders, never overflowing.

Whole numbers stay whole only where their intervals prove that the result is below 2**62;
otherwise both arguments become DOUBLE. A real result that is not finite is NULL, and so are
quotients and remainders by zero. ``//`` cuts towards zero; ``%`` has the sign of the dividend.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet.relational.functions.function import Function
from discreet.relational.functions.intervals import (
    End,
    Interval,
    corners,
    domain_within,
    interval,
    is_finite,
    is_safe_whole,
    spread,
    times,
)
from discreet.relational.functions.signature import Accept, clash, takes_numbers, takes_reals
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

ContributionBounds = Callable[..., Interval]


def _accept(name: str, contributions: ContributionBounds, count: int) -> Accept:
    numbers = takes_numbers(name, count)

    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        kinds = numbers(domain)
        whole = set(kinds) == {DataType.INTEGER} and is_safe_whole(
            contributions(*map(interval, domain))
        )
        return (DataType.INTEGER if whole else DataType.DOUBLE,) * count

    return accept


def _operation(
    name: str,
    contributions: ContributionBounds,
    compute: Callable[..., End],
    *,
    count: int = 2,
    commutative: bool = False,
) -> Function:
    """An operation that stays whole if its interval proves it, and carries what is not finite."""
    return Function(
        name,
        accept=_accept(name, contributions, count),
        result=lambda *domain: domain_within(domain[0].kind, contributions(*map(interval, domain))),
        compute=compute,
        commutative=commutative,
        finite=lambda *domain: is_finite(contributions(*map(interval, domain))),
        carries=frozenset(range(count)),
    )


def _sum(first: Interval, second: Interval) -> Interval:
    return first[0] + second[0], first[1] + second[1]


def _difference(first: Interval, second: Interval) -> Interval:
    return first[0] - second[1], first[1] - second[0]


def _square(ends: Interval) -> Interval:
    low, high = sorted(abs(end) for end in ends)
    return (0 if ends[0] <= 0 <= ends[1] else times(low, low)), times(high, high)


def _quotient(first: Interval, second: Interval) -> Interval:
    if second[0] <= 0 <= second[1]:
        return -math.inf, math.inf
    return corners(_divided, first, second)


def _divided(left: End, right: End) -> End:
    # The quotients of an unbounded divisor come as close to zero as one likes.
    return 0.0 if math.isinf(right) else float(left) / float(right)


def _divide(left: float, right: float) -> float:
    return math.nan if right == 0 else left / right


def _divide_towards_zero(left: int, right: int) -> int | None:
    if right == 0:
        return None
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(left: End, right: End) -> End | None:
    if right == 0:
        return None
    if isinstance(left, float) or isinstance(right, float):
        return math.fmod(left, right)
    return left - right * (_divide_towards_zero(left, right) or 0)


def _cut_reach(first: Interval, second: Interval) -> Interval:
    if second[0] <= 0 <= second[1]:
        # Any divisor is at least one in magnitude.
        most = max(abs(end) for end in first)
        return -most, most
    return corners(_cut_end, first, second)


def _cut_end(left: End, right: End) -> End:
    if math.isinf(right):
        return 0
    if math.isinf(left):
        return left if right > 0 else -left
    return _divide_towards_zero(int(left), int(right)) or 0


def _remainder_reach(first: Interval, second: Interval) -> Interval:
    most: End = max(abs(end) for end in second)
    if isinstance(most, int):
        most = max(most - 1, 0)
    low, high = max(-most, min(first[0], 0)), min(most, max(first[1], 0))
    return low, high


def _accept_whole(name: str) -> Accept:
    numbers = takes_numbers(name, 2)

    def accept(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
        if set(numbers(domain)) != {DataType.INTEGER}:
            raise clash(name, "two whole numbers", domain, "Write floor(x / y) for real numbers.")
        return (DataType.INTEGER, DataType.INTEGER)

    return accept


def _accept_remainder(domain: tuple[ColumnDomain, ...]) -> tuple[DataType, ...]:
    whole = set(takes_numbers("%", 2)(domain)) == {DataType.INTEGER}
    return (DataType.INTEGER if whole else DataType.DOUBLE,) * 2


def _whole_or_real(contributions: ContributionBounds) -> Callable[..., ColumnDomain]:
    return lambda *domain: domain_within(domain[0].kind, contributions(*map(interval, domain)))


def _sign(value: End) -> int:
    return (value > 0) - (value < 0)


ADD = _operation("add", _sum, lambda a, b: a + b, commutative=True)
SUBTRACT = _operation("subtract", _difference, lambda a, b: a - b)
MULTIPLY = _operation(
    "multiply", lambda a, b: corners(times, a, b), lambda a, b: a * b, commutative=True
)
SQUARE = _operation("square", _square, lambda a: a * a, count=1)
"""x * x, whose interval does not treat the two factors as strangers."""

DIVIDE = Function(
    "divide",
    accept=takes_reals("/", 2),
    result=lambda *domain: domain_within(DataType.DOUBLE, _quotient(*map(interval, domain))),
    compute=_divide,
    finite=lambda *domain: is_finite(_quotient(*map(interval, domain))),
    carries=frozenset({0}),
)
CUT = Function(
    "cut",
    accept=_accept_whole("//"),
    result=_whole_or_real(_cut_reach),
    compute=_divide_towards_zero,
)
REMAINDER = Function(
    "remainder",
    accept=_accept_remainder,
    result=_whole_or_real(_remainder_reach),
    compute=_remainder,
    finite=lambda first, second: not second.low <= 0 <= second.high if second.bounded else False,
    carries=frozenset({0}),
)
NEGATE = Function(
    "negate",
    accept=takes_numbers("-", 1),
    result=_whole_or_real(lambda ends: (-ends[1], -ends[0])),
    compute=lambda value: -value,
    carries=frozenset({0}),
)
ABSOLUTE = Function(
    "abs",
    accept=takes_numbers("abs", 1),
    result=_whole_or_real(
        lambda ends: (
            0 if ends[0] <= 0 <= ends[1] else min(map(abs, ends)),
            max(map(abs, ends)),
        )
    ),
    compute=abs,
    carries=frozenset({0}),
)
SIGN = Function(
    "sign",
    accept=takes_numbers("sign", 1),
    result=lambda domain: domain_within(
        DataType.INTEGER, spread(_sign(end) for end in interval(domain))
    ),
    compute=_sign,
)

FUNCTIONS = (ADD, SUBTRACT, MULTIPLY, SQUARE, DIVIDE, CUT, REMAINDER, NEGATE, ABSOLUTE, SIGN)
