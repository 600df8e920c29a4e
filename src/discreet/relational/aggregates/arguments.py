"""Measures of an argument: where a condition holds, centred, squared, multiplied.

Bounds decide the clamp and the centre; both are public.

Source: contract, "Columns" (AVG), "Numbers". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

import math

from discreet.core.errors import InvalidParameter
from discreet.relational.aggregates.measures import Total
from discreet.relational.functions.arithmetic import MULTIPLY, SQUARE, SUBTRACT
from discreet.relational.functions.logic import AND, IS_NOT_NULL
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Expression, Literal


def where(value: Expression, condition: Expression | None) -> Expression:
    """The value where the condition holds, NULL elsewhere."""
    return value if condition is None else Case(((condition, value),), Literal(None))


def both(condition: Expression | None, other: Expression) -> Expression:
    """Both conditions, where there are two."""
    return other if condition is None else Call(AND, (condition, other))


def pair(first: Expression, second: Expression) -> tuple[Expression, Expression]:
    """Two values, each where the other is not NULL."""
    return where(first, _present(second)), where(second, _present(first))


def bounds(value: Expression) -> tuple[int | float, int | float]:
    """The public bounds of a value that has them."""
    low, high = value.domain.low, value.domain.high
    assert isinstance(low, int | float)
    assert isinstance(high, int | float)
    _require_finite(high - low, (low, high))
    return low, high


def total(value: Expression) -> Total:
    """The sum of a value; of nothing but noughts as if ones could be among them."""
    low, high = bounds(value)
    return Total(value, low, high if low or high else 1)


def centred(value: Expression) -> Total:
    """The sum of a value's distances from the middle of its bounds."""
    low, high = bounds(value)
    return Total(value, low, high, _middle(value))


def product(first: Expression, second: Expression) -> Total:
    """The product of two centred values, itself centred where it is a square."""
    halves = []
    for value in (first, second):
        low, high = bounds(value)
        middle = _middle(value)
        halves.append(max(high - middle, middle - low))
    left, right = (Call(SUBTRACT, (value, Literal(_middle(value)))) for value in (first, second))
    most = halves[0] * halves[1]
    _require_finite(most, tuple(halves))
    if first == second:
        return Total(Call(SQUARE, (left,)), 0, most)
    return Total(Call(MULTIPLY, (left, right)), -most, most)


def _present(value: Expression) -> Expression:
    return Call(IS_NOT_NULL, (value,))


def _middle(value: Expression) -> int | float:
    low, high = bounds(value)
    return (low + high) // 2 if value.domain.kind is DataType.INTEGER else low + (high - low) / 2


def _require_finite(size: int | float, received: object) -> None:
    """Refuse bounds so wide that a double cannot tell how wide they are."""
    if isinstance(size, float) and not math.isfinite(size):
        raise InvalidParameter(
            code="bounds_too_far",
            expectation="bounds whose difference, and its square in a variance, is a finite double",
            received=received,
            remedy="Bound the argument: least(greatest(x, -1e100), 1e100).",
        )
