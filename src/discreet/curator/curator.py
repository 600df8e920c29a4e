"""The curator: sole holder of the data, the budget and the ledger.

What can be asked, and how it is paid for, is in :mod:`discreet.curator.session`.

Source: contract, "Spending", "What may be seen"; 000a:C12, 004d:F15, D2.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from os import PathLike

from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number
from discreet.core.unit import PrivacyUnit
from discreet.curator.context import open_context
from discreet.curator.paid_before import ASK_FIRST, PaidBefore
from discreet.curator.policy.policy import Policy
from discreet.curator.purchase import OWNER
from discreet.curator.session import Session
from discreet.ledger import Ledger
from discreet.noise.randomness import SYSTEM, Source
from discreet.relational.engines.engine import Engine
from discreet.relational.schema.table import PublicTable, Table

__all__ = ["OWNER", "Curator"]


class Curator(Session):
    """Answers queries about private tables from one durable budget.

    Contract: ``budget`` and its definition of privacy are fixed when the ledger is started;
    ``ledger`` is a path (SQLite) or a ledger object, never implicit. ``policy`` narrows what may
    be asked. ``paid_before`` says what is done where a question was paid for on another snapshot of
    the data: it is refused, unless ``dp.Reuse()`` takes the stored answer or ``dp.PayAgain()`` pays
    once more. ``unit`` says whose privacy is protected where there is no table, for streams alone.
    ``randomness`` is for tests: with anything but the system's generator no durable
    ledger is accepted and releases are marked as not private.

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
        paid_before: PaidBefore = ASK_FIRST,
        unit: PrivacyUnit | None = None,
        **tables: Table | PublicTable,
    ) -> None:
        """Attach the tables, and start the ledger or reopen it on the same terms."""
        super().__init__(
            open_context(
                tables,
                budget=budget,
                ledger=ledger,
                engine=engine,
                policy=policy,
                randomness=randomness,
                paid_before=paid_before,
                unit=unit,
            )
        )

    def amend(self, *, budget: Guarantee, reason: str) -> None:
        """Change the budget, for a reason that stays on record; never below what is spent.

        For the data owner: the ledger's key must be at hand. The definition of privacy cannot
        change.
        """
        amended = self.context.budget.amended(budget)
        self.ledger.amend(limit=amended.limit, budget=amended.terms.budget, reason=reason)
        self.context = replace(self.context, budget=amended)

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
        from discreet.curator.external_spend import record

        record(self.context, what, reason=reason, spent_on=spent_on, delta=delta)

    def keep_snapshot(self, path: str | PathLike[str]) -> tuple[str, ...]:
        """Keep what the tables hold now, in a file for :meth:`same_snapshot`.

        For the data owner: it reads all rows, and is refused under a policy. The file is encrypted
        under the ledger's key. Returns the names of the tables, without those that have a name for
        their version.
        """
        from discreet.curator.kept_snapshot import keep_snapshot

        return keep_snapshot(self.context, path)

    def same_snapshot(self, path: str | PathLike[str]) -> tuple[str, ...]:
        """Compare the tables with what was kept; if nothing changed, their snapshot stays.

        For the data owner, as :meth:`keep_snapshot`. What was paid for then is free again; of
        files also in later sessions, of frames and tables on servers in this one.
        """
        from discreet.curator.kept_snapshot import same_snapshot

        return same_snapshot(self.context, path)

    def close(self) -> None:
        """Let go of the engine and the ledger. What was written stays."""
        self.context.database.close()
        self.ledger.close()

    def __enter__(self) -> Curator:
        """Use the curator in a ``with`` block, which closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """Tables, unit and what remains."""
        tables = ", ".join(self.context.database.names())
        return f"Curator({tables}; unit={self.unit}, remaining={self.remaining})"
