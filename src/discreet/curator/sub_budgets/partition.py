"""Partitions: parts of a table by public keys, each with a budget, paid for together once.

A part sees the rows of its key and nothing else, so a unit notices the questions of its own parts
only. Under ``Person`` bounding keeps each person in at most k parts, chosen under one salt for the
whole partition, and the session above pays k budgets; under ``Replace`` twice as many. A partition
is made for one snapshot: in another version of the data a person could be in other parts.

Source: contract, "Units and neighbours" (parallel composition); 004d:F16. Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.unit import Person, add_remove
from discreet.curator.context import Context
from discreet.curator.sub_budgets.division import find_declared_part, line_of, overlap
from discreet.curator.sub_budgets.parts import GrantedParts, Part, divided, grant_parts
from discreet.ledger import SubAccount
from discreet.relational.bounding.partition_filter import Assignment, EveryPart, SomeParts
from discreet.relational.database import Database
from discreet.relational.schema.table import Table

_SALT_BITS = 62


class Partition(GrantedParts[Part], Mapping[object, Part]):
    """The parts of a table, by key."""

    def __getitem__(self, value: object) -> Part:
        """The session of one part; its first opening is noted in the ledger."""
        return self._opened(find_declared_part(value, self._division.values))

    def __iter__(self) -> Iterator[object]:
        """The keys, in their declared order."""
        return iter(self._division.values)

    def __len__(self) -> int:
        """How many parts there are."""
        return len(self._division.values)

    def __repr__(self) -> str:
        """What is divided, and into how many parts."""
        return f"Partition({self.name!r}; {len(self)} parts)"


def open_partition(
    context: Context,
    table: str,
    part: Callable[[Context, object], Part],
    *,
    by: str,
    budget: Guarantee,
    k: int | None,
    name: str | None,
) -> Partition[Part]:
    """Grant a partition of ``table``, or find the one granted under this name."""
    line = line_of(table, by, context.database)
    context.policies.require_columns(line.query)
    _require_version(line.tables, context.database)
    context.scope.require_table(line.scan.table)
    most = overlap(context.unit, len(line.values), k)
    person = isinstance(add_remove(context.unit), Person)
    granted = grant_parts(
        context,
        line,
        by,
        budget=budget,
        most=most,
        name=name,
        growing=False,
        detail={
            "by": line.text,
            "parts": [str(value) for value in line.values],
            "at_most": most if person else None,
            "snapshot": context.snapshot(line.tables),
        },
    )
    assignment: Assignment = EveryPart()
    if person and most < len(line.values):
        assignment = SomeParts(most, salt_of(granted.account))
    return Partition(context, granted, divided(line, assignment), part)


def _require_version(names: set[str], database: Database) -> None:
    """Refuse live tables without a name for their version: they could change between questions."""
    for name in sorted(names):
        found = database.tables[name]
        live = isinstance(found, Table) and found.source.live
        if live and database.version(name) is None:
            raise InvalidParameter(
                code="partition_of_live_table",
                expectation="snapshot=, your word that the table stays as it is",
                received=name,
                remedy='Write dp.table(..., snapshot="july"), and another name once it changes; '
                "for tables that grow there are blocks.",
            )


def salt_of(account: SubAccount) -> int:
    """The one salt of a partition: random, in the ledger, and the same for every question."""
    return int(account.account, 16) % (1 << _SALT_BITS)
