"""Partitions: parts of a table by public keys, each with a budget, paid for together once.

A part sees the rows of its key and nothing else, so a unit notices the questions of its own parts
only. Under ``Person`` bounding keeps each person in at most k parts, chosen under one salt for the
whole partition, and the session above pays k budgets; under ``Replace`` twice as many. A partition
is made for one snapshot: in another version of the data a person could be in other parts.

Source: contract, "Units and neighbours" (parallel composition); 004d:F16. Proof:
``proofs/sharing.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.unit import Person, add_remove
from discreet.curator.budget import Purse
from discreet.curator.sharing import Sharing
from discreet.curator.sub_budgets.child import required_name
from discreet.curator.sub_budgets.division import line_of, listed, overlap, price_of_parts
from discreet.ledger import Role, SubAccount, SubAccountGrant
from discreet.relational.bounding.partition_filter import Assignment, EveryPart, SomeParts
from discreet.relational.database import Database
from discreet.relational.plan.scope import Division
from discreet.relational.schema.table import Table

_SALT_BITS = 62


class Part(Sharing):
    """A session about one part of a table."""

    value: object

    def __repr__(self) -> str:
        """Which part, and what remains."""
        return f"Part({self.value!s}; remaining={self.remaining})"


class Partition(Mapping[object, Part]):
    """The parts of a table, by key."""

    def __init__(
        self, above: Sharing, account: SubAccount, division: Division, purse: Purse
    ) -> None:
        """Hold what was granted."""
        self._above = above
        self._account = account
        self._division = division
        self._purse = purse
        self._parts: dict[object, Part] = {}

    @property
    def name(self) -> str:
        """The name it was granted under."""
        return self._account.name

    def __getitem__(self, value: object) -> Part:
        """The session of one part; its first opening is noted in the ledger."""
        known = listed(value, self._division.values)
        if known not in self._parts:
            self._parts[known] = open_part(
                self._above, self._account, self._division, self._purse, known
            )
        return self._parts[known]

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
    above: Sharing, table: str, *, by: str, budget: Guarantee, k: int | None, name: str | None
) -> Partition:
    """Grant a partition of ``table``, or find the one granted under this name."""
    line = line_of(table, by, above._database)
    above._policies.require_columns(line.question)
    _require_version(line.tables, above._database)
    above._scope.require_table(line.scan.table)
    most = overlap(above.unit, len(line.values), k)
    purse = Purse(budget, above.unit)
    person = isinstance(add_remove(above.unit), Person)
    account = SubAccount.opened(
        above.ledger,
        above._account.account,
        SubAccountGrant(
            name=required_name(f"{line.scan.table} by {by}" if name is None else name),
            role=Role.PARTITION,
            charge=price_of_parts(above._purse, purse, above.unit, most),
            limit=purse.limit,
            filter=purse.name,
            budget=purse.terms.budget,
            detail={
                "table": line.scan.table,
                "by": line.text,
                "parts": [str(value) for value in line.values],
                "at_most": most if person else None,
                "snapshot": above._holdings.snapshot(line.tables),
                **line.people,
            },
        ),
    )
    keeping: Assignment = EveryPart()
    if person and most < len(line.values):
        keeping = SomeParts(most, salt_of(account))
    division = Division(line.scan.table, line.scan.prefix, line.part, line.values, keeping)
    return Partition(above, account, division, purse)


def _require_version(names: set[str], database: Database) -> None:
    """Refuse live tables without a name for their version: they could change between questions."""
    for name in sorted(names):
        found = database.tables[name]
        live = isinstance(found, Table) and found.source.live
        if live and database.version({name}) is None:
            raise InvalidParameter(
                code="partition_of_live_table",
                expectation="snapshot=, your word that the table stays as it is",
                received=name,
                remedy='Write dp.table(..., snapshot="july"), and another name once it changes; '
                "for tables that grow there are blocks.",
            )


def open_part(
    above: Sharing, account: SubAccount, division: Division, purse: Purse, value: object
) -> Part:
    """The session of one part, with what it has spent."""
    scope = above._scope.part(division, value)
    granted = SubAccount.opened(
        above.ledger,
        account.account,
        SubAccountGrant(
            name=str(value),
            role=Role.PART,
            charge=above._purse.currency.zero,
            limit=account.limit(),
            filter=purse.name,
            budget=purse.terms.budget,
            detail={},
        ),
    )
    part = Part(
        holdings=above._holdings,
        purse=purse,
        account=granted,
        scope=scope,
        policies=above._policies,
    )
    part.value = value
    return part


def salt_of(account: SubAccount) -> int:
    """The one salt of a partition: random, in the ledger, and the same for every question."""
    return int(account.account, 16) % (1 << _SALT_BITS)
