"""What pays for questions: a whole ledger, or a sub-account within one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from discreet.accounting.adaptive.steps import Amounts
from discreet.ledger.entry import Entry
from discreet.ledger.paid_answer import PaidAnswer
from discreet.ledger.session_log import SessionLog


class LedgerAccount(Protocol):
    """Reserves, keeps releases, and says what is left."""

    @property
    def account(self) -> str:
        """The id of the sub-account; empty for the whole ledger."""

    def reserve(
        self,
        *,
        analyst: str,
        query: str,
        charge: Amounts,
        event: str,
        detail: Mapping[str, object],
        any_snapshot: str | None = None,
        admit: Callable[[], None] = ...,
        id: str | None = None,
    ) -> str:
        """Charge before anything is computed; return the reservation's id.

        ``admit`` may read the account and refuse, and nobody writes in between; ``id`` is random
        unless the caller has a random one, under which nothing is charged twice.
        """

    def unfinished(self, *, analyst: str, query: str, any_snapshot: str | None = None) -> list[str]:
        """The reservations of this analyst for this very question that nothing has concluded."""

    def commit(self, reservation: str, release: Mapping[str, object]) -> None:
        """Keep the release that a reservation paid for."""

    def answer(self, reservation: str, body: Mapping[str, object]) -> None:
        """Keep one answer of a conversation that goes on."""

    def fail(self, reservation: str, code: str) -> None:
        """End a reservation that came to nothing."""

    def find(self, *, analyst: str, query: str) -> Mapping[str, Any] | None:
        """The latest release committed to this analyst for this very question."""

    def find_paid(self, *, analyst: str, any_snapshot: str, query: str) -> PaidAnswer | None:
        """The latest answer to ``query``; else the latest to the same on another snapshot."""

    def read_reservation(self, reservation: str) -> Mapping[str, Any]:
        """What a reservation paid from here says."""

    def session_log(self, reservation: str) -> SessionLog:
        """Claim a conversation paid from here, for this process alone. Durable on return."""

    def spent(self) -> Amounts:
        """All that is charged."""

    def remaining(self) -> Amounts:
        """What may still be spent."""

    def entries(self) -> Iterator[Entry]:
        """All entries of the ledger."""
