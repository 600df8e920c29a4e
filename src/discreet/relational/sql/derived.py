"""Columns that the owner derives from stored ones, to clean what was stored badly.

An owner writes ``day = "coalesce(try_strptime(d, '%Y-%m-%d'), try_strptime(d, '%d.%m.%Y'))"`` in
the words of the same allow-list in which analysts ask, so a derived column is a total function of
one row. It is made at the scan, and then held to its declaration as a stored column is. Where the
owner declared nothing, bounds or values that the expression itself has are its declaration.

A derived column may have the name of a stored one, which it then hides; inside of expressions
names mean what is stored.

Source: contract, "Columns", "What may be seen".
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.relational.compile.dialect import Dialect
from discreet.relational.plan.nodes import DerivedField, Field
from discreet.relational.schema.agreement import declared_domain
from discreet.relational.schema.column_types import typed_kind
from discreet.relational.schema.declarations import Category, Dates, Declaration, Number
from discreet.relational.schema.table import Table
from discreet.relational.sql.expressions import expression_from
from discreet.relational.sql.reading import require_all_read, watched
from discreet.relational.sql.statement import parse
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression, columns

_LISTED = 1000


def stored_fields(
    name: str, table: Table, stored: Mapping[str, str], dialect: Dialect
) -> dict[str, Field]:
    """The stored columns of a private table that can be used, with what is declared of each.

    A column of a text file of which nothing is said is text that may stand for something else.
    """
    fields = {}
    for column, stored_type in stored.items():
        kind = typed_kind(name, column, dialect.kind_of(stored_type), table.types)
        declaration = None if column in table.derived else table.columns.get(column)
        if declaration is not None:
            domain = declared_domain(name, column, kind, declaration)
        elif kind is not None:
            open_text = kind is DataType.TEXT and not table.source.typed
            domain = ColumnDomain(kind, untyped=open_text and column not in table.types)
        else:
            continue
        fields[column] = Field(column, stored_type, domain, declaration)
    return fields


def derived_fields(
    name: str, table: Table, inputs: Mapping[str, Field], dialect: Dialect
) -> dict[str, DerivedField]:
    """The derived columns of a table, each with the stored columns that it is computed from."""
    made = {}
    for column, text in table.derived.items():
        expression = _expression(column, text, inputs)
        kind, declaration = expression.domain.kind, table.columns.get(column)
        declaration = declaration or _implied(expression.domain)
        domain = (
            ColumnDomain(kind, length=expression.domain.length)
            if declaration is None
            else declared_domain(name, column, kind, declaration)
        )
        used = tuple(inputs[each] for each in inputs if each in columns(expression))
        made[column] = DerivedField(
            column, dialect.stored(kind), domain, declaration, expression, used
        )
    return made


def _expression(column: str, text: str, inputs: Mapping[str, Field]) -> Expression:
    tree = watched(parse(f"SELECT {text}"))
    items = tree.expressions if isinstance(tree, exp.Select) else []
    if len(items) != 1 or isinstance(items[0], exp.Alias):
        raise InvalidParameter(
            code="not_an_expression",
            expectation=f"one expression over the stored columns for {column}",
            received=text[:100],
            remedy='Write for instance derived={"region": "upper(trim(region))"}.',
        )

    def resolve(node: exp.Column) -> Expression:
        if node.name not in inputs or node.table:
            raise InvalidParameter(
                code="unknown_column",
                expectation=f"one of the stored columns {sorted(inputs)}",
                received=node.sql(),
                remedy="A derived column is computed from stored ones, by their exact names.",
            )
        return Column(node.name, inputs[node.name].domain)

    made = expression_from(items[0], resolve)
    require_all_read(tree)
    return made


def _implied(domain: ColumnDomain) -> Declaration | None:
    """The declaration that an expression is by itself: a list of values, or two bounds."""
    if domain.values and len(domain.values) <= _LISTED:
        return Category(domain.values)
    if not domain.bounded or not domain.low < domain.high:
        return None
    if domain.kind.is_number:
        return Number(domain.low, domain.high)
    return Dates(domain.low, domain.high) if domain.kind in _CALENDAR else None


_CALENDAR = (DataType.DATE, DataType.TIMESTAMP)
