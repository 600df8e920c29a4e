"""What was paid for and released: the answer to a question, on whatever snapshot of the data.

A reservation is found by what is asked. Where that is known apart from the snapshot, all answers
to one question are found together, and each says on which snapshot it was made by the identity of
the whole question.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.ledger.chain import Chain
from discreet.ledger.entry import Entry, EntryKind
from discreet.ledger.errors import damaged
from discreet.ledger.plain_json import require_text


@dataclass(frozen=True)
class PaidAnswer:
    """A release that an analyst has, and the reservation that paid for it."""

    reserved: Entry
    committed: Entry

    @property
    def query(self) -> str:
        """The identity of the whole question, snapshot included."""
        return str(self.reserved.body["question"])

    @property
    def detail(self) -> Mapping[str, Any]:
        """What the reservation says beside its price."""
        found: Mapping[str, Any] = self.reserved.body["detail"]
        return found

    @property
    def was_free(self) -> bool:
        """Whether nothing was charged for it."""
        return not any(self.reserved.amounts("charge"))

    @property
    def release(self) -> Mapping[str, Any]:
        """What was released."""
        return self.committed.body


def asked_body(analyst: str, query: str, any_snapshot: str | None) -> dict[str, object]:
    """What a reservation says of who asked what."""
    body: dict[str, object] = {"asker": analyst, "question": query}
    if any_snapshot is not None:
        body["any_snapshot"] = require_text("any_snapshot", any_snapshot)
    return body


def found_by(body: Mapping[str, Any]) -> str:
    """The part of a reservation's question by which it is found.

    >>> found_by({"question": "a"}), found_by({"question": "a", "any_snapshot": "b"})
    ('a', 'b')
    """
    return str(body.get("any_snapshot", body.get("question")))


def latest_paid(
    chain: Chain, subject: str, *, account: str, analyst: str, any_snapshot: str, query: str
) -> PaidAnswer | None:
    """The latest answer to ``query`` itself; else the latest to the same on another snapshot."""
    with chain.reading():
        key = chain.owner()
        reserved = [
            each.require_seal(key) for each in chain.store.every(EntryKind.RESERVED, subject)
        ]
        for each in reserved:
            body = each.body
            asked = (body.get("account", ""), body.get("asker"), body.get("any_snapshot"))
            if asked != (account, analyst, any_snapshot):
                raise damaged(what=f"the index leads to entry {each.number}, which asks another")
        reserved.sort(key=lambda each: (each.body.get("question") == query, each.number))
        for each in reversed(reserved):
            committed = chain.store.latest(EntryKind.COMMITTED, each.id)
            if committed is not None:
                return PaidAnswer(each, committed.require_seal(key))
    return None
