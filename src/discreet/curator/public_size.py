"""How many people a query is about, as far as that is public.

Under ``Replace`` of rows their number is public, and is counted once for each table; elsewhere it
is private, and only what the owner declared is known: ``rows_at_most``.

Source: contract, "Units and neighbours" (``Replace``: n public). 000a:A3.
"""

from __future__ import annotations

from contextlib import suppress

from discreet.core.unit import Replace, Row
from discreet.curator.context import Context, tables_read
from discreet.relational.aggregates.measures import CountRows
from discreet.relational.execute.exact_aggregation import aggregate_exactly
from discreet.relational.plan.query import Query
from discreet.relational.schema.table import MOST_ROWS
from discreet.relational.sql.translate import query_from


def people_at_most(context: Context, query: Query) -> int | None:
    """The most people that the private tables of a query hold; None where nobody said so."""
    declared = dict(context.declared_rows(tables_read(query)))
    known = [_count_rows_if_public(context, table) or rows for table, rows in declared.items()]
    if not known or MOST_ROWS in known:
        return None
    return sum(known)


def _count_rows_if_public(context: Context, table: str) -> int | None:
    """The number of rows where each is a person that may be exchanged, not added or removed."""
    if context.unit != Replace(Row()):
        return None
    if table not in context.sizes:
        everything = query_from(f'SELECT COUNT(*) AS n FROM "{table}"', context.database)
        engine = context.database.engine
        with suppress(Exception):  # what an engine says may show a row
            found = aggregate_exactly(everything, [CountRows(None)], [], None, engine, salt=0)
            context.sizes[table] = int(found.linear[0].sum())
    return context.sizes.get(table)
