"""What everything that is asked takes: the tables, the ledger, the budget, and the rules in force.

A curator has one for the whole of its budget; a child or a part has one of its own, with the same
tables and ledger, that pays from another account and sees no more than its scope.

Source: contract, "Spending", "What may be seen"; 004d:F15, F16. Proof: ``proofs/sharing.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from os import PathLike

from discreet.accounting.adaptive.steps import Amounts, plus
from discreet.core.errors import InvalidParameter, NotPrivate
from discreet.core.guarantee import Guarantee
from discreet.core.unit import PrivacyUnit
from discreet.curator.budget import PrivacyBudget
from discreet.curator.paid_before import ASK_FIRST, PaidBefore, require_paid_before
from discreet.curator.policy.enforcement import Policies
from discreet.curator.policy.policy import Policy
from discreet.ledger import Ledger, LedgerAccount, ledger_at
from discreet.ledger.errors import closed
from discreet.noise.randomness import SYSTEM, Source, random_id, require_source
from discreet.relational.database import Database, private_tables
from discreet.relational.engines.choose import engine_of
from discreet.relational.engines.engine import Engine
from discreet.relational.frontends.as_sql import Asked, text_of
from discreet.relational.plan.nodes import scans
from discreet.relational.plan.query import Query
from discreet.relational.plan.scope import Scope
from discreet.relational.schema.table import MOST_ROWS, PublicTable, Table
from discreet.relational.sql.catalog import Catalog
from discreet.relational.sql.limited_catalog import limited_catalog
from discreet.release.promise import Charges

ANALYST = "analyst"
"""Who asks, where nobody is named."""

KeyLimits = Mapping[str, Mapping[str | tuple[str, ...], int]]
"""By table and key, how many rows may share a value."""


def _random() -> str | None:
    """No id of one's own."""
    return None


def _unheard(unfinished: list[str]) -> None:
    """Whatever was begun and not finished may have been lost."""


