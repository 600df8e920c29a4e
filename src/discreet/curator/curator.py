"""The curator: sole holder of the data, the budget and the ledger.

What can be asked, and how it is paid for, is in :mod:`discreet.curator.session`.

Source: contract, "Spending", "What may be seen"; 000a:C12, 004d:F15, D2.
"""

from __future__ import annotations

from datetime import date
from os import PathLike

from discreet.core.errors import InvalidParameter, NotPrivate
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number
from discreet.curator.budget import Purse
from discreet.curator.external_spend import record
from discreet.curator.holdings import Holdings
from discreet.curator.payment import OWNER
from discreet.curator.policy.enforcement import Policies
from discreet.curator.policy.policy import Policy
from discreet.curator.sharing import Sharing
from discreet.ledger import Ledger, ledger_at
from discreet.noise.randomness import SYSTEM, Source, require_source
from discreet.relational.database import Database
from discreet.relational.engines.choose import engine_of
from discreet.relational.engines.engine import Engine
from discreet.relational.plan.scope import Scope
from discreet.relational.schema.table import PublicTable, Table

__all__ = ["OWNER", "Curator"]


class Curator(Sharing):
    """Answers questions about private tables from one durable budget.

    Contract: ``budget`` and its notion are fixed when the ledger is begun; ``ledger`` is a path
    (SQLite) or a ledger object, never implicit. ``policy`` narrows what may be asked.
    ``randomness`` is for tests: with anything but the system's generator no durable ledger is
    accepted and releases are marked as not private.

    Guarantee: whatever is asked, in whatever order and by however many processes that share the
    ledger, everything released together keeps ``budget`` for each unit.
    """

    def __init__(
        self,
        *,
        budget: Guarantee,
        ledger: str | PathLike[str] | Ledger,
        engine: Engine | None = None,
        policy: Policy | None = None,
        randomness: Source = SYSTEM,
        **tables: Table | PublicTable,
    ) -> None:
        """Attach the tables, and begin the ledger or reopen it on the same terms."""
        for name, table in tables.items():
            if not isinstance(table, Table | PublicTable):
                raise InvalidParameter(
                    code="not_a_table",
                    expectation="tables declared with dp.table or dp.public",
                    received=(name, type(table).__name__),
                    remedy='Write Curator(visits=dp.table("visits.parquet", ...), ...).',
                )
        require_source(randomness)
        book = ledger_at(ledger)
        if book.durable and not randomness.private:
            raise NotPrivate(
                code="test_mode_in_ledger",
                expectation="a ledger in memory for test mode",
                received=type(book).__name__,
                remedy="Pass ledger=dp.ledger.Memory(), or leave `randomness=` out.",
            )
        database = Database(engine_of(tables, engine), tables)
        purse = Purse(budget, database.unit)
        policies = Policies.of(policy, database)
        book.open(purse.terms)
        super().__init__(
            holdings=Holdings(database, book, randomness),
            purse=purse,
            account=book,
            scope=Scope(),
            policies=policies,
        )

    def amend(self, *, budget: Guarantee, reason: str) -> None:
        """Change the budget, for a reason that stays on record; never below what is spent.

        For the data owner: the ledger's key must be at hand. The notion cannot change.
        """
        purse = self._purse.amended(budget)
        self.ledger.amend(limit=purse.limit, budget=purse.terms.budget, reason=reason)
        self._purse = purse

    def record(
        self,
        what: Event | Guarantee,
        *,
        reason: str,
        spent_on: date | None = None,
        delta: Number | None = None,
    ) -> None:
        """Charge the budget for what was released elsewhere, about the same people.

        ``what`` is the event it was, or the guarantee it kept. ``spent_on`` is the day of it.
        ``delta`` is that at which an event such as Gaussian noise enters a sum of pairs.
        """
        record(what, self._purse, self.ledger, reason=reason, spent_on=spent_on, delta=delta)

    def close(self) -> None:
        """Let go of the engine and the ledger. What was written stays."""
        self._database.close()
        self.ledger.close()

    def __enter__(self) -> Curator:
        """Use the curator in a ``with`` block, which closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Tables, unit and what remains."""
        tables = ", ".join(self._database.names())
        return f"Curator({tables}; unit={self.unit}, remaining={self.remaining})"
