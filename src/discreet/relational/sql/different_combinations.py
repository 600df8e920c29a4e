"""Different combinations of several columns, counted as different values of one whole number.

``COUNT(DISTINCT (sex, region))`` numbers the combinations of two public lists: the place of a value
in its list, nought for NULL, in as many digits as there are columns. Equal numbers are equal
combinations, and there are as many numbers as combinations. A combination in brackets is a value
also where a part of it is NULL; without brackets, ``COUNT(DISTINCT a, b)``, such a row counts not.

Source: contract, "Columns" (distinct counts).
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.relational.functions.arithmetic import ADD, MULTIPLY, SUBTRACT
from discreet.relational.functions.comparison import EQUAL
from discreet.relational.functions.logic import IS_NULL, OR
from discreet.relational.sql.relation import unsupported
from discreet.relational.types.column_domain import MAX_VALUES
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Case, Expression, Literal, possible_values

_LISTED = 1_000
"""Values of a column that is no range of whole numbers."""


def combination(parts: Sequence[Expression], *, with_nulls: bool) -> Expression:
    """The number of a combination; NULL where a part is and ``with_nulls`` does not count it."""
    if not parts:
        raise unsupported(construct="COUNT(DISTINCT ())", remedy="Name the columns.")
    number: Expression = Literal(0)
    size = 1
    for part in parts:
        place, places = _place(part)
        size *= places
        if size > MAX_VALUES:
            raise _too_many()
        number = Call(ADD, (Call(MULTIPLY, (number, Literal(places))), place))
    if with_nulls:
        return number
    missing = tuple(Call(IS_NULL, (part,)) for part in parts)
    return Case(((Call(OR, missing), Literal(None, DataType.INTEGER)),), number)


def _place(part: Expression) -> tuple[Expression, int]:
    """Where a value is in its list, from one on, and how many places there are with NULL."""
    domain = part.domain
    if not domain.declared:
        raise _too_many()
    if domain.kind is DataType.INTEGER and domain.values is None and domain.bounded:
        place = Call(ADD, (Call(SUBTRACT, (part, Literal(domain.low))), Literal(1)))
        return Case(((Call(IS_NULL, (part,)), Literal(0)),), place), domain.high - domain.low + 2
    values = possible_values(part, _LISTED)
    if values is None:
        raise _too_many()
    tests = tuple(
        (Call(EQUAL, (part, Literal(value))), Literal(number))
        for number, value in enumerate(values, start=1)
    )
    return Case(tests, Literal(0)) if tests else Literal(0), len(values) + 1


def _too_many() -> Exception:
    return unsupported(
        construct="different combinations of columns without a public list, or of too many",
        remedy=f"Declare the columns, with at most {MAX_VALUES} combinations; or put DISTINCT into "
        "FROM (...).",
    )
