"""The whole chain, entry by entry: seals, order, totals, and that releases were paid for.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.accounting.adaptive.steps import plus
from discreet.ledger.amounts import within
from discreet.ledger.checkpoint import Head
from discreet.ledger.entry import Entry, Kind
from discreet.ledger.errors import damaged
from discreet.ledger.key import OwnerKey
from discreet.ledger.sub_account_rules import AllotmentRules

_ABOUT = (Kind.COMMITTED, Kind.CLAIMED, Kind.ANSWERED, Kind.KEPT, Kind.FAILED)
_CONCLUDING = (Kind.COMMITTED, Kind.FAILED)


def verify_chain(entries: Iterable[Entry], key: OwnerKey, head: Head) -> None:
    """Refuse the entries unless each follows from those before it, up to ``head`` at least.

    A seal shows that an entry was written by a holder of the key; the rules show that it was
    allowed. Entries that were added while this runs are checked like the others.
    """
    rules = _Rules(key)
    reached = None
    for entry in entries:
        rules.admit(entry.require_seal(key))
        if entry.number == head.number:
            reached = entry.head
    if reached != head:
        raise damaged(what=f"entry {head.number} is not reached")


class _Rules:
    """What an entry must be, given all before it."""

    def __init__(self, key: OwnerKey) -> None:
        """Start before the first entry."""
        self._key = key
        self._last: Entry | None = None
        self._names: set[str] = set()
        self._open: set[str] = set()
        self._snapshots: set[str] = set()
        self._claims: dict[str, int] = {}
        self._allotments = AllotmentRules(key)

    def admit(self, entry: Entry) -> None:
        """Take the next entry, or refuse the ledger."""
        last = self._last
        fits = self._begins(entry) if last is None else self._follows(last, entry)
        if not fits or entry.id in self._names or not within(entry.spent, entry.limit):
            raise damaged(what=f"entry {entry.number} does not follow from those before it")
        if not self._tells_the_truth(entry):
            raise damaged(what=f"entry {entry.number} is about something that is not there")
        self._names.add(entry.id)
        self._last = entry

    def _begins(self, entry: Entry) -> bool:
        return (
            entry.kind is Kind.OPENED
            and entry.number == 1
            and entry.previous == ""
            and not any(entry.spent)
            and entry.body.get("key") == self._key.identity
        )

    def _follows(self, last: Entry, entry: Entry) -> bool:
        return (
            entry.kind is not Kind.OPENED
            and entry.number == last.number + 1
            and entry.previous == last.mac
            and len(entry.charge) == len(last.spent)
            and entry.spent == plus(last.spent, entry.charge)
            and (entry.limit == last.limit or entry.kind is Kind.AMENDED)
        )

    def _tells_the_truth(self, entry: Entry) -> bool:
        """Whether what the entry is about exists; notes what it begins or concludes."""
        if entry.account or entry.kind is Kind.GRANTED:
            if entry.kind is Kind.RESERVED:
                self._open.add(entry.id)
            return self._allotments.admit(self._last, entry)
        if entry.kind is Kind.RESERVED:
            asked = (str(entry.body.get(part)) for part in ("asker", "question"))
            self._open.add(entry.id)
            return entry.subject == self._key.tag("question", *asked)
        if entry.kind is Kind.SNAPSHOT:
            known = entry.subject in self._snapshots
            self._snapshots.add(entry.subject)
            return not known
        if entry.kind in _ABOUT:
            known = entry.subject in self._open
            if entry.kind in _CONCLUDING:
                self._open.discard(entry.subject)
            return known and self._speaks_by_right(entry)
        return entry.subject == ""

    def _speaks_by_right(self, entry: Entry) -> bool:
        """Whether claims are numbered in order, and secrets written under the latest."""
        claim = self._claims.get(entry.subject, 0)
        if entry.kind is Kind.CLAIMED:
            self._claims[entry.subject] = claim + 1
            return entry.body.get("generation") == claim + 1
        return entry.kind is not Kind.KEPT or entry.body.get("generation") == claim > 0
