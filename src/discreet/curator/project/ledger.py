"""The ledger of a project for its owner: look, verify, amend, back up; no data is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from discreet.core.errors import InvalidParameter, LedgerError
from discreet.core.guarantee import Guarantee
from discreet.curator.budget import PrivacyBudget
from discreet.curator.history import History, history
from discreet.ledger import Checkpoint, Entry, EntryKind, Ledger


@dataclass(frozen=True)
class ProjectLedger:
    """A ledger that was started, and the budget it guards."""

    ledger: Ledger
    budget: PrivacyBudget

    @classmethod
    def of(cls, budget: PrivacyBudget, ledger: Ledger) -> ProjectLedger:
        """Open a ledger that was started, on these terms."""
        ledger.open(budget.terms)
        return cls(ledger, budget)

    @classmethod
    def open_for_reading(cls, budget: PrivacyBudget, ledger: Ledger) -> ProjectLedger:
        """The same to be read alone: also a copy, beside the one that lives."""
        try:
            return cls.of(budget, ledger)
        except LedgerError as refusal:
            if refusal.code != "ledger_superseded":
                raise
        return cls(ledger, budget)

    @property
    def spent(self) -> Guarantee:
        """What has been spent, unfinished reservations included, rounded up."""
        return self.budget.spent(self.ledger.spent())

    @property
    def remaining(self) -> Guarantee:
        """What may still be spent, rounded down."""
        return self.budget.remaining(self.ledger.remaining())

    def history(self) -> History:
        """What was asked, by whom and at what price."""
        return history(self.ledger, self.budget)

    def entries(self) -> Iterator[Entry]:
        """Every entry, oldest first."""
        return self.ledger.entries()

    def released(self, reservation: str) -> Mapping[str, Any] | None:
        """What a reservation ended with, under its seal; None where it ended with nothing."""
        chain = self.ledger.chain
        with chain.reading():
            found = chain.store.latest(EntryKind.COMMITTED, reservation)
            return None if found is None else found.require_seal(chain.owner()).body

    def verify(self, checkpoint: Checkpoint | None) -> Checkpoint:
        """Check every seal and total, and that a kept checkpoint is there; the one now."""
        self.ledger.verify(checkpoint)
        return self.ledger.checkpoint()

    def amend(self, numbers: Mapping[str, float], *, reason: str) -> Guarantee:
        """Change the budget's numbers, every one of them named; its definition cannot change."""
        wanted = _numbers(self.budget.total)
        if set(numbers) != set(wanted):
            raise InvalidParameter(
                code="amendment_numbers",
                expectation=f"the new {' and '.join(wanted)} of the whole budget",
                received=sorted(numbers),
                remedy=f"Pass {' '.join(f'--{name} NUMBER' for name in wanted)}.",
            )
        budget = replace(self.budget.total, **numbers)  # type: ignore[arg-type]
        amended = self.budget.amended(budget)
        self.ledger.amend(limit=amended.limit, budget=amended.terms.budget, reason=reason)
        return budget

    def backup(self, path: str | PathLike[str]) -> Checkpoint:
        """Write a consistent copy to a new file; the checkpoint it ends with."""
        return self.ledger.backup(Path(path))

    def close(self) -> None:
        """Let go of the file."""
        self.ledger.close()


def _numbers(budget: Guarantee) -> tuple[str, ...]:
    return tuple(name for name in ("epsilon", "rho", "delta") if hasattr(budget, name))
