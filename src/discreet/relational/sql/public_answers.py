"""Public rows beside answers, and aggregates of public tables inside FROM.

Whatever is computed from public tables alone is public, so it is computed while a question is
translated, before anything is paid for: rows are listed by the engine, and added up in Python by
the same functions that work on released values.

Source: contract, "What may be seen" (contents if public).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sqlglot import exp

from discreet.relational.plan.nodes import Output
from discreet.relational.plan.public_rows import PublicRows
from discreet.relational.post_processing.evaluate import rows_of
from discreet.relational.post_processing.tables import AnswerColumn, ColumnRole, TableNode
from discreet.relational.post_processing.uncertain import point
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.over_answers import Public, PublicTable
from discreet.relational.sql.reading import rewritten
from discreet.relational.sql.relation import SQLRelation, Steps, Visible
from discreet.relational.sql.tree import take
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.expression import Column

Translate = Callable[[], tuple[Callable[[exp.Expression, Mapping[str, Any]], SQLRelation], Steps]]
"""A new translation of one question: what makes rows of a SELECT, and the steps that it makes."""


def public_listing(catalog: Catalog, translate: Translate) -> Public:
    """What reads an item of FROM, if it is about public tables and constants alone."""

    def list_public_source(source: exp.Expression, scope: Mapping[str, Any]) -> PublicTable | None:
        take(source)
        relation, steps = translate()
        rows = relation(rewritten(exp.select("*").from_(source.copy()), source), scope)
        if rows.rows.stability != 0:
            return None
        seen = steps.projected(rows)
        columns = [
            AnswerColumn(column.name, column.expression.domain.kind, ColumnRole.KEY)
            for column in seen.columns
        ]
        return columns, catalog.list_public_rows(seen.rows)

    return list_public_source


def public_relation(table: TableNode, steps: Steps) -> SQLRelation:
    """The rows of a table that was computed from public rows alone."""
    entries = tuple(tuple(map(point, row)) for row in rows_of(table, []))
    prefix = steps.prefix("public")
    outputs = []
    for place, column in enumerate(table.columns):
        found = dict.fromkeys(entry[place] for entry in entries if entry[place] is not None)
        domain = ColumnDomain(column.kind, values=tuple(found), declared=True)
        outputs.append(Output(f"{prefix}.{place}", domain))
    return SQLRelation(
        PublicRows.of(prefix, tuple(outputs), entries),
        tuple(
            Visible("", column.name, Column(output.name, output.domain))
            for column, output in zip(table.columns, outputs, strict=True)
        ),
    )
