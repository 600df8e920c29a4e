"""What the tables of one curator must agree on: one unit, and declarations that suit their columns.

Source: contract, "Units and neighbours", "Columns".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.unit import Person, PrivacyUnit, Replace, add_remove
from discreet.relational.schema.declarations import (
    Boolean,
    Category,
    Dates,
    Declaration,
    Discovered,
    Integer,
    Number,
    Text,
)
from discreet.relational.schema.table import PublicTable, Table
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType


def common_unit(
    tables: Mapping[str, Table | PublicTable], declared: PrivacyUnit | None = None
) -> PrivacyUnit:
    """Whose privacy all private tables share; refused where they differ.

    Where there is no private table, whose the owner declared.

    Limits may differ: then they are the tables' own, and the common unit names the person alone.
    Columns that tell rows apart are the tables' own always: they say nothing of who is protected.
    """
    units = [table.unit for table in tables.values() if isinstance(table, Table)]
    if declared is not None and units:
        raise InvalidParameter(
            code="unit_declared_twice",
            expectation="unit= only where there is no private table; else the tables say it",
            received=declared,
            remedy="Leave unit= out.",
        )
    if declared is not None:
        return declared
    if not units:
        raise InvalidParameter(
            code="no_private_table",
            expectation="at least one private table",
            remedy="Pass visits=dp.table(...); or, for streams alone, unit=dp.Person(...).",
        )
    return agreed_unit(units)


def agreed_unit(units: Sequence[PrivacyUnit]) -> PrivacyUnit:
    """The one unit of tables that each declare theirs; refused where they protect others."""
    first, *others = units
    for other in others:
        if _people(other) != _people(first):
            raise Mismatch(
                code="unit_mismatch",
                expectation="private tables that protect the same people in the same way",
                received=other,
                remedy="Declare dp.Person(...) with the same of=, or dp.Row(), under the same "
                "relation on every table. Each names its own identifier column and has its own "
                "max_rows, max_groups and max_rows_per_group.",
            )
    return _without_row(first) if one_limit(units) else _person_alone(units)


def one_limit(units: Iterable[PrivacyUnit]) -> bool:
    """Whether all tables limit a person's rows and groups alike."""
    people = [unit for unit in map(add_remove, units) if isinstance(unit, Person)]
    return len({(p.max_rows, p.max_groups, p.max_rows_per_group) for p in people}) <= 1


def _people(unit: PrivacyUnit) -> object:
    """What units of several tables must agree on: whom they protect, and the relation."""
    inside = add_remove(unit)
    return (type(unit), Person, inside.of) if isinstance(inside, Person) else unit


def _without_row(unit: PrivacyUnit) -> PrivacyUnit:
    inside = add_remove(unit)
    if not isinstance(inside, Person) or inside.row is None:
        return unit
    person = replace(inside, row=None)
    return Replace(person) if isinstance(unit, Replace) else person


def _person_alone(units: Sequence[PrivacyUnit]) -> PrivacyUnit:
    """The person without limits, by the identifier of the first table that has one itself."""
    people = [unit for unit in map(add_remove, units) if isinstance(unit, Person)]
    named = next((person for person in people if person.via is None), people[0])
    person = Person(named.id, of=named.of)
    return Replace(person) if isinstance(units[0], Replace) else person


def require_column(column: str, table: str, stored: Collection[str]) -> None:
    """Refuse a column that is not there."""
    if column not in stored:
        raise InvalidParameter(
            code="unknown_column",
            expectation=f"one of the columns {sorted(stored)} of {table}",
            received=column,
            remedy="Check the spelling; names of columns are case-sensitive here.",
        )


def require_kind(column: str, table: str, kind: DataType | None) -> None:
    """Refuse a column that tells rows apart and cannot be read."""
    if kind is None:
        raise Mismatch(
            code="type_clash",
            expectation=f"row= to name a column of {table} with text, numbers, days or moments",
            received=column,
            remedy="Name another column, or leave row= out: rows are told apart by content then.",
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
        "moments, Category for lists of values, Discovered for text, whole numbers and days, "
        "Text for text.",
    )


def _suiting(kind: DataType, declaration: Declaration) -> ColumnDomain | None:  # noqa: PLR0911 -- one for each
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
        case Text():
            return declaration.domain() if text else None
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
