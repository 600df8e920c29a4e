"""Public rows without a private partner, which RIGHT JOIN keeps: they bring keys and no numbers.

Such a row is there as long as nobody is, so it must not be counted. Every key of a public table
appears in an answer anyway, with noise; and an aggregate of what is NULL in a row without a
partner is the same with and without the row. So the row is left out, and an aggregate that would
notice is refused. Where rows belong to people it has no owner, and rows without one are dropped
anyway: ``COUNT(*)`` counts the rows of people.

Source: contract, "Columns" (absent groups appear; NULL identifiers are dropped).
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.core.errors import InvalidParameter
from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.functions.choice import COALESCE
from discreet.relational.functions.logic import AND, OR
from discreet.relational.types.expression import Call, Case, Column, Expression, Literal

Padded = tuple[frozenset[str], ...]
"""For each join that keeps public rows, the columns that are NULL in one without a partner."""


def require_blind(aggregates: Iterable[Aggregate], padded: Padded) -> None:
    """Refuse aggregates that would notice a public row without a partner."""
    for aggregate in aggregates:
        for measure in aggregate.measures:
            argument = getattr(measure, "argument", None)
            if argument is not None and not all(vanishes(argument, each) for each in padded):
                raise counted_without_partner()


def counted_without_partner() -> InvalidParameter:
    """The refusal to count rows that are there only while nobody is."""
    return InvalidParameter(
        code="counts_missing_rows",
        expectation="aggregates of private columns where a join keeps public rows without a "
        "partner",
        received="an aggregate that such a row would change",
        remedy="Count a column of the private table, such as its identifier: COUNT(v.patient); or "
        "write JOIN: every key of the public table appears anyway.",
    )


def vanishes(expression: Expression, nulls: frozenset[str]) -> bool:
    """Whether an expression is NULL in every row in which these columns are."""
    match expression:
        case Column(name=name):
            return name in nulls
        case Literal(value=value):
            return value is None
        case Case(branches=branches, otherwise=otherwise):
            return vanishes(otherwise, nulls) and all(
                never(test, nulls) or vanishes(result, nulls) for test, result in branches
            )
        case Call(function=function, args=args):
            if function == COALESCE:
                return all(vanishes(arg, nulls) for arg in args)
            return function.strict and any(vanishes(arg, nulls) for arg in args)


def never(condition: Expression, nulls: frozenset[str]) -> bool:
    """Whether a condition is true in no row in which these columns are NULL."""
    if isinstance(condition, Call) and condition.function == AND:
        return any(never(arg, nulls) for arg in condition.args)
    if isinstance(condition, Call) and condition.function == OR:
        return all(never(arg, nulls) for arg in condition.args)
    return vanishes(condition, nulls) or condition == Literal(value=False)
