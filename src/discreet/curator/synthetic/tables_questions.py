"""What is counted of several tables, as SQL: people with numbers of rows, rows with their owners.

Source: contract, "Units and neighbours".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from discreet.core.errors import InvalidParameter
from discreet.core.unit import Person
from discreet.curator.context import Context
from discreet.curator.synthetic.cell_expressions import attribute_expressions
from discreet.relational.schema.table import Table
from discreet.relational.sql.catalog import require_table
from discreet.synthetic.encoding.table_encoding import TableEncoding
from discreet.synthetic.private_groups import BinGrouping


@dataclass(frozen=True)
class OwnedTable:
    """A private table whose rows belong to people: ``limit`` rows of each, named by ``key``."""

    name: str
    key: str
    limit: int
    encoding: TableEncoding

    @classmethod
    def of(cls, context: Context, name: str, encoding: TableEncoding) -> OwnedTable:
        """By the table's declaration alone."""
        require_table(name, context.database)
        table = context.database.tables.get(name)
        unit = table.unit if isinstance(table, Table) else None
        if not isinstance(unit, Person):
            raise InvalidParameter(
                code="not_a_table_unit",
                expectation=f"a unit Person(...) for the table {name!r}, whose rows have owners",
                received=type(unit).__name__,
                remedy='Declare it with unit=dp.Person("patient_id", max_rows=20).',
            )
        return cls(name, unit.id, unit.rows(), encoding)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of its attributes, none of another table's."""
        return tuple(f"{self.name}.{each.name}" for each in self.encoding.attributes)

    @property
    def groupings(self) -> tuple[BinGrouping, ...]:
        """The attributes whose bins are chosen privately, and how many there are."""
        return tuple(
            BinGrouping(f"{self.name}.{name}", groups, missing)
            for name, (groups, missing) in self.encoding.binned_privately.items()
        )

    @property
    def text(self) -> str:
        """Its rows as cells, with their owner."""
        cells = zip(self.attributes, attribute_expressions(self.encoding).values(), strict=True)
        shown = ", ".join(f"{text} AS {quoted(name)}" for name, text in cells)
        return f"(SELECT {quoted(self.key)}, {shown} FROM {quoted(self.name)})"


def people_questions(parent: OwnedTable, children: Sequence[OwnedTable]) -> tuple[str, ...]:
    """People by each of their attributes, and by how many rows they have in each child table."""
    shown = [f"p.{quoted(each)}" for each in parent.attributes]
    joins = []
    for place, child in enumerate(children):
        number, key = quoted(child.name), quoted(child.key)
        shown.append(f"COALESCE(c{place}.{number}, 0) AS {number}")
        joins.append(
            f" LEFT JOIN (SELECT {key}, LEAST(COUNT(*), {child.limit}) AS {number} FROM {number} "
            f"GROUP BY {key}) AS c{place} ON p.{quoted(parent.key)} = c{place}.{key}"
        )
    return _write_count_questions(shown, f"{parent.text} AS p{''.join(joins)}")


def rows_questions(parent: OwnedTable, child: OwnedTable) -> tuple[str, ...]:
    """Rows of a child table by each of their owner's attributes, and of their own."""
    shown = [f"p.{quoted(each)}" for each in parent.attributes]
    shown += [f"c.{quoted(each)}" for each in child.attributes]
    joined = f"ON c.{quoted(child.key)} = p.{quoted(parent.key)}"
    return _write_count_questions(shown, f"{child.text} AS c JOIN {parent.text} AS p {joined}")


def keys_of(tables: Sequence[OwnedTable]) -> Mapping[str, str]:
    """For each table the column that says whose a row is."""
    return {each.name: each.key for each in tables}


def quoted(name: str) -> str:
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def _write_count_questions(shown: Sequence[str], rows: str) -> tuple[str, ...]:
    """One question for each key, of the same rows: so that all keys together may be many."""
    number = quoted("n.")
    return tuple(f"SELECT {key}, COUNT(*) AS {number} FROM {rows} GROUP BY 1" for key in shown)
