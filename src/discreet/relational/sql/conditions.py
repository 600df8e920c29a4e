"""Conditions of clauses: what is none is refused before an engine could try to read it as one.

An engine that is given text where it wants a truth value reads every row's text as one, and fails
at the first that is none: that would tell of that row.

Source: contract, "What may be seen" (no row can make an engine fail).
"""

from __future__ import annotations

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.casts import cast
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Expression

_COMPARED = {"WHERE": "cost > 100", "HAVING": "COUNT(*) > 100", "ON": "v.city = c.city"}


def condition_of(expression: Expression, clause: str) -> Expression:
    """The condition of a clause; an untyped field of a text file is read as a truth value."""
    if expression.domain.kind is DataType.BOOLEAN:
        return expression
    if expression.domain.untyped:
        return Call(cast(DataType.BOOLEAN), (expression,))
    raise InvalidParameter(
        code="type_clash",
        expectation=f"a condition in {clause}",
        received=expression.domain.kind.name,
        remedy=f"Compare something: {clause} {_COMPARED[clause]}.",
    )
