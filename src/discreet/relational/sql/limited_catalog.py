"""A catalogue in which keys of private tables have other limits than their owner declared.

A limit on rows per key is enforced and not believed, so whoever asks may choose it: the noise of a
join follows from it, and so do the rows that are left out.

Source: contract, "Units and neighbours". Proof: ``proofs/joins.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.core.errors import InvalidParameter
from discreet.core.unit import PrivacyUnit
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.schema.agreement import require_column
from discreet.relational.schema.table import Table, key_limits
from discreet.relational.sql.catalog import Catalog, CatalogTable, require_table
from discreet.relational.types.expression import Expression


@dataclass(frozen=True)
class LimitedCatalog:
    """The tables of ``declared``, of which ``changed`` have limits of their own."""

    declared: Catalog
    changed: Mapping[str, CatalogTable]

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy all private tables share."""
        return self.declared.unit

    def names(self) -> list[str]:
        """The tables there are."""
        return self.declared.names()

    def find(self, name: str) -> CatalogTable | None:
        """A table by its name, with the limits that hold here."""
        return self.changed.get(name.lower()) or self.declared.find(name)

    def partners(self, rows: PlanNode, expressions: Sequence[Expression]) -> int:
        """As declared: partners are public rows."""
        return self.declared.partners(rows, expressions)

    def most_public_rows(self, rows: PlanNode) -> int:
        """As declared: of public tables."""
        return self.declared.most_public_rows(rows)

    def identity(self, entry: CatalogTable) -> str:
        """As declared."""
        return self.declared.identity(entry)

    def combinations(self, table: str, columns: Sequence[str]) -> Sequence[tuple[object, ...]]:
        """As declared: of public tables."""
        return self.declared.combinations(table, columns)

    def list_public_rows(self, rows: PlanNode) -> list[tuple[object, ...]]:
        """As declared: of public tables."""
        return self.declared.list_public_rows(rows)


def limited_catalog(
    declared: Catalog, limits: Mapping[str, Mapping[str | tuple[str, ...], int]]
) -> LimitedCatalog:
    """The catalogue with these limits on rows per key; others stay as they were declared."""
    changed = {}
    for name, own in limits.items():
        entry = require_table(name, declared)
        if not isinstance(entry.table, Table) or not isinstance(own, Mapping):
            raise InvalidParameter(
                code="not_a_limit",
                expectation="for each private table a mapping of columns to limits on rows",
                received=(entry.name, type(own).__name__),
                remedy='Write with_max_rows_per(visits={"city": 8}).',
            )
        chosen = key_limits(own)
        for column in (part for key in chosen for part in key):
            require_column(column, entry.name, entry.fields)
        table = replace(entry.table, max_rows_per={**entry.table.max_rows_per, **chosen})
        changed[entry.name.lower()] = replace(entry, table=table)
    return LimitedCatalog(declared, changed)
