"""Tables as their owner declares them: where the rows lie, whose they are, what is public.

``table`` marks a private table, ``public`` one whose contents anybody may know.

Source: contract, "Units and neighbours", "Columns"; 004d:F9, D18.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.core.unit import Person, PrivacyUnit, Row, add_remove
from discreet.relational.schema import Category, Dates, Declaration, Number
from discreet.relational.sources import Source, source_of

MOST_ROWS = 1 << 40
"""Rows a table is assumed not to exceed; plans that could overflow with so many are refused."""


@dataclass(frozen=True)
class Table:
    """A private table: rows, the unit they belong to, and declared columns."""

    source: Source
    unit: PrivacyUnit
    columns: Mapping[str, Declaration]
    rows_at_most: int = MOST_ROWS
    snapshot: str | None = field(default=None)


@dataclass(frozen=True)
class PublicTable:
    """A table whose contents are public: keys, names of wards, population counts."""

    source: Source


def table(
    source: object,
    *,
    unit: PrivacyUnit,
    columns: Mapping[str, Declaration],
    table: str | None = None,
    rows_at_most: int = MOST_ROWS,
    snapshot: str | None = None,
) -> Table:
    """Declare a private table.

    ``source`` is a path (Parquet, CSV, DuckDB with ``table=``) or a Polars, pandas or Arrow
    table. ``unit`` says whose privacy is protected. ``columns`` declares the public bounds,
    categories and days of the columns that may be aggregated or grouped by. ``snapshot`` is a
    public name for this version of the data: with it, identical questions are recognised after
    a restart even for tables in memory.
    """
    return Table(
        source_of(source, table),
        _unit(unit),
        _declared(columns),
        count("rows_at_most", rows_at_most),
        snapshot,
    )


def public(source: object, *, table: str | None = None) -> PublicTable:
    """Declare a table that anybody may know; joining with it costs nothing."""
    return PublicTable(source_of(source, table))


def _unit(unit: PrivacyUnit) -> PrivacyUnit:
    inside = add_remove(unit)
    if not isinstance(inside, Row | Person):
        raise InvalidParameter(
            code="not_a_table_unit",
            expectation="Row(), Person(id, ...) or Replace of one of them",
            received=type(unit).__name__,
            remedy='Write Person("patient_id", max_rows=20), or Row() if each row is a person.',
        )
    return unit


def _declared(columns: Mapping[str, Declaration]) -> Mapping[str, Declaration]:
    for name, declaration in columns.items():
        if not isinstance(name, str) or not isinstance(declaration, Category | Number | Dates):
            raise InvalidParameter(
                code="not_a_declaration",
                expectation="Category, Number or Dates for every declared column",
                received=(name, type(declaration).__name__),
                remedy='Write columns={"age": dp.Number(0, 120)}.',
            )
    return dict(columns)
