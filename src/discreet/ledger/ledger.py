"""The ledger: reserve durably, release, commit; an unfinished reservation counts as spent.

Every operation reads the last entry, checks its seal, and adds one entry, all in one transaction.
The last entry holds the totals, so the price of an operation does not grow with the history.

Proof: ``proofs/ledger.md``. Source: contract, "Spending"; 004d:F15.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self

from discreet.accounting.adaptive.steps import Amounts, minus, plus
from discreet.core.errors import InvalidParameter
from discreet.ledger.amounts import exhausted, format_amounts, require_amounts, within
from discreet.ledger.chain import Chain
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.entry import Entry, EntryKind, following
from discreet.ledger.errors import damaged, not_copied
from discreet.ledger.key import OwnerKey
from discreet.ledger.paid_answer import PaidAnswer, asked_body, found_by, latest_paid
from discreet.ledger.plain_json import compact, object_text, require_text
from discreet.ledger.session_log import SessionLog, require_own_reservation
from discreet.ledger.terms import LedgerTerms
from discreet.ledger.verify import verify_chain
from discreet.ledger.waiting import Result


def admit_all() -> None:
    """Whatever the budget allows."""


class Ledger(ABC):
    """An append-only record of terms, reservations and releases, sealed under an owner's key.

    Contract: one budget for one unit. Whoever holds the object may spend.
    Guarantee: what is spent never falls and never exceeds the limit, whatever is interleaved or
    interrupted; every committed release was reserved first.
    """

    durable: bool
    """Whether entries outlive the process."""

    account = ""
    """Not a sub-account, but the whole."""

    def __init__(self, chain: Chain) -> None:
        """Look at nothing yet."""
        self.chain = chain

    def open(self, terms: LedgerTerms) -> LedgerTerms:
        """Start the ledger, or check that it was started on these terms; return those in force.

        The budget may be the one it was started with or the one in force after amendments.
        """
        self._begin(terms)
        with self.chain.living() as last:
            started = LedgerTerms.of(self.chain.first())
            amended = self.chain.store.latest(EntryKind.AMENDED, "")
            if amended is not None:
                amended.require_seal(self.chain.owner())
            in_force = started.amended(last.limit, amended)
        terms.check(started, in_force)
        return in_force

    def amend(self, *, limit: Amounts, budget: Mapping[str, object], reason: str) -> None:
        """Change the limit, for a reason that stays on record; never below what is spent."""
        body = {
            "budget": json.loads(object_text("budget", budget)),
            "reason": require_text("reason", reason),
        }
        self.repeated(lambda: self._amended(limit, compact(body)))

    def _amended(self, limit: Amounts, text: str) -> None:
        with self.chain.writing() as last:
            require_amounts("limit", limit, len(last.limit))
            if not within(last.spent, limit):
                raise InvalidParameter(
                    code="limit_below_spent",
                    expectation="a limit that covers what is spent already",
                    remedy="Choose a larger one; what was released cannot be taken back.",
                )
            self.chain.add(following(last, EntryKind.AMENDED, text=text, limit=limit))

    def reserve(
        self,
        *,
        analyst: str,
        query: str,
        charge: Amounts,
        event: str,
        detail: Mapping[str, object],
        any_snapshot: str | None = None,
        admit: Callable[[], None] = admit_all,
        id: str | None = None,
    ) -> str:
        """Charge before anything is computed; return the reservation's id.

        Durable on return. Where the limit would be exceeded nothing is written. From now on the
        charge counts as spent, whether or not a release follows. ``any_snapshot`` identifies the
        query apart from the snapshot of the data. ``admit`` may read the ledger and refuse: nobody
        writes between its look and this entry. ``id`` is random unless the caller has a random one,
        under which nothing is charged twice.
        """
        asked = asked_body(analyst, query, any_snapshot)
        subject = self._subject(analyst, found_by(asked))
        body = {**asked, **spending(charge, event, detail)}
        return self._spend(EntryKind.RESERVED, charge, compact(body), subject, admit=admit, id=id)

    def record(self, *, charge: Amounts, event: str, detail: Mapping[str, object]) -> str:
        """Enter spending that happened elsewhere; where the limit is too small, amend it first."""
        return self._spend(EntryKind.RECORDED, charge, compact(spending(charge, event, detail)), "")

    def commit(self, reservation: str, release: Mapping[str, object]) -> None:
        """Keep the release that a reservation paid for, once. Durable on return."""
        self._about(EntryKind.COMMITTED, reservation, object_text("release", release))

    def answer(self, reservation: str, body: Mapping[str, object]) -> None:
        """Keep one answer of a conversation that goes on. Durable on return."""
        self._about(EntryKind.ANSWERED, reservation, object_text("body", body))

    def fail(self, reservation: str, code: str) -> None:
        """End a reservation that came to nothing; it stays spent."""
        self._about(EntryKind.FAILED, reservation, compact({"code": require_text("code", code)}))

    def was_reserved(self, reservation: str) -> bool:
        """Whether something was charged under this id, here or by a sub-account."""
        with self.chain.reading():
            found = self.chain.store.find_entry_by_id(require_text("reservation", reservation))
            return found is not None and self.chain.require_sealed(found).kind is EntryKind.RESERVED

    def unfinished(self, *, analyst: str, query: str, any_snapshot: str | None = None) -> list[str]:
        """The reservations of this analyst for this very question that nothing has concluded."""
        asked = asked_body(analyst, query, any_snapshot)
        return self.chain.unfinished(self._subject(analyst, found_by(asked)), query)

    def find(self, *, analyst: str, query: str) -> Mapping[str, Any] | None:
        """The latest release committed to this analyst for this very question."""
        subject = self._subject(analyst, query)
        with self.chain.reading():
            found = self.chain.store.released(subject)
            if found is None:
                return None
            paid = self.chain.reservation(found.subject).body
            asked = (paid.get("account", ""), paid.get("asker"), paid.get("question"))
            if asked != (self.account, analyst, query):
                raise damaged(
                    what=f"the index leads to entry {found.number}, which answers another"
                )
            return found.require_seal(self.chain.owner()).body

    def find_paid(self, *, analyst: str, any_snapshot: str, query: str) -> PaidAnswer | None:
        """The latest answer to ``query``; else the latest to the same on another snapshot."""
        return latest_paid(
            self.chain,
            self._subject(analyst, any_snapshot),
            account=self.account,
            analyst=analyst,
            any_snapshot=any_snapshot,
            query=query,
        )

    def read_reservation(self, reservation: str) -> Mapping[str, Any]:
        """What a reservation paid from here says."""
        with self.chain.reading():
            return require_own_reservation(
                self.chain, self.account, require_text("reservation", reservation)
            ).body

    def session_log(self, reservation: str) -> SessionLog:
        """Claim a conversation paid from here, for this process alone. Durable on return."""
        return SessionLog.claimed(self, self.account, reservation)

    def answers(self, reservation: str) -> list[Mapping[str, Any]]:
        """The answers kept for a conversation, oldest first: resuming re-reads, never redraws."""
        with self.chain.reading():
            self.chain.reservation(require_text("reservation", reservation))
            entries = self.chain.store.every(EntryKind.ANSWERED, reservation)
            return [entry.require_seal(self.chain.owner()).body for entry in entries]

    def spent(self) -> Amounts:
        """All that is charged, unfinished reservations included."""
        with self.chain.reading() as last:
            return last.spent

    def limit(self) -> Amounts:
        """What may be spent in all."""
        with self.chain.reading() as last:
            return last.limit

    def remaining(self) -> Amounts:
        """What may still be spent."""
        with self.chain.reading() as last:
            return minus(last.limit, last.spent)

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """All entries that follow number ``after``, oldest first, as they stand.

        :meth:`verify` says whether they are true.
        """
        return self.chain.entries(after)

    def snapshot(self, tag: str) -> str:
        """A random id for a version of the data: the same for the same tag, else a new one.

        The tag itself is not kept, only a keyed fingerprint of it.
        """
        subject = self.chain.owner().tag("snapshot", require_text("tag", tag))
        return self.repeated(lambda: self._noted(subject))

    def _noted(self, subject: str, body: str = "{}") -> str:
        with self.chain.writing() as last:
            known = self.chain.store.latest(EntryKind.SNAPSHOT, subject)
            if known is not None:
                return known.require_seal(self.chain.owner()).id
            return self.chain.add(
                following(last, EntryKind.SNAPSHOT, text=body, subject=subject)
            ).id

    def same_version(self, table: str, version: str, earlier: str) -> None:
        """Note, for the owner, that a version of a table holds what an earlier one held.

        Both are kept so that nobody reads them without the key. Durable on return.
        """
        key = self.chain.owner()
        body = compact({"same": key.encrypt(require_text("earlier", earlier).encode())})
        subject = _version_tag(key, table, version)
        self.repeated(lambda: self._noted(subject, body))

    def known_version(self, table: str, version: str) -> str:
        """The earlier version of a table that this one is the same as; else itself."""
        key = self.chain.owner()
        with self.chain.reading():
            noted = self.chain.store.latest(EntryKind.SNAPSHOT, _version_tag(key, table, version))
            if noted is None:
                return version
            return key.decrypt(noted.require_seal(key).body["same"]).decode()

    def tag(self, text: str) -> str:
        """A keyed fingerprint of ``text`` under the owner's key."""
        return self.chain.owner().tag("text", require_text("text", text))

    def checkpoint(self) -> Checkpoint:
        """Number and seal of the last entry, to be kept elsewhere."""
        with self.chain.reading() as last:
            return last.checkpoint

    def verify(self, checkpoint: Checkpoint | str | None = None) -> None:
        """Check every entry, seal and total; with a kept ``checkpoint``, that nothing is missing.

        A checkpoint is kept as the line that ``str`` gives. Without one, an old copy looks whole.
        """
        checkpoint = Checkpoint.parse(checkpoint) if isinstance(checkpoint, str) else checkpoint
        with self.chain.reading() as last:
            self.chain.store.inspect()
            if checkpoint is not None:
                self.chain.require_checkpoint(checkpoint, "the checkpoint you kept")
        verify_chain(self.chain.entries(), self.chain.owner(), last.checkpoint)

    @abstractmethod
    def backup(self, path: str | os.PathLike[str]) -> Checkpoint:
        """Write a consistent copy to a new file; return the checkpoint it ends with."""

    def close(self) -> None:
        """Let go of the store. What was written stays."""
        self.chain.store.close()

    @abstractmethod
    def _begin(self, terms: LedgerTerms) -> None:
        """Write the first entry if there is none."""

    def repeated(self, act: Callable[[], Result]) -> Result:
        """Do what writes as a whole or not at all; where it lies far away, until it is known.

        Everything that writes goes through here.
        """
        return act()

    def _spend(
        self,
        kind: EntryKind,
        charge: Amounts,
        text: str,
        subject: str,
        *,
        admit: Callable[[], None] = admit_all,
        id: str | None = None,
    ) -> str:
        return self.repeated(lambda: self._spent(kind, charge, text, subject, admit=admit, id=id))

    def _spent(
        self,
        kind: EntryKind,
        charge: Amounts,
        text: str,
        subject: str,
        *,
        admit: Callable[[], None],
        id: str | None,
    ) -> str:
        with self.chain.writing() as last:
            self.chain.require_new(id)
            admit()
            require_amounts("charge", charge, len(last.limit))
            total = plus(last.spent, charge)
            if not within(total, last.limit):
                raise exhausted(charge, last.spent, last.limit)
            entry = following(last, kind, text=text, subject=subject, spent=total, id=id)
            return self.chain.add(entry).id

    def _about(self, kind: EntryKind, reservation: str, text: str) -> None:
        require_text("reservation", reservation)
        self.repeated(lambda: self._concluded(kind, reservation, text))

    def _concluded(self, kind: EntryKind, reservation: str, text: str) -> None:
        with self.chain.writing() as last:
            self.chain.require_open(reservation)
            self.chain.add(following(last, kind, text=text, subject=reservation))

    def _subject(self, analyst: str, query: str) -> str:
        require_text("analyst", analyst)
        return self.chain.owner().tag("question", analyst, require_text("question", query))

    def __enter__(self) -> Self:
        """Use the ledger in a ``with`` block, which closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse copies and pickles."""
        raise not_copied()


def _version_tag(key: OwnerKey, table: str, version: str) -> str:
    return key.tag("version", require_text("table", table), require_text("version", version))


def spending(charge: Amounts, event: str, detail: Mapping[str, object]) -> dict[str, object]:
    """What an entry that charges says about the charge."""
    return {
        "charge": format_amounts(require_amounts("charge", charge)),
        "event": require_text("event", event),
        "detail": json.loads(object_text("detail", detail)),
    }
