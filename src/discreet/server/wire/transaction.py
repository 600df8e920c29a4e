"""Transactions, as far as clients need them: nothing that was charged can be rolled back."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.errors import InvalidParameter

IDLE, WITHIN, FAILED = b"I", b"T", b"E"
_ENDS = ("COMMIT", "END", "ROLLBACK", "ABORT")
STAYS = "what was charged in this transaction stays charged, and its answers stay stored"


@dataclass
class Transaction:
    """Whether a client is in a transaction, and whether something was charged in it."""

    status: bytes = IDLE
    charged: bool = False

    def begin(self) -> str:
        """BEGIN; a second one changes nothing."""
        if self.status == IDLE:
            self.status, self.charged = WITHIN, False
        return "BEGIN"

    def commit(self) -> str:
        """COMMIT; a failed transaction ends as if rolled back."""
        failed, self.status = self.status == FAILED, IDLE
        return "ROLLBACK" if failed else "COMMIT"

    def rollback(self) -> bool:
        """ROLLBACK; whether something was charged that stays so."""
        told, self.status, self.charged = self.charged, IDLE, False
        return told

    def back_to_savepoint(self) -> str:
        """ROLLBACK TO: a failed transaction goes on."""
        if self.status == FAILED:
            self.status = WITHIN
        return "ROLLBACK"

    def fail(self) -> None:
        """An error ends what can be done in a transaction."""
        if self.status == WITHIN:
            self.status = FAILED

    def note_charge(self) -> None:
        """Something was charged."""
        self.charged = self.status != IDLE

    def require_going_on(self, word: str) -> None:
        """Refuse everything but the end of a failed transaction."""
        if self.status == FAILED and word not in _ENDS:
            raise InvalidParameter(
                code="transaction_failed",
                expectation="ROLLBACK, since a statement of this transaction failed",
                received=word[:64],
                remedy="Send ROLLBACK; " + STAYS + ".",
            )
