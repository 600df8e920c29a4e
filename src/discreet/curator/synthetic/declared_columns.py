"""The columns of a declared table as columns of synthesis; by declarations alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, cast

from discreet.core.errors import InvalidParameter
from discreet.core.spelling import did_you_mean
from discreet.curator.context import Context
from discreet.relational.schema.declarations import Dates, Discovered, Text
from discreet.relational.schema.table import Table
from discreet.relational.sql.catalog import require_table
from discreet.relational.types.data_type import DataType
from discreet.synthetic.encoding.constraints import Constraint
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.declared import column_of, without_missing
from discreet.synthetic.encoding.encoded_column import EncodedColumn
from discreet.synthetic.encoding.number_column import PrivateBins
from discreet.synthetic.encoding.table_encoding import TableEncoding


def table_encoding(
    context: Context,
    table: str,
    columns: Sequence[str] | Mapping[str, Any] | None,
    constraints: Sequence[Constraint],
    bins: int | PrivateBins,
    *,
    never_missing: Iterable[str] = (),
) -> TableEncoding:
    """The encoding of a private table: all its declared columns, or those that are named.

    A mapping gives columns of one's own for some names; None keeps what is declared. Those of
    ``never_missing`` have no cell for missing values.
    """
    require_table(table, context.database)
    found = context.database.tables.get(table)
    if not isinstance(found, Table):
        raise InvalidParameter(
            code="public_question",
            expectation="a private table; a public one needs no synthesis",
            received=table,
            remedy="Name a table that was declared with dp.table(...).",
        )
    wanted = _wanted(found, columns)
    made: dict[str, EncodedColumn] = {}
    for name, given in wanted.items():
        declared = found.columns.get(name) if given is None else given
        if declared is None:
            raise InvalidParameter(
                code="column_unknown",
                expectation=f"a declared column of {table!r}: {list(found.columns)}",
                received=name,
                remedy=did_you_mean(
                    name,
                    found.columns,
                    "Declare it, or pass dp.synthetic.IdentifierColumn() to have it generated.",
                ),
            )
        made[name] = _column(context, table, name, declared, bins)
    made = without_missing(made, never_missing, known=found.columns)
    return TableEncoding(made, tuple(constraints))


def left_out(context: Context, table: str) -> tuple[str, ...]:
    """Declared columns that have no public list of values, and are not synthesised."""
    found = context.database.tables.get(table)
    declared = found.columns if isinstance(found, Table) else {}
    return tuple(n for n, each in declared.items() if isinstance(each, Text | Discovered))


def _wanted(
    table: Table, columns: Sequence[str] | Mapping[str, Any] | None
) -> dict[str, Any | None]:
    if columns is None:
        names = (n for n, each in table.columns.items() if not isinstance(each, Text | Discovered))
        return dict.fromkeys(names)
    if isinstance(columns, str):
        raise InvalidParameter(
            code="attribute_names",
            expectation="a list of columns",
            received=columns,
            remedy=f'Write columns=["{columns}"].',
        )
    return dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns)


def _column(
    context: Context, table: str, name: str, declared: Any, bins: int | PrivateBins
) -> EncodedColumn:
    """The column as it is stored: whole numbers stay whole. Days are what was declared as such."""
    field = require_table(table, context.database).fields.get(name)
    if field is None:
        return column_of(name, declared, bins=bins)
    domain = field.domain
    if isinstance(declared, Dates) and isinstance(domain.low, date):
        if isinstance(domain.low, datetime) and not isinstance(declared.first, datetime):
            return DayColumn.between(declared.first, declared.last, bins=bins)
        return DayColumn.between(domain.low, cast(date, domain.high), bins=bins)
    whole = {DataType.INTEGER: True, DataType.DOUBLE: False}.get(domain.kind)
    return column_of(name, declared, bins=bins, whole=whole)
