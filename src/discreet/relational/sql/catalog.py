"""What a translation may know of the tables: names, columns, units, and contents if public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Protocol

from sqlglot import exp

from discreet.core.errors import InvalidParameter
from discreet.core.unit import PrivacyUnit
from discreet.relational.plan.nodes import Field, PlanNode
from discreet.relational.schema.table import PublicTable, Table
from discreet.relational.types.expression import Expression


@dataclass(frozen=True)
class CatalogTable:
    """A table of the catalogue.

    ``scans`` are those that were made of it, by prefix: translations share them, other tables with
    the same rows do not.
    """

    name: str
    table: Table | PublicTable
    fields: Mapping[str, Field]
    scans: dict[str, Any] = field(init=False, default_factory=dict, compare=False, repr=False)


class Catalog(Protocol):
    """The tables of a curator."""

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy all private tables share."""

    def names(self) -> list[str]:
        """The tables there are."""

    def find(self, name: str) -> CatalogTable | None:
        """A table by its name, not case-sensitive."""

    def partners(self, rows: PlanNode, expressions: Sequence[Expression]) -> int:
        """The most rows of public tables that share their values of ``expressions``."""

    def most_public_rows(self, rows: PlanNode) -> int:
        """The most rows that a plan over public tables gives, from their sizes alone."""

    def identity(self, entry: CatalogTable) -> str:
        """The type in which the identifier of a table's people is stored; empty without one."""

    def combinations(self, table: str, columns: Sequence[str]) -> Sequence[tuple[object, ...]]:
        """The combinations of values of ``columns`` in a public table, sorted."""

    def list_public_rows(self, rows: PlanNode) -> list[tuple[object, ...]]:
        """The rows of a plan over public tables and constants alone, sorted."""


def require_table(name: str, catalog: Catalog) -> CatalogTable:
    """A table by its name, or a refusal that lists those there are."""
    entry = catalog.find(name) if isinstance(name, str) else None
    if entry is not None:
        return entry
    known = catalog.names()
    close = get_close_matches(str(name), known, n=1)
    raise InvalidParameter(
        code="unknown_table",
        expectation=f"one of the tables {known}",
        received=name,
        remedy=f"Did you mean {close[0]}?" if close else "Check the spelling.",
    )


def require_named(node: exp.Table, catalog: Catalog) -> CatalogTable:
    """The table that FROM names, alone or after its schema.

    A schema is the one the owner's table lies in, or that of tables without any, by the name that
    engines have for it, or by the name of the table itself, as for a file with one table.
    """
    if node.args.get("catalog") and (
        node.catalog.lower() not in _DATABASES or node.db.lower() not in _USUAL
    ):
        raise unsupported_schema(node.name, "a name of three parts")
    if not node.args.get("db"):
        return require_table(node.name, catalog)
    entry = catalog.find(f"{node.db}.{node.name}") or catalog.find(node.name)
    if entry is None:
        return require_table(node.name, catalog)
    lies = str(
        getattr(entry.table.source, "table", None) or getattr(entry.table.source, "name", "")
    )
    schema = lies.rpartition(".")[0].rpartition(".")[2].lower()
    whole = entry.name.lower() == f"{node.db}.{node.name}".lower()
    if not whole and (not node.db or node.db.lower() not in {*_USUAL, schema, node.name.lower()}):
        raise unsupported_schema(node.name, f"the schema {node.db}")
    return entry


_DATABASES = ("memory", "postgres", "spark_catalog")
"""What the three call the database of a session without a name for its own."""
_USUAL = ("main", "public", "default")
"""What DuckDB, PostgreSQL and Spark call the schema of tables without another one."""


def unsupported_schema(name: str, received: str) -> InvalidParameter:
    """The refusal of a schema that the table does not lie in."""
    return InvalidParameter(
        code="unknown_table",
        expectation="a table by its name, or after the schema that it lies in",
        received=received,
        remedy=f"Write {name} alone.",
    )
