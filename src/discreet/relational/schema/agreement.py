"""What the tables of one curator must agree on: one unit, and declarations that suit their columns.

Source: contract, "Units and neighbours", "Columns".
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.unit import Person, PrivacyUnit, add_remove
from discreet.relational.schema.declarations import (
    Boolean,
    Category,
    Dates,
    Declaration,
    Discovered,
    Integer,
    Number,
)
from discreet.relational.schema.table import PublicTable, Table
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType


def common_unit(tables: Mapping[str, Table | PublicTable]) -> PrivacyUnit:
    """Whose privacy all private tables share; refused where they differ."""
    units = {name: table.unit for name, table in tables.items() if isinstance(table, Table)}
    if not units:
        raise InvalidParameter(
            code="no_private_table",
            expectation="at least one private table",
            remedy="Pass visits=dp.table(...).",
        )
    first, *others = units.values()
    for other in others:
        if _bounds(other) != _bounds(first):
            raise Mismatch(
                code="unit_mismatch",
                expectation="private tables that protect the same people with the same bounds",
                received=other,
                remedy="Declare the same max_rows, max_groups, of and relation on every table; "
                "each names its own identifier column.",
            )
    return first


def _bounds(unit: PrivacyUnit) -> object:
    """What units of several tables must agree on: all but the identifier's name."""
    inside = add_remove(unit)
    if isinstance(inside, Person):
        bounds = (inside.max_rows, inside.max_groups, inside.max_rows_per_group)
        return (type(unit), Person, bounds, inside.of)
    return unit


def require_column(column: str, table: str, stored: Mapping[str, str]) -> None:
    """Refuse a column that is not there."""
    if column not in stored:
        raise InvalidParameter(
            code="unknown_column",
            expectation=f"one of the columns {sorted(stored)} of {table}",
            received=column,
            remedy="Check the spelling; names of columns are case-sensitive here.",
        )


def declared_domain(
    table: str, column: str, kind: DataType | None, declaration: Declaration
) -> ColumnDomain:
    """Facts of a declared column, where the declaration suits how the column is stored."""
    found = None if kind is None else _suiting(kind, declaration)
    if found is not None:
        return found
    raise Mismatch(
        code="type_clash",
        expectation=f"a declaration that suits the column {table}.{column}",
        received=(type(declaration).__name__, "unreadable" if kind is None else kind.value),
        remedy="Number and Integer are for numbers, Boolean for truth values, Dates for days and "
        "moments, Category for lists of values, Discovered for text, whole numbers and days.",
    )


def _suiting(kind: DataType, declaration: Declaration) -> ColumnDomain | None:
    """Facts of a column of a kind; text is read as what is declared, where it can be."""
    text = kind is DataType.TEXT
    match declaration:
        case Category():
            domain = declaration.domain()
            return domain if _convertible(kind, domain.kind) else None
        case Number():
            wanted = DataType.DOUBLE if text else kind
            return declaration.domain(wanted) if wanted.is_number else None
        case Integer():
            return declaration.domain() if text or kind.is_number else None
        case Boolean():
            truths = (DataType.BOOLEAN, DataType.INTEGER)
            return declaration.domain() if text or kind in truths else None
        case Discovered():
            found = kind in (DataType.TEXT, DataType.INTEGER, DataType.DATE)
            return declaration.domain(kind) if found else None
        case Dates():
            moments = isinstance(declaration.first, datetime)
            wanted = (DataType.TIMESTAMP if moments else DataType.DATE) if text else kind
            return declaration.domain(wanted) if wanted.is_calendar else None


def _convertible(stored: DataType, wanted: DataType) -> bool:
    if stored is wanted or stored is DataType.TEXT:
        return True
    return {stored, wanted} <= {DataType.INTEGER, DataType.DOUBLE} or {stored, wanted} <= {
        DataType.DATE,
        DataType.TIMESTAMP,
    }


def identifier_types(*, column: str) -> Mismatch:
    """The refusal of identifiers that are stored in several types."""
    return Mismatch(
        code="identifier_types",
        expectation=f"{column} to be stored in the same type in every table",
        remedy="Convert it when the tables are written; conversions could merge two people.",
    )
