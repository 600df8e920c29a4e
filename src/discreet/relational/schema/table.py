"""Tables as their owner declares them: where the rows lie, whose they are, what is public.

``table`` marks a private table, ``public`` one whose contents anybody may know.

Source: contract, "Units and neighbours", "Columns"; 004d:F9, D18.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.core.unit import Person, PrivacyUnit, Row, add_remove
from discreet.relational.schema.column_types import column_types
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
from discreet.relational.schema.sources import TableSource, require_types, source_of
from discreet.relational.types.data_type import DataType

MOST_ROWS = 1 << 40
"""Rows a table is assumed not to exceed; plans that could overflow with so many are refused."""


@dataclass(frozen=True)
class Table:
    """A private table: rows, the unit they belong to, and declared columns."""

    source: TableSource
    unit: PrivacyUnit
    columns: Mapping[str, Declaration]
    rows_at_most: int = MOST_ROWS
    snapshot: str | None = field(default=None)
    max_rows_per: Mapping[tuple[str, ...], int] = field(default_factory=dict)
    derived: Mapping[str, str] = field(default_factory=dict)
    fixed_per_person: tuple[str, ...] = ()
    types: Mapping[str, DataType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse columns whose type would have to be read off private values."""
        require_types(self.source)


@dataclass(frozen=True)
class PublicTable:
    """A table whose contents are public: keys, names of wards, population counts."""

    source: TableSource
    types: Mapping[str, DataType] = field(default_factory=dict)


def table(
    source: object,
    *,
    unit: PrivacyUnit,
    columns: Mapping[str, Declaration],
    table: str | None = None,
    rows_at_most: int = MOST_ROWS,
    snapshot: str | None = None,
    max_rows_per: Mapping[str, int] | Mapping[Any, int] | None = None,
    derived: Mapping[str, str] | None = None,
    fixed_per_person: Sequence[str] = (),
    names: Sequence[str] | None = None,
    types: Mapping[str, object] | None = None,
) -> Table:
    """Declare a private table.

    ``source`` is a path (Parquet, CSV, DuckDB with ``table=``; a pattern such as ``visits-*.csv``
    for several files; ``names=`` for the columns of a text file without a header), a Polars,
    pandas or Arrow table, or a mapping of names to NumPy arrays; types come from the schema, never
    from values. ``unit`` says whose privacy is protected. ``columns`` declares the public bounds,
    categories and days of the columns that may be aggregated or grouped by. ``snapshot`` is a
    public name for this version of the data: with it, identical questions are recognised after a
    restart even for tables in memory. ``max_rows_per`` says, for columns by which this table may be
    joined with other private rows, how many rows share a value: ``{"city": 3}``. More rows than
    that are cut, never counted, so the noise of a join follows from it. ``derived`` makes columns
    of stored ones, in SQL: ``{"region": "upper(trim(region))"}``; what is declared under such a
    name, bounds or a list, holds for what was derived. ``fixed_per_person`` names columns that are
    the same in all rows of a person, such as sex or year of birth: grouped by those alone, a person
    counts in one group, and is kept in one by a salted hash if the rows say otherwise. ``types``
    says what columns of a text file are where no bounds are declared: ``{"id": int, "day": date}``.
    """
    return Table(
        source_of(source, table, names),
        _unit(unit),
        _declared(columns),
        count("rows_at_most", rows_at_most),
        snapshot,
        key_limits(max_rows_per or {}),
        _derived(derived or {}, unit),
        _fixed(fixed_per_person, unit),
        column_types(types or {}),
    )


def public(
    source: object,
    *,
    table: str | None = None,
    names: Sequence[str] | None = None,
    types: Mapping[str, object] | None = None,
) -> PublicTable:
    """Declare a table that anybody may know; joining with it costs nothing.

    What the columns of a text file are is read off their values, unless ``types`` says it:
    ``{"code": str, "opened": date}``.
    """
    return PublicTable(source_of(source, table, names), column_types(types or {}))


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
        if not isinstance(name, str) or not isinstance(
            declaration, Category | Number | Integer | Boolean | Dates | Discovered | Text
        ):
            raise InvalidParameter(
                code="not_a_declaration",
                expectation="Category, Number, Integer, Boolean, Dates, Discovered or Text for "
                "every declared column",
                received=(name, type(declaration).__name__),
                remedy='Write columns={"age": dp.Number(0, 120)}.',
            )
    return dict(columns)


def _derived(derived: Mapping[str, str], unit: PrivacyUnit) -> dict[str, str]:
    """Refuse what is no text, and a name that says whose row it is."""
    person = add_remove(unit)
    for name, text in derived.items():
        if not isinstance(name, str) or not name or not isinstance(text, str) or not text.strip():
            raise InvalidParameter(
                code="not_an_expression",
                expectation="an expression in SQL for every derived column",
                received=(name, type(text).__name__),
                remedy='Write derived={"region": "upper(trim(region))"}.',
            )
        if isinstance(person, Person) and name == person.id:
            raise InvalidParameter(
                code="derived_identifier",
                expectation="people told apart by a stored column",
                received=name,
                remedy="Give the derived column another name: two people must not become one.",
            )
    return dict(derived)


def _fixed(columns: Sequence[str], unit: PrivacyUnit) -> tuple[str, ...]:
    listed = isinstance(columns, Sequence) and not isinstance(columns, str)
    if not listed or not all(isinstance(name, str) for name in columns):
        raise InvalidParameter(
            code="fixed_not_listed",
            expectation="a list of columns in fixed_per_person",
            received=type(columns).__name__,
            remedy='Write fixed_per_person=["sex", "born"].',
        )
    if columns and not isinstance(add_remove(unit), Person):
        raise InvalidParameter(
            code="fixed_without_person",
            expectation="a person to whom several rows belong, dp.Person(...), beside "
            "fixed_per_person",
            received=unit,
            remedy="Leave fixed_per_person out: where each row is a unit it says nothing.",
        )
    return tuple(dict.fromkeys(columns))


def key_limits(limits: Mapping[Any, int]) -> dict[tuple[str, ...], int]:
    """Limits on rows per key, each key as a tuple of columns; what is no key is refused."""
    found = {}
    for key, most in limits.items():
        names = (key,) if isinstance(key, str) else key
        if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            raise InvalidParameter(
                code="not_a_key",
                expectation="a column, or a tuple of columns, for each bound of max_rows_per",
                received=type(key).__name__,
                remedy='Write max_rows_per={"city": 3}, or {("city", "day"): 1}.',
            )
        found[names] = count("max_rows_per", most)
    return found
