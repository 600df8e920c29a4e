"""Interactive sessions: what was paid for once and goes on over several calls, known by its id.

A sparse vector session, a conversation, a round and a stream are each a reservation that stays
open. Whoever lost an id finds it in :func:`discreet.curator.history.interactive_sessions`; whoever
passes a wrong one is told what it is, if it is their own. What another analyst or another account
paid for is as unknown as what never was.

Source: contract, "What may be seen" (between analysts).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.ledger import LedgerAccount

_RELEASE = re.compile("[0-9a-f]{24}").fullmatch


class SessionKind(StrEnum):
    """What goes on; its value is where its reservation keeps it, and never changes."""

    CONVERSATION = "conversation"
    ROUND = "round"
    SPARSE_VECTOR = "watch"
    STREAM = "stream"


def kind_of(detail: Mapping[str, Any]) -> SessionKind | None:
    """What a reservation with this detail opened; None where it paid for one answer."""
    return next((kind for kind in SessionKind if isinstance(detail.get(kind), dict)), None)


@dataclass(frozen=True)
class InteractiveSession:
    """One of them, as the ledger tells.

    Attributes:
        id: Pass it to ``curator.resume``.
        kind: What it is.
        analyst: Who opened it, and alone may go on with it.
        opened: When, in UTC.
        spend: What the whole of it was charged.
        ended: "open" while it can go on, "released" once it was closed.
        about: In words.
    """

    id: str
    kind: SessionKind
    analyst: str
    opened: str
    spend: str
    ended: str
    about: str


@dataclass(frozen=True)
class InteractiveSessions:
    """All interactive sessions of an account, oldest first."""

    opened: tuple[InteractiveSession, ...]

    def __len__(self) -> int:
        return len(self.opened)

    def __iter__(self) -> Iterator[InteractiveSession]:
        """One by one."""
        return iter(self.opened)

    def __getitem__(self, place: int) -> InteractiveSession:
        """One of them."""
        return self.opened[place]

    def __str__(self) -> str:
        """A line or two for each, with the call that goes on with it."""
        if not self.opened:
            return "no interactive session was opened here"
        return "\n".join(
            f"{each.about} ({each.ended}): curator.resume({each.id!r}, analyst={each.analyst!r}"
            f"{', source=...' * (each.kind is SessionKind.STREAM)})\n"
            f"  opened {each.opened} UTC for {each.spend}"
            for each in self.opened
        )

    __repr__ = __str__


def paid_session(
    account: LedgerAccount, name: str, *, analyst: str
) -> tuple[SessionKind, Mapping[str, Any]]:
    """The kind of an analyst's own session, and what its reservation says; or a refusal."""
    body = _find_paid_reservation(account, name)
    if body.get("asker") != analyst:
        raise _unknown(name)
    kind = kind_of(body.get("detail", {}))
    if kind is None:
        raise _unknown(name, what="which was paid for and cannot be gone on with")
    return kind, body


def _find_paid_reservation(account: LedgerAccount, name: str) -> Mapping[str, Any]:
    if not isinstance(name, str):
        raise _unknown(type(name).__name__)
    try:
        return account.read_reservation(name)
    except InvalidParameter as refusal:
        if refusal.code != "reservation_unknown":
            raise
    # Releases have shorter ids; by its form alone nothing is told about anybody's.
    what = "the form of an answer's id; answers are not resumed" if _RELEASE(name) else ""
    raise _unknown(name, what=what)


def _unknown(name: str, *, what: str = "") -> InvalidParameter:
    return InvalidParameter(
        code="conversation_unknown",
        expectation="the id of an interactive session of this analyst, paid from this account",
        received=f"{name}: {what}" if what else name,
        remedy="Pass `session.id`, and the `analyst=` who opened it; "
        "curator.interactive_sessions() "
        "lists them all.",
    )
