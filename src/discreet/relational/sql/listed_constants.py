"""Constants that a declared category does not list: a comparison with one is a slip, and refused.

A scan turns every other value into NULL, so that ``ward = 'Z'`` is true of no row, whatever the
table holds. The owner's list is public, so the refusal may name it, and costs nothing. What was
paid for before is still read again.

Source: contract, "Columns" (categories), "What may be seen" (a refusal explains itself).
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from discreet.core.errors import InvalidParameter
from discreet.core.parts import parts_of
from discreet.relational.functions.comparison import DISTINCT, EQUAL, IN, NOT_DISTINCT, UNEQUAL
from discreet.relational.plan.keys import Block
from discreet.relational.plan.nodes import PlanNode, Scan, declared_field
from discreet.relational.plan.query import Query
from discreet.relational.schema.declarations import Category
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.expression import Call, Case, Column, Literal

_COMPARED = (EQUAL, UNEQUAL, IN, DISTINCT, NOT_DISTINCT)
_SHOWN = 12
"""Values of a list that a refusal names."""


def require_listed(query: Query) -> None:
    """Refuse a comparison of a category with what its owner did not list."""
    require_listed_in((query.rows, query.keys, query.aggregates), query.rows)


def require_listed_in(part: object, rows: PlanNode) -> None:
    """The same in one part of a question about ``rows``."""
    for call in _calls(part):
        if call.function not in _COMPARED:
            continue
        for column in call.args:
            found = declared_field(column.name, rows) if isinstance(column, Column) else None
            if found is not None and isinstance(found.declaration, Category):
                _require(found.name, found.declaration, call)


def _require(name: str, declared: Category, call: Call) -> None:
    for constant in call.args:
        if not isinstance(constant, Literal) or constant.value is None:
            continue
        if constant.value not in declared.values:
            known = [value for value in declared.values if value is not None]
            close = get_close_matches(str(constant.value), list(map(str, known)), n=3, cutoff=0.5)
            shown = close if close and len(known) > _SHOWN else known[:_SHOWN]
            more = ", ..." if len(known) > len(shown) else ""
            raise InvalidParameter(
                code="value_not_listed",
                expectation=f"a value that the owner listed for {name}",
                received=constant.value,
                remedy=f"Listed are {', '.join(map(repr, shown))}{more}; anything else is NULL.",
            )


def _calls(part: object) -> Iterator[Call]:
    """Every call in a plan, its keys and its aggregates."""
    waiting = [part]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Call | Case):
            waiting.extend(part.args)
            if isinstance(part, Call):
                yield part
        elif isinstance(part, tuple):
            waiting.extend(part)
        elif isinstance(part, Block):
            waiting.append(part.expressions)
        elif part.__class__ not in _WITHOUT_CALLS:
            waiting += parts_of(part)


_WITHOUT_CALLS = frozenset({type(None), bool, int, float, str, Scan, Column, Literal, ColumnDomain})
