"""Comparisons of two values of one kind. Text is ordered by code points, as bytes of UTF-8 are.

Whole and real numbers are compared as doubles. All are NULL where an argument is, except the two
forms of IS DISTINCT FROM, for which NULL is a value like any other.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from discreet.relational.functions.function import Function
from discreet.relational.functions.signature import takes_alike
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

MAX_LISTED = 10_000


def truth(*_: ColumnDomain) -> ColumnDomain:
    """Nothing is known of a truth value but that it is one."""
    return ColumnDomain(DataType.BOOLEAN)


def _comparison(
    name: str,
    compare: Callable[[Any, Any], bool],
    *,
    strict: bool = True,
    commutative: bool = False,
) -> Function:
    return Function(
        name,
        accept=takes_alike(name, least=2, most=2),
        ordered=compare not in (operator.eq, operator.ne),
        result=truth,
        compute=compare,
        strict=strict,
        commutative=commutative,
    )


EQUAL = _comparison("=", operator.eq, commutative=True)
UNEQUAL = _comparison("<>", operator.ne, commutative=True)
LESS = _comparison("<", operator.lt)
LESS_EQUAL = _comparison("<=", operator.le)
GREATER = _comparison(">", operator.gt)
GREATER_EQUAL = _comparison(">=", operator.ge)
DISTINCT = _comparison("is distinct from", operator.ne, strict=False, commutative=True)
NOT_DISTINCT = _comparison("is not distinct from", operator.eq, strict=False, commutative=True)


def _between(value: Any, low: Any, high: Any) -> bool | None:
    # As SQL has it: value >= low AND value <= high, each of which may be unknown.
    parts = [
        None if value is None or low is None else value >= low,
        None if value is None or high is None else value <= high,
    ]
    return False if False in parts else None if None in parts else True


BETWEEN = Function(
    "between",
    accept=takes_alike("BETWEEN", least=3, most=3),
    result=truth,
    compute=_between,
    strict=False,
    ordered=True,
)
IN = Function(
    "in",
    accept=takes_alike("IN", least=2, most=MAX_LISTED),
    result=truth,
    compute=lambda value, *listed: value in listed,
)
"""Membership in a list of literals, none of them NULL."""

FUNCTIONS = (
    *(EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL),
    *(DISTINCT, NOT_DISTINCT, BETWEEN, IN),
)
