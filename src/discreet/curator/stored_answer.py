"""Finding the answer that somebody has already paid for, and reading it as it was made.

An answer is found by the identity of its question, the split of the spend included, and is reused
only if the split kept beside its values is the one with which they are about to be read. Where it
differs the answer counts as not found: the question is answered, and charged, afresh.

A question in SQL is found by its private part, so that what is computed from its noisy values may
differ. Answers from before that are found by the whole of the question, the ``earlier`` identity.

Answers from before splits were kept are found by their former identity. The split is then told by
the event that was paid for, and by the noise that the release states; where it cannot be told, the
answer is not reused.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.ledger import Ledger, LedgerAccount
from discreet.ledger.entry import EntryKind
from discreet.ledger.paid_answer import PaidAnswer

Stored = Mapping[str, Any]

SPLIT = "allocation"
"""Where a release in the ledger keeps the split it was made with."""


@dataclass(frozen=True)
class Known:
    """A question as a ledger knows it: its identity, the former one, and the split of its spend.

    ``former`` gives None for what could not be asked then, and is asked for only where the ledger
    may hold an answer of that time; ``allocation`` is None for what needs no split to be read. What
    is bought ``anew`` each time is never found. ``earlier`` is the same question as ledgers knew it
    before its private part was told apart. ``any_snapshot`` identifies the question apart from the
    snapshot of the data, and ``snapshots`` are the owner's names for that of each table.
    """

    identity: str
    former: Callable[[], str | None] | None = None
    allocation: Mapping[str, Any] | None = None
    any_snapshot: str | None = None
    snapshots: Mapping[str, str | None] = field(default_factory=dict)
    anew: bool = False
    earlier: Known | None = None

    @property
    def asked(self) -> str:
        """The identity of the whole question, with all that is computed from what it measures."""
        return self.identity if self.earlier is None else self.earlier.identity

    def kept(self, release: Mapping[str, object]) -> Mapping[str, object]:
        """What the ledger is to keep: a release with the split it was made with."""
        return release if self.allocation is None else {**release, SPLIT: dict(self.allocation)}

    def stored(self, account: LedgerAccount, ledger: Ledger, *, analyst: str) -> Stored | None:
        """The release that this analyst has, if it was made with this very split."""
        if self.anew:
            return None
        paid = self._paid(account, analyst)
        if paid is not None and paid.query == self.identity:
            found: Stored | None = paid.release
        else:  # from before questions were known apart from the snapshot
            found = account.find(analyst=analyst, query=self.identity)
        if found is None and self.earlier is not None:
            return self.earlier.stored(account, ledger, analyst=analyst)
        if found is None:
            former = None if self.former is None or ledger.identities else self.former()
            return None if former is None else self._former(former, account, ledger, analyst)
        return found if self.allocation in (None, found.get(SPLIT)) else None

    def stored_elsewhere(self, account: LedgerAccount, *, analyst: str) -> PaidAnswer | None:
        """What this analyst paid for on another snapshot, unless the owner's names tell them apart.

        Content is never compared: a name that the owner gave, and changed, says that the data
        changed. Where there is none, a file that was touched looks like one that was rewritten.
        """
        paid = None if self.anew else self._paid(account, analyst)
        if paid is None or paid.query == self.identity or paid.was_free:
            return None
        before = paid.detail.get("snapshots", {})
        named = all([*before.values(), *self.snapshots.values()])
        return None if named and before != dict(self.snapshots) else paid

    def _paid(self, account: LedgerAccount, analyst: str) -> PaidAnswer | None:
        if self.any_snapshot is None:
            return None
        return account.find_paid(
            analyst=analyst, any_snapshot=self.any_snapshot, query=self.identity
        )

    def _former(
        self, former: str, account: LedgerAccount, ledger: Ledger, analyst: str
    ) -> Stored | None:
        """The release under the former identity, if its record shows this very split."""
        found = account.find(analyst=analyst, query=former)
        if found is None or self.allocation is None:
            return found
        if SPLIT in found:
            return None
        event = _paid_event(ledger, account.account, analyst, former)
        return found if _told(self.allocation, found, event) else None


def _told(allocation: Mapping[str, Any], found: Stored, event: object) -> bool:
    """Whether the record of an old answer shows that it was made with this split."""
    linear = allocation["linear"]
    if event != allocation["event"]:
        return False
    if "release" in found:
        measures = json.loads(found["release"])["statement"].get("measures", [])
        stated = [each["noise"] for each in measures if "noise" in each]
        return stated == [each["noise"] for each in linear]
    # Counts on a grid of one, each with an event of its own: nothing else is left to tell.
    whole = all(each["whole"] for each in linear)
    joint = len(linear) > 1 and any(each["noise"]["law"] == "rounded_gaussian" for each in linear)
    return whole and not joint


def _paid_event(ledger: Ledger, account: str, analyst: str, query: str) -> object:
    """The event of the latest reservation for a question that ended in a release."""
    key, paid = ledger.chain.owner(), {}
    event: object = None
    for entry in ledger.entries():
        if entry.kind is EntryKind.RESERVED and entry.account == account:
            body = entry.require_seal(key).body
            if (body["asker"], body["question"]) == (analyst, query):
                paid[entry.id] = body["event"]
        elif entry.kind is EntryKind.COMMITTED and entry.subject in paid:
            event = json.loads(paid[entry.subject])
    return event
