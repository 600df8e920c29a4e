"""What is true of every row of a plan: its conditions, and the public tables that each row met.

Source: contract, "Columns" (public keys).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from discreet.relational.bounding.before_joins import Limited
from discreet.relational.bounding.elements import Unnested
from discreet.relational.bounding.key_truncation import JoinedByKey, Truncated
from discreet.relational.bounding.partition_filter import PartitionFilter
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.functions.logic import AND
from discreet.relational.plan.features import PerPersonAndKey
from discreet.relational.plan.nodes import (
    Distinct,
    Filtered,
    JoinedPeople,
    JoinKind,
    Output,
    PlanNode,
)
from discreet.relational.plan.person_windows import Windowed
from discreet.relational.types.expression import Call, Column, Expression, columns, substitute


def known_conditions(rows: PlanNode) -> Iterator[Expression]:
    """Conditions that every row satisfies, by the names that its columns have.

    Of a LEFT JOIN only those of the left side hold; of a union, none is looked for.
    """
    match rows:
        case Filtered(below, condition):
            yield from _conjuncts(condition)
            yield from known_conditions(below)
        case Limited() | PartitionFilter() | JoinedPublic() | Unnested() | Windowed():
            yield from known_conditions(rows.rows)
        case JoinedPeople(left, right, kind) | JoinedByKey(left, right, kind):
            yield from known_conditions(left)
            if kind is JoinKind.INNER:
                yield from known_conditions(right)
        case PerPersonAndKey():
            yield from _renamed(rows.rows, rows.keys, rows.outputs[len(rows.features) :])
        case Bounded() | Distinct() | Truncated():
            yield from _renamed(rows.rows, rows.expressions, rows.outputs)


def _renamed(
    below: PlanNode, inside: Sequence[Expression], outputs: Sequence[Output]
) -> Iterator[Expression]:
    """Conditions of rows below that read only columns which are still there, by their new names."""
    named: dict[str, Expression] = {
        column.name: Column(output.name, output.domain)
        for output, column in zip(outputs, inside, strict=True)
        if isinstance(column, Column)
    }
    for condition in known_conditions(below):
        if columns(condition) <= named.keys():
            yield substitute(condition, named)


def lookups(rows: PlanNode) -> Iterator[JoinedPublic]:
    """Public tables in which every row found one partner at most, those joined first before others.

    Where a key has several rows, what one of them says is not what all say: such a table is none.
    """
    match rows:
        case Filtered() | Limited() | PartitionFilter() | Unnested():
            yield from lookups(rows.rows)
        case JoinedPublic():
            yield from lookups(rows.rows)
            if rows.on and rows.partners <= 1:
                yield rows
        case JoinedPeople(left, right, kind):
            yield from lookups(left)
            if kind is JoinKind.INNER:
                yield from lookups(right)


def _conjuncts(condition: Expression) -> Iterator[Expression]:
    if isinstance(condition, Call) and condition.function == AND:
        for part in condition.args:
            yield from _conjuncts(part)
    else:
        yield condition
