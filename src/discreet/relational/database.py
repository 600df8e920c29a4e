"""The tables of a curator in one engine: what is public about them, and that they stay the same.

Source: contract, "Units and neighbours", "Spending" (snapshots); 004d:F9, F21.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.core.domain import Domain
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.metric import Metric
from discreet.core.unit import Person, PrivacyUnit, add_remove
from discreet.relational.compile.compiler import Compiler
from discreet.relational.compile.dialect import ordered
from discreet.relational.engines.engine import Engine
from discreet.relational.limits.public_work import PublicSizes
from discreet.relational.plan.nodes import Field, PlanNode, Scan, columns_of, scans
from discreet.relational.public_types import PublicTexts
from discreet.relational.schema.agreement import (
    common_unit,
    identifier_types,
    require_column,
    require_kind,
)
from discreet.relational.schema.column_types import typed_kind
from discreet.relational.schema.sources import TableSource
from discreet.relational.schema.table import PublicTable, Table
from discreet.relational.sql.catalog import CatalogTable
from discreet.relational.sql.derived import derived_fields, stored_fields
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.expression import Expression, columns

_LISTED = 100_000
_REMEMBERED = 1000
_SHORT = 1000
"""Lists that are kept for the next question have at most so many rows."""
_COMBINED = 1 << 20
"""So many combinations of values of public columns are kept in all."""


@dataclass
class Database:
    """Tables attached to an engine, under one privacy unit: theirs, or the declared one."""

    engine: Engine
    tables: Mapping[str, Table | PublicTable]
    declared: PrivacyUnit | None = None
    _entries: dict[str, CatalogTable] = field(init=False, default_factory=dict)
    _versions: dict[str, object] = field(init=False, default_factory=dict)
    _stored: dict[str, dict[str, str]] = field(init=False, default_factory=dict)
    _partners: dict[str, int] = field(init=False, default_factory=dict)
    _lists: dict[str, list[tuple[object, ...]]] = field(init=False, default_factory=dict)
    _combined: dict[str, tuple[tuple[object, ...], ...]] = field(init=False, default_factory=dict)
    _sizes: dict[str, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        """Attach every table, look at public ones, then lock the engine."""
        self._process = os.getpid()
        self.closed = False
        self._unit = common_unit(self.tables, self.declared)
        for name, table in self.tables.items():
            self._versions[name] = table.source.fingerprint()
            stored = self.engine.attach(name, self._source(table))
            self._stored[name] = stored
            made = self._private(name, table, stored) if isinstance(table, Table) else {}
            self._entries[name.lower()] = CatalogTable(name, table, made)
            if isinstance(table, PublicTable):
                with self.engine.snapshot():
                    self._versions[name] = self._version(name)
                    self._entries[name.lower()] = CatalogTable(
                        name, table, self._public(name, stored)
                    )
                    self._require_version(name)
        for entry in self._entries.values():
            self._check_route(entry)
        self._check_identities()
        self.engine.lock()

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy all private tables share."""
        return self._unit

    @property
    def units(self) -> tuple[PrivacyUnit, ...]:
        """As each private table declares it, with its own limits."""
        return tuple(table.unit for table in self.tables.values() if isinstance(table, Table))

    def names(self) -> list[str]:
        """The tables there are."""
        return [entry.name for entry in self._entries.values()]

    def find(self, name: str) -> CatalogTable | None:
        """A table by its name, not case-sensitive."""
        return self._entries.get(name.lower())

    def partners(self, rows: PlanNode, expressions: Sequence[Expression]) -> int:
        """The most rows of public tables that share their values of ``expressions``.

        They are counted as the join compares them: cleaned and converted; in the table as it was
        when it was attached, or not at all.
        """
        self._require_few(rows)
        used = frozenset().union(*(columns(expression) for expression in expressions))
        with self.engine.snapshot():
            text = Compiler.of(self.engine, salt=0).text(rows, used)
            keys = ", ".join(self.engine.dialect.render(expression) for expression in expressions)
            group = f" GROUP BY {keys}" if keys else ""
            asked = f"SELECT COUNT(*) AS n FROM ({text}) AS q{group}"
            if asked not in self._partners:
                if len(self._partners) >= _REMEMBERED:
                    self._partners.clear()
                found = self._public_rows(
                    f"SELECT COALESCE(MAX(n), 0) FROM ({asked}) AS q",
                    [scan.table for scan in scans(rows)],
                )
                self._partners[asked] = int(str(found[0][0]))
        return self._partners[asked]

    def most_public_rows(self, rows: PlanNode) -> int:
        """The most rows that a plan over public tables gives, from their sizes alone."""
        return PublicSizes(self._table_rows).most_rows(rows)

    def _require_few(self, rows: PlanNode) -> None:
        """Refuse public rows that are too many, before any of them is made."""
        if all(not scan.private for scan in scans(rows)):  # else refused as what it is
            PublicSizes(self._table_rows).require_few(rows)

    def _table_rows(self, scan: Scan) -> int:
        """How many rows a public table has, counted once."""
        if scan.table not in self._sizes:
            with self.engine.snapshot():
                text = f"SELECT COUNT(*) FROM {self.engine.place(scan.table)}"
                self._sizes[scan.table] = int(str(self._public_rows(text, [scan.table])[0][0]))
        return self._sizes[scan.table]

    def identity(self, entry: CatalogTable) -> str:
        """The type in which the identifier of a table's people is stored; empty without one."""
        if not isinstance(entry.table, Table):
            return ""
        unit = add_remove(entry.table.unit)
        if not isinstance(unit, Person):
            return ""
        if unit.via is None:
            return self._stored[entry.name][unit.id]
        through, _, person = unit.via.rpartition(".")
        return self._stored[self._entries[through.lower()].name][person]

    def combinations(self, table: str, columns: Sequence[str]) -> tuple[tuple[object, ...], ...]:
        """The combinations of values of ``columns`` in a public table, sorted.

        Of the table as it was attached, or not at all: the same object as long as it is kept.
        """
        entry = self._entries[table.lower()]
        dialect = self.engine.dialect
        kept = [entry.fields[column] for column in columns]
        # Not its list of values, which was read off this very column and may be long.
        items = ", ".join(
            dialect.clean(
                dialect.identifier(each.name), each.stored, ColumnDomain(each.domain.kind)
            )
            for each in kept
        )
        places = ordered([str(place + 1) for place in range(len(columns))])
        text = f"SELECT DISTINCT {items} FROM {self.engine.place(table)} ORDER BY {places}"
        with self.engine.snapshot():
            if text not in self._combined:
                found = tuple(self._public_rows(text, [entry.name]))
                if sum(map(len, self._combined.values())) + len(found) > _COMBINED:
                    self._combined.clear()
                self._combined[text] = found
            else:
                self._require_version(entry.name)
        return self._combined[text]

    def list_public_rows(self, rows: PlanNode) -> list[tuple[object, ...]]:
        """The rows of a plan over public tables and constants, in the order of their values.

        They are computed in the engine, so that every function means here what it means beside
        private rows; of the tables as they were attached, or not at all.
        """
        self._require_few(rows)
        names = list(columns_of(rows))
        every = ", ".join(map(self.engine.dialect.identifier, names))
        places = ordered([str(place + 1) for place in range(len(names))])
        with self.engine.snapshot():
            text = Compiler.of(self.engine, salt=0).text(rows, frozenset(names))
            text = f"SELECT {every} FROM ({text}) AS q ORDER BY {places} LIMIT {_LISTED + 1}"
            if text in self._lists:
                return self._lists[text]
            found = self._public_rows(text, [scan.table for scan in scans(rows)])
        if len(found) > _LISTED:
            raise InvalidParameter(
                code="too_many_keys",
                expectation=f"at most {_LISTED} public rows in an inner query or a list",
                received=f"more than {_LISTED}",
                remedy="Join the public table itself, or ask for fewer of its rows.",
            )
        if len(self._lists) >= _REMEMBERED:
            self._lists.clear()
        if len(found) <= _SHORT:
            self._lists[text] = found
        return found

    def _public_rows(self, text: str, tables: Sequence[str]) -> list[tuple[object, ...]]:
        """What a statement over these tables gives, read before anything is paid for.

        Hence refused unless each of them is public; and if one is no longer as it was attached.
        """
        if any(not isinstance(self._entries[name.lower()].table, PublicTable) for name in tables):
            raise Mismatch(
                code="rows_not_public",
                expectation="rows of public tables and constants",
                received=sorted(tables),
                remedy="Private rows are counted and added up, never listed.",
            )
        try:
            return self.engine.rows(text)
        finally:  # a table that was exchanged meanwhile is named as such, even if reading failed
            for name in dict.fromkeys(tables):
                self._require_version(name)

    def require_process(self) -> None:
        """Refuse to work in a forked child, whose engine is not whole."""
        if self._process != os.getpid():
            raise InvalidParameter(
                code="curator_forked",
                expectation="a curator in the process that opened it",
                remedy="Open a curator of its own in each process; they may share the ledger.",
            )

    def unchanged(self) -> bool:
        """Whether every file is still the one that was attached.

        A table in an engine must have its columns as they were, and its rows too if it is public.
        """
        self.require_process()
        return all(
            self._version(name) == self._versions[name]
            and not (table.source.live and self.engine.columns(name) != self._stored[name])
            for name, table in self.tables.items()
        )

    def _require_version(self, name: str) -> None:
        """Refuse what was just read of a public table, if that is no longer the one attached."""
        if self._version(name) != self._versions[name]:
            raise InvalidParameter(
                code="data_changed",
                expectation=f"a public table {name} that stays as it was",
                remedy="Open a new curator on the same ledger, once the table is at rest.",
            )

    def _source(self, table: Table | PublicTable) -> TableSource:
        """Where a table lies, with the names of the columns by which people are told apart."""
        if isinstance(table, PublicTable):
            return table.source
        units = [add_remove(each.unit) for each in self.tables.values() if isinstance(each, Table)]
        people = [unit for unit in units if isinstance(unit, Person)]
        ids = {unit.id for unit in people}
        ids |= {unit.via.rpartition(".")[2] for unit in people if unit.via is not None}
        return table.source.identified_by(frozenset(ids))

    def _version(self, name: str) -> object:
        table = self.tables[name]
        if isinstance(table, PublicTable) and table.source.live:
            return self.engine.contents(name)
        return table.source.fingerprint()

    def version(self, name: str) -> str | None:
        """Text that tells versions of a table apart without reading it; None for frames.

        An owner's ``snapshot`` name stands for the table's version where it was given.
        """
        label = self.label(name)
        if label is not None:
            return label
        version = self._versions[name]
        return None if version is None else str(version)

    def label(self, name: str) -> str | None:
        """The owner's ``snapshot`` name for the version of a private table; None without one."""
        table = self.tables[name]
        return table.snapshot if isinstance(table, Table) else None

    def close(self) -> None:
        """Let go of the engine."""
        self.closed = True
        self.engine.close()

    def _check_route(self, entry: CatalogTable) -> None:
        """The table that ``via`` names must be there, with a key of the same type."""
        if not isinstance(entry.table, Table):
            return
        unit = add_remove(entry.table.unit)
        if not isinstance(unit, Person) or unit.via is None:
            return
        name, _, column = unit.via.rpartition(".")
        through = self._entries.get(name.lower())
        if through is None or unit.id not in through.fields or not _identifies(through, column):
            raise InvalidParameter(
                code="route_unknown",
                expectation=f"via to name a private table with {unit.id} and the person's column",
                received=unit.via,
                remedy='Write Person("order_id", via="orders.customer_id") beside orders=...',
            )
        if self._stored[through.name][unit.id] != self._stored[entry.name][unit.id]:
            raise identifier_types(column=unit.id)

    def _check_identities(self) -> None:
        """People are one space: their identifiers are stored in one type everywhere."""
        found = {self.identity(entry) for entry in self._entries.values()} - {""}
        if len(found) > 1:
            raise identifier_types(column="the person's identifier")

    def _private(self, name: str, table: Table, stored: Mapping[str, str]) -> dict[str, Field]:
        derived = dict.fromkeys(table.derived, "")
        for column in (*table.columns, *table.fixed_per_person):
            require_column(column, name, {**stored, **derived})
        for column in (part for key in table.max_rows_per for part in key):
            require_column(column, name, stored)
        unit = add_remove(table.unit)
        if isinstance(unit, Person):
            require_column(unit.id, name, stored)
            if unit.row is not None:
                require_column(unit.row, name, stored)
                require_kind(unit.row, name, self.engine.dialect.kind_of(stored[unit.row]))
        for column in table.types:
            require_column(column, name, stored)
        fields = stored_fields(name, table, stored, self.engine.dialect)
        return fields | derived_fields(name, table, fields, self.engine.dialect)

    def _public(self, name: str, stored: Mapping[str, str]) -> dict[str, Field]:
        """Columns of a public table; their values and bounds are read, since anybody may."""
        fields = {}
        dialect, table = self.engine.dialect, self.tables[name]
        for column in table.types:
            require_column(column, name, stored)
        asked = {column: stored[column] for column in table.types}
        texts = PublicTexts(self.engine.place(name), dialect, self.engine.rows)
        read = texts.kinds(asked if table.source.typed else stored, table.types)
        for column, kind_name in stored.items():
            kind = typed_kind(name, column, dialect.kind_of(kind_name), read)
            if kind is None:
                continue
            text = dialect.clean(dialect.identifier(column), kind_name, ColumnDomain(kind))
            found = self.engine.rows(
                f"SELECT DISTINCT {text} AS v FROM {self.engine.place(name)} "
                f"ORDER BY v NULLS LAST LIMIT {_LISTED + 1}"
            )
            values = tuple(row[0] for row in found if row[0] is not None)
            if len(values) <= _LISTED:
                domain = ColumnDomain(kind, values=values, declared=True)
            elif kind.has_bounds:
                ends = self.engine.rows(
                    f"SELECT MIN({text}), MAX({text}) FROM {self.engine.place(name)}"
                )[0]
                domain = ColumnDomain(kind, ends[0], ends[1], declared=True)
            else:
                domain = ColumnDomain(kind, declared=True)
            fields[column] = Field(column, kind_name, domain, None)
        return fields


@dataclass(frozen=True)
class Databases(Domain):
    """The set of databases with the tables and columns of one curator."""

    tables: tuple[str, ...]

    def contains(self, value: Any) -> bool:
        """Whether it is a database with these tables."""
        return isinstance(value, Database) and tuple(value.names()) == self.tables


@dataclass(frozen=True)
class Units(Metric):
    """How many units are present in one database and not in the other, or differ."""

    unit: PrivacyUnit

    def fits(self, domain: Domain) -> bool:
        return isinstance(domain, Databases)

    def distance(self, left: Any, right: Any) -> Any:
        """Refused: the rows stay in the engine."""
        raise Mismatch(
            code="distance_not_computed",
            expectation="data sets in memory",
            received=type(left).__name__,
            remedy="Distances of databases are declared, not measured.",
        )


def private_tables(database: Database) -> frozenset[str]:
    """The names of all private tables there are."""
    return frozenset(name for name, table in database.tables.items() if isinstance(table, Table))


def _identifies(entry: CatalogTable, column: str) -> bool:
    """Whether a column is the identifier of a private table's people."""
    if not isinstance(entry.table, Table):
        return False
    unit = add_remove(entry.table.unit)
    return isinstance(unit, Person) and unit.via is None and unit.id == column
