"""Hyperbolic functions, written with exponentials, logarithms and roots.

They become nothing but calls of the allow-list; where a value is too large, or there is none, they
are NULL like those.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from discreet.relational.functions.arithmetic import ADD, DIVIDE, MULTIPLY, NEGATE, SIGN, SUBTRACT
from discreet.relational.functions.comparison import GREATER, LESS
from discreet.relational.functions.function import Function
from discreet.relational.functions.powers import EXP, LN, SQRT
from discreet.relational.types.expression import Call, Case, Expression, Literal

_ONE_BEYOND = 20
"""Where the hyperbolic tangent is one in floating point."""


def _call(function: Function, *args: Expression) -> Expression:
    return Call(function, args)


def _half(x: Expression) -> Expression:
    return _call(MULTIPLY, x, Literal(0.5))


def _exponentials(x: Expression) -> tuple[Expression, Expression]:
    return _call(EXP, x), _call(EXP, _call(NEGATE, x))


def _root(x: Expression, one: int) -> Expression:
    """The root of the square and one, or of the square less one."""
    return _call(SQRT, _call(ADD, _call(MULTIPLY, x, x), Literal(one)))


def _tanh(x: Expression) -> Expression:
    twice = _call(EXP, _call(MULTIPLY, x, Literal(2.0)))
    ratio = _call(DIVIDE, _call(SUBTRACT, twice, Literal(1.0)), _call(ADD, twice, Literal(1.0)))
    return Case(((_call(GREATER, x, Literal(_ONE_BEYOND)), Literal(1.0)),), ratio)


def _asinh(x: Expression) -> Expression:
    """By the absolute value, so that no digits are lost on the negative side."""
    size = Case(((_call(LESS, x, Literal(0)), _call(NEGATE, x)),), x)
    return _call(MULTIPLY, _call(SIGN, x), _call(LN, _call(ADD, size, _root(size, 1))))


def _acosh(x: Expression) -> Expression:
    """NULL below one."""
    found = _call(LN, _call(ADD, x, _root(x, -1)))
    return Case(((_call(LESS, x, Literal(1)), Literal(None)),), found)


def _atanh(x: Expression) -> Expression:
    """NULL at one and beyond."""
    above, below = _call(ADD, Literal(1.0), x), _call(SUBTRACT, Literal(1.0), x)
    return _half(_call(LN, _call(DIVIDE, above, below)))


HYPERBOLIC: Mapping[str, Callable[[Expression], Expression]] = {
    "sinh": lambda x: _half(_call(SUBTRACT, *_exponentials(x))),
    "cosh": lambda x: _half(_call(ADD, *_exponentials(x))),
    "tanh": _tanh,
    "asinh": _asinh,
    "acosh": _acosh,
    "atanh": _atanh,
}
"""By lower-case SQL name."""
