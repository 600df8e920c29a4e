"""One private table, read by plain statements without noise, for the data owner alone.

Nothing here is private, and nothing of it may reach a release, an error or the ledger.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.unit import Person, add_remove
from discreet.relational.compile.derived import field_text, with_inputs
from discreet.relational.compile.dialect import Dialect
from discreet.relational.database import Database
from discreet.relational.plan.nodes import DerivedField, Field
from discreet.relational.schema.table import Table
from discreet.relational.types.column_domain import ColumnDomain

_EXAMPLES = 5


@dataclass(frozen=True)
class Reading:
    """A table of a database; ``step`` is told what is being looked at."""

    database: Database
    name: str
    step: Callable[[str], None]

    @property
    def declared(self) -> Table:
        """The table as its owner declared it."""
        table = self.database.tables[self.name]
        assert isinstance(table, Table)
        return table

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its columns that can be read."""
        entry = self.database.find(self.name)
        assert entry is not None
        return entry.fields

    @property
    def dialect(self) -> Dialect:
        """The SQL of the engine."""
        return self.database.engine.dialect

    @property
    def place(self) -> str:
        """What stands after FROM."""
        place = self.database.engine.place(self.name)
        return with_inputs(place, self.fields.values(), self.dialect)

    def raw(self, column: str) -> str:
        """A column as it is stored, or derived before it is held to a declaration."""
        field = self.fields.get(column)
        if isinstance(field, DerivedField):
            return field_text(field, ColumnDomain(field.derivation.domain.kind), self.dialect)
        return f"t.{self.dialect.identifier(column)}"

    def clean(self, field: Field, domain: ColumnDomain) -> str:
        """A column as a declaration with these facts would have it."""
        return field_text(field, domain, self.dialect)

    def person(self) -> tuple[str, str] | None:
        """The person's identifier in SQL, and where to select it from; None if rows are people."""
        unit = add_remove(self.declared.unit)
        if not isinstance(unit, Person):
            return None
        entry = self.database.find(self.name)
        assert entry is not None
        stored, named = self.database.identity(entry), self.dialect.identifier
        if unit.via is None:
            return self.dialect.identity(self.raw(unit.id), stored), self.place
        through, _, column = unit.via.rpartition(".")
        other = self.database.find(through)
        assert other is not None
        key, far = named(unit.id), self.database.engine.place(other.name)
        place = f"{self.place} JOIN {far} AS u ON t.{key} = u.{key}"
        return self.dialect.identity(f"u.{named(column)}", stored), place

    def examples(self, column: str, condition: str) -> tuple[tuple[object, int], ...]:
        """The most frequent values that meet a condition."""
        found = self.rows(
            f"SELECT {self.raw(column)} AS v, COUNT(*) AS n FROM {self.place} WHERE {condition} "
            f"GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {_EXAMPLES}"
        )
        return tuple((value, int(times)) for value, times in found)

    def different(self, *columns: str) -> int:
        """The number of combinations of values, NULL among them."""
        items = ", ".join(map(self.raw, columns))
        (found,) = self.row(
            f"SELECT COUNT(*) FROM (SELECT DISTINCT {items} FROM {self.place}) AS q"
        )
        return int(found)

    def row(self, text: str) -> tuple[Any, ...]:
        """The only row of a statement."""
        (row,) = self.rows(text)
        return row

    def rows(self, text: str) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        return self.database.engine.rows(text)


def times(condition: str) -> str:
    """How many rows meet a condition."""
    return f"COUNT(CASE WHEN {condition} THEN 1 END)"
