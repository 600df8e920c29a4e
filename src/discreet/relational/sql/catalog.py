"""What a translation may know of the tables: names, columns, units, and contents if public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Protocol

from discreet.core.errors import InvalidParameter
from discreet.core.unit import PrivacyUnit
from discreet.relational.plan.nodes import Field, PlanNode, Scan
from discreet.relational.schema.table import PublicTable, Table
from discreet.relational.types.expression import Expression


@dataclass(frozen=True)
class CatalogTable:
    """A table of the catalogue."""

    name: str
    table: Table | PublicTable
    fields: Mapping[str, Field]


class Catalog(Protocol):
    """The tables of a curator."""

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy all private tables share."""

    def names(self) -> list[str]:
        """The tables there are."""

    def find(self, name: str) -> CatalogTable | None:
        """A table by its name, not case-sensitive."""

    def partners(self, scan: Scan, expressions: Sequence[Expression]) -> int:
        """The most rows of a public table that share their values of ``expressions``."""

    def identity(self, entry: CatalogTable) -> str:
        """The type in which the identifier of a table's people is stored; empty without one."""

    def combinations(self, table: str, columns: Sequence[str]) -> list[tuple[object, ...]]:
        """The combinations of values of ``columns`` in a public table, sorted."""

    def listed(self, rows: PlanNode) -> list[tuple[object, ...]]:
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
