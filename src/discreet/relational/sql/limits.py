"""The limits of a question: how much of one person counts, from the tables that it reads.

Source: contract, "Bounding inside the engine". Proof: ``proofs/limits.md``.
"""

from __future__ import annotations

from functools import partial

from discreet.core.unit import Person, add_remove
from discreet.relational.bounding.derived_limits import Declared, find_differing_limits, limits_of
from discreet.relational.bounding.person_limits import PersonLimits
from discreet.relational.plan.keys import DiscoveredKeys, KeySet
from discreet.relational.plan.nodes import PlanNode, scans
from discreet.relational.schema.table import Table
from discreet.relational.sql.catalog import Catalog
from discreet.relational.types.expression import columns


def limits_asked(
    rows: PlanNode, keys: KeySet | DiscoveredKeys, catalog: Catalog
) -> PersonLimits | None:
    """Those of a question about rows by keys; None where the unit says them, or nobody owns rows.

    Rows of public tables alone, and those that lost their owners, have none.
    """
    if rows.privacy_id is None:
        return None
    if isinstance(keys, DiscoveredKeys):
        expressions = keys.expressions
    else:
        expressions = tuple(key for block in keys.blocks for key in block.expressions)
    used = frozenset[str]().union(*map(columns, expressions)) if expressions else None
    return find_differing_limits(limits_of(rows, declared_in(catalog), used), catalog.unit, rows)


def declared_rows(rows: PlanNode, declared: Declared) -> int | None:
    """The rows of one person that count at a step; None where a table does not limit them."""
    if rows.privacy_id is None:
        return rows.stability
    return limits_of(rows, declared).at_most(rows.stability).rows


def table_rows(rows: PlanNode, declared: Declared) -> int | None:
    """The most rows of one person that count in any one of the tables read, where it says so."""
    units = (add_remove(declared.table(scan.table).unit) for scan in scans(rows) if scan.private)
    found = [unit.rows_at_most for unit in units if isinstance(unit, Person)]
    return max((most for most in found if most is not None), default=None)


def person_rows(rows: PlanNode, catalog: Catalog) -> int:
    """The same, refused without a limit."""
    person = add_remove(catalog.unit)
    assert isinstance(person, Person)
    return PersonLimits(declared_rows(rows, declared_in(catalog))).bounding(person).rows()


def declared_in(catalog: Catalog) -> Declared:
    """What the owner declared of each private table."""
    return Declared(partial(_private_table, catalog))


def _private_table(catalog: Catalog, name: str) -> Table:
    entry = catalog.find(name)
    assert entry is not None
    assert isinstance(entry.table, Table)
    return entry.table
