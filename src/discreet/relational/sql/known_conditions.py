"""What is true of every row of a plan: its conditions, and the public tables that each row met.

Source: contract, "Columns" (public keys).
"""

from __future__ import annotations

from collections.abc import Iterator

from discreet.relational.bounding.before_joins import Limited
from discreet.relational.bounding.key_truncation import JoinedByKey, Truncated
from discreet.relational.bounding.partition_filter import PartitionFilter
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.public_join import JoinedPublic
from discreet.relational.functions.logic import AND
from discreet.relational.plan.nodes import Distinct, Filtered, JoinedPeople, JoinKind, PlanNode
from discreet.relational.types.expression import Call, Column, Expression, columns, substitute


def known_conditions(rows: PlanNode) -> Iterator[Expression]:
    """Conditions that every row satisfies, by the names that its columns have.

    Of a LEFT JOIN only those of the left side hold; of a union, none is looked for.
    """
    match rows:
        case Filtered(below, condition):
            yield from _conjuncts(condition)
            yield from known_conditions(below)
        case Limited() | PartitionFilter() | JoinedPublic():
            yield from known_conditions(rows.rows)
        case JoinedPeople(left, right, kind) | JoinedByKey(left, right, kind):
            yield from known_conditions(left)
            if kind is JoinKind.INNER:
                yield from known_conditions(right)
        case Bounded() | Distinct() | Truncated():
            named: dict[str, Expression] = {
                inside.name: Column(output.name, output.domain)
                for output, inside in zip(rows.outputs, rows.expressions, strict=True)
                if isinstance(inside, Column)
            }
            for condition in known_conditions(rows.rows):
                if columns(condition) <= named.keys():
                    yield substitute(condition, named)


def lookups(rows: PlanNode) -> Iterator[JoinedPublic]:
    """Public tables in which every row found one partner at most, those joined first before others.

    Where a key has several rows, what one of them says is not what all say: such a table is none.
    """
    match rows:
        case Filtered() | Limited() | PartitionFilter():
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