def _ignored(reservation: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Context:
    """Sees the tables of ``database`` within ``scope``, and pays ``budget`` from ``account``.

    Attributes:
        database: The tables in their engine.
        ledger: The record of all spending.
        budget: What everything paid from the account keeps together.
        account: The ledger itself, or a budget that was set aside in it.
        scope: Everything, or a part of a table.
        policies: What may be asked.
        randomness: Where noise comes from; anything but the system's is test mode.
        paid_before: What to do where a question was paid for on another snapshot.
        snapshots: The ids of the data's versions that were looked up so far, by their tables.
        versions: The versions of tables that were looked up so far.
        on_reserved: Told the id of each reservation once it is durable, before data is read: from
            public facts alone.
        reservation_id: The id of the next reservation; None: a random one. An id that was used is
            refused, so that whoever repeats an id is charged once.
        on_unfinished: Told the reservations of the same asker for the same question that nothing
            has concluded, while nobody writes and before anything is charged; it may refuse.
        sizes: The numbers of rows that were counted so far, where they are public.
        max_rows_per: Limits on rows per key that hold here in place of what tables declare.
    """

    database: Database
    ledger: Ledger
    budget: PrivacyBudget
    account: LedgerAccount
    scope: Scope
    policies: Policies
    randomness: Source
    paid_before: PaidBefore = ASK_FIRST
    snapshots: dict[frozenset[str], str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    on_reserved: Callable[[str], None] = _ignored
    reservation_id: Callable[[], str | None] = _random
    on_unfinished: Callable[[list[str]], None] = _unheard
    sizes: dict[str, int] = field(default_factory=dict)
    max_rows_per: KeyLimits = field(default_factory=dict)

    @cached_property
    def catalog(self) -> Catalog:
        """The tables as questions see them here."""
        if not self.max_rows_per:
            return self.database
        return limited_catalog(self.database, self.max_rows_per)

    @property
    def unit(self) -> PrivacyUnit:
        """Whose privacy is protected."""
        return self.budget.unit

    @property
    def rows_at_most(self) -> int:
        """The most private rows there are, as declared: for overflow."""
        tables = self.database.tables.values()
        return sum(t.rows_at_most for t in tables if isinstance(t, Table)) or MOST_ROWS

    def query(self, text: Asked) -> Query:
        """The query that a text means here: about a part, within the part."""
        self.require_open()
        return self.scope.query(text_of(text), self.catalog)

    def question(self, text: Asked) -> Query:
        """The same, or a query over answers."""
        self.require_open()
        return self.scope.question(text_of(text), self.catalog)

    def as_written(self, text: Asked) -> Query | None:
        """A query around an answer with all that the answer has; None where there is none."""
        return self.scope.as_written(text_of(text), self.catalog)

    def declared_rows(self, tables: Collection[str]) -> tuple[tuple[str, int], ...]:
        """The most rows of each of these private tables, as declared."""
        found = self.database.tables
        private = [(name, found[name]) for name in sorted(tables)]
        return tuple((name, each.rows_at_most) for name, each in private if isinstance(each, Table))

    def snapshot(self, tables: Collection[str]) -> str:
        """A random id for the version of these tables."""
        names = frozenset(tables)
        if names not in self.snapshots:
            tag = ";".join(f"{name}={self._version_read(name)}" for name in sorted(names))
            self.snapshots[names] = self.ledger.snapshot(tag)
        return self.snapshots[names]

    def _version_read(self, table: str) -> str:
        """The version of a table with what decides, beside its file, which values a column has."""
        source = self.database.tables[table].source
        told = [self.version(table)]
        if source.names_given:
            told.append(f"names={source.names_given!r}")
        if source.part_of_file and self.database.label(table) is None:
            told.append(f"table={source.part_of_file!r}")
        return "#".join(told)

    def version(self, table: str) -> str:
        """The version of a table: the owner's name for it, that of its file, or a random one.

        A file that the owner found to be the same as an earlier one has the version of that.
        """
        if table not in self.versions:
            found = self.database.version(table)
            if found is None:
                found = random_id(128)
            elif self.database.label(table) is None:
                found = self.ledger.known_version(table, found)
            self.versions[table] = found
        return self.versions[table]

    def snapshot_names(self, tables: Collection[str]) -> dict[str, str | None]:
        """The owner's names for the versions of these private tables; None where there is none."""
        private = private_tables(self.database)
        return {name: self.database.label(name) for name in sorted(private.intersection(tables))}

    def price(self, charges: Charges) -> Amounts:
        """What these cost here; nothing in test mode, whose releases are marked."""
        if not self.randomness.private:
            return self.budget.currency.zero
        return reduce(plus, (self.budget.charge(spend, events) for spend, events in charges))

    def require_open(self) -> None:
        """Refuse to work in a forked child, and after the curator was closed."""
        self.database.require_process()
        if self.database.closed:
            raise closed()

    def require_unchanged(self) -> None:
        """Refuse to go on with files that are not those which were attached."""
        if not self.database.unchanged():
            raise InvalidParameter(
                code="data_changed",
                expectation="files that stay as they were when the curator was opened",
                remedy="Open a new curator on the same ledger; it takes a new snapshot.",
            )

    def require_own_allowed(self) -> None:
        """Refuse what is of one's own making where it could not be held to its limits.

        Nobody can say what it does: neither that it keeps to a part, nor which columns it reads.
        """
        self.scope.require_whole()
        self.policies.require_described()

    def below(
        self, budget: PrivacyBudget, account: LedgerAccount, scope: Scope | None = None
    ) -> Context:
        """The same tables under a budget that was set aside here."""
        return replace(
            self, budget=budget, account=account, scope=self.scope if scope is None else scope
        )

    def limited(self, max_rows_per: KeyLimits) -> Context:
        """The same tables with other limits on rows per key."""
        changed = replace(self, max_rows_per={**self.max_rows_per, **max_rows_per})
        assert changed.catalog is not None  # refused here where a limit is none
        return changed


def open_context(
    tables: Mapping[str, Table | PublicTable],
    *,
    budget: Guarantee,
    ledger: str | PathLike[str] | Ledger,
    engine: Engine | None = None,
    policy: Policy | None = None,
    randomness: Source = SYSTEM,
    paid_before: PaidBefore = ASK_FIRST,
    unit: PrivacyUnit | None = None,
) -> Context:
    """Attach the tables, and start the ledger or reopen it on the same terms."""
    for name, table in tables.items():
        if not isinstance(table, Table | PublicTable):
            raise InvalidParameter(
                code="not_a_table",
                expectation="tables declared with dp.table or dp.public",
                received=(name, type(table).__name__),
                remedy='Write Curator(visits=dp.table("visits.parquet", ...), ...).',
            )
    require_source(randomness)
    require_paid_before(paid_before)
    book = ledger_at(ledger)
    if book.durable and not randomness.private:
        raise NotPrivate(
            code="test_mode_in_ledger",
            expectation="a ledger in memory for test mode",
            received=type(book).__name__,
            remedy="Pass ledger=dp.ledger.Memory(), or leave `randomness=` out.",
        )
    database = Database(engine_of(tables, engine), tables, unit)
    whole = PrivacyBudget(budget, database.unit, database.units)
    policies = Policies.of(policy, database)
    book.open(whole.terms)
    return Context(database, book, whole, book, Scope(), policies, randomness, paid_before)


def tables_read(query: Query) -> frozenset[str]:
    """The tables that a query reads, those through which others reach their people included."""
    read = [scan for part in query.parts for scan in scans(part.rows)]
    routes = {scan.route.table for scan in read if scan.route is not None}
    return frozenset({scan.table for scan in read} | routes)
