"""Finding the answer that somebody has already paid for, and reading it as it was made.

An answer is found by the identity of its question, the split of the spend included, and is reused
only if the split kept beside its values is the one with which they are about to be read. Where it
differs the answer counts as not found: the question is answered, and charged, afresh.

A question in SQL is found by its private part, so that what is computed from its noisy values may
differ: ``whole`` identifies it with all of that.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from discreet.ledger import LedgerAccount
from discreet.ledger.paid_answer import PaidAnswer

Stored = Mapping[str, Any]

SPLIT = "allocation"
"""Where a release in the ledger keeps the split it was made with."""


@dataclass(frozen=True)
class Known:
    """A question as a ledger knows it: its identity, and the split of its spend.

    ``allocation`` is None for what needs no split to be read. ``any_snapshot`` identifies the
    question apart from the snapshot of the data, and ``snapshots`` are the owner's names for that
    of each table. What is bought ``anew`` each time is never found.
    """

    identity: str
    allocation: Mapping[str, Any] | None = None
    any_snapshot: str | None = None
    snapshots: Mapping[str, str | None] = field(default_factory=dict)
    anew: bool = False
    whole: str | None = None

    @property
    def whole_identity(self) -> str:
        """The identity of the whole question, with all that is computed from what it measures."""
        return self.identity if self.whole is None else self.whole

    def add_split_to_release(self, release: Mapping[str, object]) -> Mapping[str, object]:
        """What the ledger is to keep: a release with the split it was made with."""
        return release if self.allocation is None else {**release, SPLIT: dict(self.allocation)}

    def stored(self, account: LedgerAccount, *, analyst: str) -> Stored | None:
        """The release that this analyst has, if it was made with this very split."""
        if self.anew:
            return None
        if self.any_snapshot is None:
            found = account.find(analyst=analyst, query=self.identity)
        else:
            paid = self._find_paid_answer(account, analyst)
            found = paid.release if paid is not None and paid.query == self.identity else None
        if found is None or self.allocation not in (None, found.get(SPLIT)):
            return None
        return found

    def stored_elsewhere(self, account: LedgerAccount, *, analyst: str) -> PaidAnswer | None:
        """What this analyst paid for on another snapshot, unless the owner's names tell them apart.

        Content is never compared: a name that the owner gave, and changed, says that the data
        changed. Where there is none, a file that was touched looks like one that was rewritten.
        """
        paid = None if self.anew else self._find_paid_answer(account, analyst)
        if paid is None or paid.query == self.identity or paid.was_free:
            return None
        before = paid.detail.get("snapshots", {})
        named = all([*before.values(), *self.snapshots.values()])
        return None if named and before != dict(self.snapshots) else paid

    def _find_paid_answer(self, account: LedgerAccount, analyst: str) -> PaidAnswer | None:
        if self.any_snapshot is None:
            return None
        return account.find_paid(
            analyst=analyst, any_snapshot=self.any_snapshot, query=self.identity
        )
