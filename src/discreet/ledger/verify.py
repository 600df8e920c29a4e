"""The whole chain, entry by entry: seals, order, totals, and that releases were paid for.

Every total of a sub-account is added up anew from the charges, and every question and grant that
a sub-account paid for must follow the drawing that paid for it.

Proof: ``proofs/ledger.md``, ``proofs/sharing.md``.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.accounting.adaptive.steps import Amounts, plus
from discreet.ledger.amounts import within
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.entry import Entry, EntryKind
from discreet.ledger.errors import damaged
from discreet.ledger.key import OwnerKey
from discreet.ledger.paid_answer import found_by
from discreet.ledger.sub_account_grant import Role

_ABOUT = (
    EntryKind.COMMITTED,
    EntryKind.CLAIMED,
    EntryKind.ANSWERED,
    EntryKind.KEPT,
    EntryKind.FAILED,
)
_CONCLUDING = (EntryKind.COMMITTED, EntryKind.FAILED)


def verify_chain(entries: Iterable[Entry], key: OwnerKey, checkpoint: Checkpoint) -> None:
    """Refuse the entries unless each follows from those before it, up to ``checkpoint`` at least.

    A seal shows that an entry was written by a holder of the key; the rules show that it was
    allowed. Entries that were added while this runs are checked like the others.
    """
    rules = ChainRules(key)
    reached = None
    for entry in entries:
        rules.admit(entry.require_seal(key))
        if entry.number == checkpoint.number:
            reached = entry.checkpoint
    if reached != checkpoint:
        raise damaged(what=f"entry {checkpoint.number} is not reached")


class ChainRules:
    """What an entry must be, given all before it."""

    def __init__(self, key: OwnerKey) -> None:
        """Start before the first entry."""
        self._key = key
        self._last: Entry | None = None
        self._names: set[str] = set()
        self._open: set[str] = set()
        self._snapshots: set[str] = set()
        self._claims: dict[str, int] = {}
        self._sub_accounts = SubAccountRules(key)

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
            entry.kind is EntryKind.OPENED
            and entry.number == 1
            and entry.previous == ""
            and not any(entry.spent)
            and entry.body.get("key") == self._key.identity
        )

    def _follows(self, last: Entry, entry: Entry) -> bool:
        return (
            entry.kind is not EntryKind.OPENED
            and entry.number == last.number + 1
            and entry.previous == last.mac
            and len(entry.charge) == len(last.spent)
            and entry.spent == plus(last.spent, entry.charge)
            and (entry.limit == last.limit or entry.kind is EntryKind.AMENDED)
        )

    def _tells_the_truth(self, entry: Entry) -> bool:
        """Whether what the entry is about exists; notes what it begins or concludes."""
        if entry.account or entry.kind is EntryKind.GRANTED:
            if entry.kind is EntryKind.RESERVED:
                self._open.add(entry.id)
            return self._sub_accounts.admit(self._last, entry)
        if entry.kind is EntryKind.RESERVED:
            asked = (str(entry.body.get("asker")), found_by(entry.body))
            self._open.add(entry.id)
            return entry.subject == self._key.tag("question", *asked)
        if entry.kind is EntryKind.SNAPSHOT:
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
        if entry.kind is EntryKind.CLAIMED:
            self._claims[entry.subject] = claim + 1
            return entry.body.get("generation") == claim + 1
        return entry.kind is not EntryKind.KEPT or entry.body.get("generation") == claim > 0


class SubAccountRules:
    """The sub-accounts of a ledger, entry by entry."""

    def __init__(self, key: OwnerKey) -> None:
        """Start with none."""
        self._key = key
        self._granted: dict[str, Entry] = {}
        self._names: set[str] = set()
        self._totals: dict[str, Amounts] = {}

    def admit(self, last: Entry | None, entry: Entry) -> bool:
        """Whether a grant, a drawing or a reservation from a sub-account may follow ``last``."""
        match entry.kind:
            case EntryKind.GRANTED:
                return self._grants(last, entry)
            case EntryKind.DRAWN:
                return self._draws(entry)
        asked = (str(entry.body.get("asker")), found_by(entry.body))
        return entry.subject == self._key.tag(
            "question", entry.account, *asked
        ) and _is_paid_by_last_entry(last, entry)

    def _grants(self, last: Entry | None, entry: Entry) -> bool:
        body, above = entry.body, entry.account
        known = entry.subject in self._names
        self._names.add(entry.subject)
        self._granted[entry.id] = entry
        self._totals[entry.id] = (0,) * len(entry.amounts("limit"))
        if known or entry.subject != self._key.tag("account", above, str(body.get("name"))):
            return False
        if not above:
            return body.get("role") != Role.PART
        if above not in self._granted or above == entry.id:
            return False
        if body.get("role") == Role.PART:
            whole = self._granted[above]
            return (
                whole.body.get("role") == Role.PARTITION
                and entry.amounts("limit") == whole.amounts("limit")
                and not any(entry.amounts("charge"))
            )
        return _is_paid_by_last_entry(last, entry)

    def _draws(self, entry: Entry) -> bool:
        granted = self._granted.get(entry.account)
        if granted is None or granted.body.get("role") == Role.PARTITION:
            return False
        charge, total = entry.amounts("charge"), entry.amounts("total")
        before = self._totals[granted.id]
        self._totals[granted.id] = total
        return (
            len(charge) == len(before)
            and all(amount >= 0 for amount in charge)
            and total == plus(before, charge)
            and within(total, granted.amounts("limit"))
        )


def _is_paid_by_last_entry(last: Entry | None, entry: Entry) -> bool:
    """Whether the entry before is the drawing that paid for this one."""
    return (
        last is not None
        and last.kind is EntryKind.DRAWN
        and last.account == entry.account
        and last.amounts("charge") == entry.amounts("charge")
    )
