"""The log of an interactive session that outlives its process: what was said, and its secrets.

What was said is kept like every answer. A secret, such as the noise of a hidden threshold, is
sealed like every entry and also encrypted under the owner's key: neither the file nor an export
nor a back-up shows it to anybody without that key.

One process speaks for a conversation at a time. Whoever takes it up writes a claim with the next
number; from then on whatever an older speaker would write is refused, and so never said.

Proof: ``proofs/ledger.md``. Source: contract, "Spending" (noise that outlives a call).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from discreet.core.errors import InvalidParameter, LedgerError
from discreet.ledger.chain import Chain
from discreet.ledger.entry import Entry, EntryKind, following
from discreet.ledger.plain_json import compact, object_text, require_text
from discreet.ledger.waiting import Result


class Chained(Protocol):
    """A ledger: its chain of entries, and its way of writing to it."""

    @property
    def chain(self) -> Chain:
        """The sealed entries."""

    def repeated(self, act: Callable[[], Result]) -> Result:
        """Do what writes as a whole or not at all, until it is known how it ended."""


class SessionLog:
    """What one speaker writes about one reservation.

    Guarantee: an entry is durable when :meth:`write` or :meth:`keep` returns; nothing is written
    after a later claim, after the reservation's end, or after the ledger came back from a copy.
    """

    def __init__(self, ledger: Chained, reservation: str, generation: int) -> None:
        """Speak under a claim that was written."""
        self._ledger = ledger
        self._chain = ledger.chain
        self._reservation = reservation
        self._generation = generation

    @classmethod
    def claimed(cls, ledger: Chained, account: str, reservation: str) -> SessionLog:
        """Claim a conversation that ``account`` paid for. Durable on return."""
        require_text("reservation", reservation)
        generation = ledger.repeated(lambda: _claim(ledger.chain, account, reservation))
        return cls(ledger, reservation, generation)

    @property
    def generation(self) -> int:
        """How often the conversation was taken up, the first time included."""
        return self._generation

    def entries(self) -> Sequence[Mapping[str, Any]]:
        """All that was written, oldest first, secrets included: for the owner's process alone."""
        with self._chain.reading():
            kinds = (EntryKind.ANSWERED, EntryKind.KEPT)
            found = [e for kind in kinds for e in self._chain.store.every(kind, self._reservation)]
            return [
                self._read_entry_body(entry)
                for entry in sorted(found, key=lambda entry: entry.number)
            ]

    def write(self, entry: Mapping[str, Any]) -> None:
        """Keep what is said. Durable on return."""
        self._add(EntryKind.ANSWERED, object_text("entry", entry))

    def keep(self, entry: Mapping[str, Any]) -> None:
        """Keep a secret. Durable on return."""
        encrypted = self._chain.owner().encrypt(object_text("entry", entry).encode("ascii"))
        self._add(EntryKind.KEPT, compact({"generation": self._generation, "veiled": encrypted}))

    def _add(self, kind: EntryKind, text: str) -> None:
        self._ledger.repeated(lambda: self._added(kind, text))

    def _added(self, kind: EntryKind, text: str) -> None:
        with self._chain.writing() as last:
            self._chain.require_open(self._reservation)
            _require_whole(self._chain, self._reservation)
            if _generation(self._chain, self._reservation) != self._generation:
                raise LedgerError(
                    code="conversation_taken",
                    expectation="one process that speaks for a conversation",
                    received=f"claim {self._generation}, which is not the latest",
                    remedy="It was resumed elsewhere. Go on there, or resume it here again.",
                )
            self._chain.add(following(last, kind, text=text, subject=self._reservation))

    def _read_entry_body(self, entry: Entry) -> Mapping[str, Any]:
        body = entry.require_seal(self._chain.owner()).body
        if entry.kind is EntryKind.ANSWERED:
            return body
        plain: dict[str, Any] = json.loads(self._chain.owner().decrypt(str(body["veiled"])))
        return plain

    def __repr__(self) -> str:
        return f"SessionLog({self._reservation!r}, generation={self._generation})"


def require_own_reservation(chain: Chain, account: str, reservation: str) -> Entry:
    """The reservation, if ``account`` paid for it; others are as unknown as those never made."""
    entry = chain.reservation(reservation)
    if entry.account != account:
        raise InvalidParameter(
            code="reservation_unknown",
            expectation="the id that `reserve` returned",
            received=reservation,
            remedy="Reserve first; nothing is released that was not paid for.",
        )
    return entry


def _claim(chain: Chain, account: str, reservation: str) -> int:
    with chain.writing() as last:
        require_own_reservation(chain, account, reservation)
        chain.require_open(reservation)
        _require_whole(chain, reservation)
        generation = _generation(chain, reservation) + 1
        text = compact({"generation": generation})
        chain.add(following(last, EntryKind.CLAIMED, text=text, subject=reservation))
        return generation


def _generation(chain: Chain, reservation: str) -> int:
    latest = chain.store.latest(EntryKind.CLAIMED, reservation)
    return 0 if latest is None else int(latest.require_seal(chain.owner()).body["generation"])


def _require_whole(chain: Chain, reservation: str) -> None:
    """Refuse where answers may be missing: their count is what keeps the price."""
    restored = chain.store.latest(EntryKind.RESTORED, "")
    if restored is None:
        return
    if restored.require_seal(chain.owner()).number > chain.reservation(reservation).number:
        raise LedgerError(
            code="conversation_restored",
            expectation="a conversation of which no answer can be missing",
            received="a ledger that was restored from a copy since it began",
            remedy="Open a new one, which is charged; what was answered stays in the ledger.",
        )
