"""Columns, conditions and order of tables of released values, each from its node of the parser."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.functions.comparison import EQUAL
from discreet.relational.functions.logic import AND
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import AggregateOutput, KeyOutput, Output, Query
from discreet.relational.post_processing.tables import (
    Answer,
    AnswerColumn,
    Arranged,
    ColumnRole,
    GroupedAnswer,
    Joined,
    OneRow,
    Projected,
    Sorting,
    TableNode,
    WindowedAnswer,
)
from discreet.relational.sql.parsed import call_of
from discreet.relational.sql.relation import unsupported
from discreet.relational.sql.seen_table import SeenTable
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression, Literal


def only_alias(node: exp.Subquery) -> None:
    """Refuse a subquery in brackets with anything but an alias."""
    for name, value in node.args.items():
        if value and name not in ("this", "alias"):
            raise unsupported(
                construct=f"{name.strip('_').upper()} after (...)", remedy="Leave it out."
            )
    if node.args.get("alias") is not None and node.args["alias"].columns:
        raise unsupported(
            construct="column names after an alias", remedy="Name the columns with AS inside."
        )


def shown_column(query: Query, output: Output) -> AnswerColumn:
    """A column of an answer."""
    if isinstance(output, KeyOutput):
        block, place = query.key_places[output.number]
        keys = query.keys
        expressions = (
            keys.blocks[block].expressions if isinstance(keys, KeySet) else keys.expressions
        )
        return AnswerColumn(output.name, expressions[place].domain.kind, ColumnRole.KEY)
    if isinstance(output, AggregateOutput):
        whole = query.aggregates[output.number].whole
        return AnswerColumn(
            output.name, DataType.INTEGER if whole else DataType.DOUBLE, ColumnRole.NUMBER
        )
    made = output.expression
    return AnswerColumn(output.name, made.domain.kind, ColumnRole.NUMBER, empty=_is_null(made))


def output_column(name: str, expression: Expression, source: TableNode) -> AnswerColumn:
    """A column computed from a table."""
    kind = expression.domain.kind
    if isinstance(expression, Column):
        return replace(source.columns[int(expression.name[1:])], name=name, kind=kind)
    role = ColumnRole.PLACE if kind is DataType.BOOLEAN else ColumnRole.NUMBER
    return AnswerColumn(name, kind, role, empty=_is_null(expression))


def _is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None


def either_column(left: AnswerColumn, right: AnswerColumn) -> AnswerColumn:
    """A column of two sides; what is always NULL has any kind."""
    told = [each for each in (left, right) if not each.empty] or [left]
    kinds = {each.kind for each in told}
    if len(kinds) > 1 and not kinds <= {DataType.INTEGER, DataType.DOUBLE}:
        raise InvalidParameter(
            code="type_clash",
            expectation="columns of one kind on both sides",
            received=(left.kind.name, right.kind.name),
            remedy="Convert one of them with CAST.",
        )
    kind = DataType.DOUBLE if len(kinds) > 1 else told[0].kind
    roles = {each.role for each in told}
    role = ColumnRole.NUMBER if ColumnRole.NUMBER in roles else told[0].role
    return AnswerColumn(left.name, kind, role, empty=left.empty and right.empty)


def filtered_table(source: TableNode, condition: Expression) -> Projected:
    """The rows of a table where a condition holds."""
    every = tuple(column.column(place) for place, column in enumerate(source.columns))
    return Projected(source, condition, every, source.columns)


def arranged_table(
    source: TableNode, order: tuple[Sorting, ...], node: exp.Expression, *, distinct: bool
) -> TableNode:
    """A table in an order, cut by LIMIT and OFFSET of ``node``."""
    limit, offset = (
        whole_number(node.args.get(name), name.upper()) for name in ("limit", "offset")
    )
    if not order and limit is None and not offset and not distinct:
        return source
    return Arranged(source, order, limit, offset or 0, distinct, source.columns)


def whole_number(node: exp.Expression | None, name: str) -> int | None:
    """The whole number of LIMIT or OFFSET."""
    if node is None:
        return None
    value = node.expression
    extra = [part for part, given in node.args.items() if given and part != "expression"]
    if isinstance(value, exp.Literal) and value.is_int and not extra:
        return int(value.name)
    raise unsupported(
        construct=f"{name} that is not a whole number", remedy="Write a number of rows."
    )


def place_of(literal: exp.Literal, columns: int) -> int:
    """The column that a number in ORDER BY means."""
    place = int(literal.name) - 1
    if 0 <= place < columns:
        return place
    raise InvalidParameter(
        code="no_such_column",
        expectation="the number of a column in ORDER BY",
        received=place + 1,
        remedy="Count the columns of the SELECT from one, or use a name.",
    )


def sign_of(term: exp.Expression) -> int:
    """Which way a term of ORDER BY runs."""
    return -1 if term.args.get("desc") else 1


def nulls_first(term: exp.Expression) -> bool:
    """Whether NULL comes first."""
    return bool(term.args.get("nulls_first"))


def condition_of(expression: Expression, clause: str) -> Expression:
    """The condition of a clause; refused if it is none."""
    if expression.domain.kind is DataType.BOOLEAN:
        return expression
    raise InvalidParameter(
        code="type_clash",
        expectation=f"a condition in {clause}",
        received=expression.domain.kind.name,
        remedy=f"Compare something: {clause} n > 100.",
    )


def using_condition(
    name: str, left: SeenTable, right: SeenTable, condition: Expression | None
) -> Expression:
    """The condition of USING, beside another."""
    sides = []
    for seen, shift in ((left, 0), (right, len(left.names))):
        found = [place for place, (_, own) in enumerate(seen.names) if own.lower() == name]
        if len(found) != 1:
            raise InvalidParameter(
                code="unknown_column",
                expectation="a column of USING on both sides",
                received=name,
                remedy="Write ON a.x = b.x.",
            )
        sides.append(seen.node.columns[found[0]].column(found[0] + shift))
    equal = call_of(EQUAL, *sides)
    if condition is None:
        return equal
    return call_of(AND, condition, equal)


def is_one_row(  # noqa: PLR0911 -- one for each node
    table: TableNode, parts: list[Query]
) -> bool:
    """Whether a table has one row at most, whatever was released."""
    match table:
        case OneRow():
            return True
        case Answer(part=part):
            keys = parts[part].keys
            return isinstance(keys, KeySet) and not keys.blocks
        case Projected(source=source) | WindowedAnswer(source=source):
            return is_one_row(source, parts)
        case Arranged(source=source, limit=limit):
            return limit == 1 or is_one_row(source, parts)
        case GroupedAnswer(sets=sets):
            return sets == ((),)
        case Joined(left=left, right=right):
            return is_one_row(left, parts) and is_one_row(right, parts)
    return False
