"""What all sessions of one curator share: the tables, the ledger and the versions of the data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from discreet.ledger import Ledger
from discreet.noise.randomness import Source, random_id
from discreet.relational.database import Database
from discreet.relational.plan.nodes import Rows, scans
from discreet.relational.schema.table import MOST_ROWS, Table


@dataclass(frozen=True)
class Holdings:
    """Tables in an engine, the ledger that guards them, and where noise comes from."""

    database: Database
    ledger: Ledger
    randomness: Source
    _snapshots: dict[frozenset[str], str] = field(default_factory=dict)

    @property
    def rows_at_most(self) -> int:
        """The most private rows there are, as declared: for overflow."""
        tables = self.database.tables.values()
        return sum(t.rows_at_most for t in tables if isinstance(t, Table)) or MOST_ROWS

    def declared_rows(self, tables: Collection[str]) -> tuple[tuple[str, int], ...]:
        """The most rows of each of these private tables, as declared."""
        found = self.database.tables
        private = [(name, found[name]) for name in sorted(tables)]
        return tuple((name, each.rows_at_most) for name, each in private if isinstance(each, Table))

    def snapshot(self, tables: Collection[str]) -> str:
        """A random id for the version of these tables."""
        names = frozenset(tables)
        if names not in self._snapshots:
            version = self.database.version(names)
            tag = random_id() if version is None else version
            self._snapshots[names] = self.ledger.snapshot(tag)
        return self._snapshots[names]


def tables_read(rows: Rows) -> frozenset[str]:
    """The tables that a plan reads, those through which others reach their people included."""
    read = scans(rows)
    routes = {scan.route.table for scan in read if scan.route is not None}
    return frozenset({scan.table for scan in read} | routes)
