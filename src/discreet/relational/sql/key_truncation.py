"""Joins of private rows on another key: how many rows of a key the owner lets through.

The bound is the owner's, declared on the table that the key's column comes from. It is enforced
and not believed: rows beyond it are cut, so a wrong one costs accuracy and never privacy.

Source: contract, "Units and neighbours"; 004b:A21(c), (d), 004d:F11.
"""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.errors import InvalidParameter
from discreet.relational.bounding.key_truncation import Truncated
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.functions.casts import cast
from discreet.relational.plan.nodes import Distinct, Rows, Scan, field_of
from discreet.relational.schema.table import Table
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.relation import Relation
from discreet.relational.types.expression import Call, Column, Expression


def limit_of(keys: Sequence[Expression], side: Relation, catalog: Catalog) -> int:
    """The most rows of one side that may share their values of ``keys``.

    A combination of columns has at most as many rows as any of them, so the least bound that
    was declared for some of them is taken.
    """
    found = [origin(key, side.rows) for key in keys]
    by_table: dict[str, set[str]] = {}
    for place in found:
        if place is not None:
            by_table.setdefault(place[0].table, set()).add(place[1])
    limits = []
    for name, columns in by_table.items():
        entry = catalog.find(name)
        if entry is not None and isinstance(entry.table, Table):
            declared = entry.table.max_rows_per.items()
            limits += [most for key, most in declared if columns.issuperset(key)]
    if limits:
        return min(limits)
    raise _missing({table: sorted(columns) for table, columns in by_table.items()})


def origin(expression: Expression, rows: Rows) -> tuple[Scan, str] | None:
    """The private table and column that an expression only repeats or converts."""
    if isinstance(expression, Call) and expression.function == cast(expression.facts.kind):
        return origin(expression.args[0], rows)
    if not isinstance(expression, Column):
        return None
    found = field_of(expression.name, rows)
    if found is not None:
        return found[0], found[1].name
    if isinstance(rows, Bounded | Distinct | Truncated):
        for output, inside in zip(rows.outputs, rows.expressions, strict=True):
            if output.name == expression.name:
                return origin(inside, rows.rows)
    places = (origin(expression, below) for below in rows.inputs)
    return next((place for place in places if place is not None), None)


def _missing(keys: dict[str, list[str]]) -> InvalidParameter:
    table, columns = next(iter(keys.items()), ("the table", ["the key"]))
    key = repr(columns[0]) if len(columns) == 1 else repr(tuple(columns))
    return InvalidParameter(
        code="private_join",
        expectation=f"max_rows_per on {table} for {', '.join(columns)}: how many of its rows a "
        "join of private tables on another key than the person lets through for one value",
        received="a join of private tables on something else than the person",
        remedy=f"Join on the identifier of both tables; or declare {table} as "
        f"dp.table(..., max_rows_per={{{key}: 3}}) and join on the columns themselves.",
    )


def no_equality() -> InvalidParameter:
    """The refusal of private tables joined on nothing that is equal."""
    return InvalidParameter(
        code="private_join",
        expectation="private tables joined on equal columns",
        received="a join of private tables on something else",
        remedy="Join on the person, or on columns with max_rows_per, and put the rest into WHERE.",
    )
