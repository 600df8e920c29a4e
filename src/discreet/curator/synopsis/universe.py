"""Universes of the tables: made from columns and named expressions, counted, and known again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from discreet.core.errors import InvalidParameter
from discreet.curator.context import Context, tables_read
from discreet.queries.workload.universe import Universe
from discreet.relational.database import private_tables
from discreet.relational.execute.table_counts import TableCounts
from discreet.relational.frontends.as_sql import Asked, text_of
from discreet.relational.identity.identity import identity
from discreet.relational.plan.keyed_universe import KeyedUniverse, column_questions, universe_from
from discreet.relational.plan.query import Query
from discreet.relational.sql.catalog import require_table


def universe_of(
    context: Context, table: Asked, columns: Sequence[str], expressions: Mapping[str, str]
) -> KeyedUniverse:
    """The universe of some keys of a table, or of the keys of a question; reads no private row."""
    database = context.database
    if not columns and not expressions and not (isinstance(table, str) and database.find(table)):
        return universe_from((text_of(table),), context.query)
    found = require_table(str(table), database)
    for column in columns:
        if not isinstance(column, str):
            raise _not_a_name(type(column).__name__)
        if _is_expression(column) and column not in found.fields:
            raise _unnamed(column)
    for text in expressions.values():
        if not isinstance(text, str):
            raise _not_a_name(type(text).__name__)
    questions = column_questions(found.name, columns, tuple(expressions.items()))
    return universe_from(questions, context.query)


def counts_of(context: Context, universe: Universe) -> TableCounts:
    """What counts the cells of a universe here; nothing is counted yet."""
    database = context.database
    return TableCounts.of(universe, context.query, database.engine, private_tables(database))


def declared_universe(context: Context, query: Query) -> str:
    """Equal where a universe means the same cells of the same tables."""
    return identity(
        "universe", {"question": query, "rows": context.declared_rows(tables_read(query))}
    )


def _is_expression(text: str) -> bool:
    """Whether a text has signs that a plain name lacks, and an expression needs."""
    return any(sign in "()+*/%<>=|" for sign in text)


def _not_a_name(received: str) -> InvalidParameter:
    return InvalidParameter(
        code="attribute_names",
        expectation="names of columns, each by itself, and expressions as text",
        received=received,
        remedy='Write curator.universe("adult", "sex", "race", decade="FLOOR(age / 10)"); a list '
        "is passed with a star: *names.",
    )


def _unnamed(text: str) -> InvalidParameter:
    return InvalidParameter(
        code="attribute_names",
        expectation="a name for every expression",
        received=text,
        remedy=f'Pass it by keyword: curator.universe(..., name="{text}").',
    )
