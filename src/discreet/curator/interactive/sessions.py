"""Dialogues: what was paid for once and goes on over several calls, known by its id.

A conversation, a round and a watch are each a reservation that stays open. Whoever lost an id finds
it in :func:`dialogues`; whoever passes a wrong one is told what it is, if it is their own. What
another asker or another account paid for is as unknown as what never was.

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


class Dialogue(StrEnum):
    """What goes on; its value is what it is called, and where its reservation keeps it."""

    CONVERSATION = "conversation"
    ROUND = "round"
    WATCH = "watch"

    @property
    def resumed_by(self) -> str:
        """The method that goes on with it."""
        return {"conversation": "resume", "round": "resume_round", "watch": "reopen"}[self.value]


def dialogue_of(detail: Mapping[str, Any]) -> Dialogue | None:
    """What a reservation with this detail opened; None where it paid for one answer."""
    return next((kind for kind in Dialogue if isinstance(detail.get(kind), dict)), None)


@dataclass(frozen=True)
class Opened:
    """One dialogue.

    Attributes:
        id: Pass it to ``curator.resume``, ``resume_round`` or ``reopen``, as ``kind`` says.
        kind: What it is.
        asker: Who opened it, and alone may go on with it.
        opened: When, in UTC.
        spend: What the whole of it was charged.
        ended: "open" while it can go on, "released" once it was closed.
        about: In words.
    """

    id: str
    kind: Dialogue
    asker: str
    opened: str
    spend: str
    ended: str
    about: str


@dataclass(frozen=True)
class Dialogues:
    """All conversations, rounds and watches of an account, oldest first."""

    opened: tuple[Opened, ...]

    def __len__(self) -> int:
        return len(self.opened)

    def __iter__(self) -> Iterator[Opened]:
        """One by one."""
        return iter(self.opened)

    def __getitem__(self, place: int) -> Opened:
        """One of them."""
        return self.opened[place]

    def __str__(self) -> str:
        """A line or two for each, with the call that goes on with it."""
        if not self.opened:
            return "no conversation was opened here"
        return "\n".join(
            f"{each.about} ({each.ended}): curator.{each.kind.resumed_by}"
            f"({each.id!r}, asker={each.asker!r})\n"
            f"  opened {each.opened} UTC for {each.spend}"
            for each in self.opened
        )

    __repr__ = __str__


def paid_dialogue(
    account: LedgerAccount, name: str, kind: Dialogue, *, asker: str
) -> Mapping[str, Any]:
    """What the reservation of an asker's own dialogue says; a refusal where there is none."""
    body = _paid(account, name, kind)
    if body.get("asker") != asker:
        raise _unknown(name, kind)
    found = dialogue_of(body.get("detail", {}))
    if found is kind:
        return body
    if found is None:
        raise _unknown(name, kind, what="which was paid for and cannot be gone on with")
    what = f"the id of a {found.value}, for curator.{found.resumed_by}"
    raise _unknown(name, kind, what=what)


def _paid(account: LedgerAccount, name: str, kind: Dialogue) -> Mapping[str, Any]:
    if not isinstance(name, str):
        raise _unknown(type(name).__name__, kind)
    try:
        return account.paid(name)
    except InvalidParameter as refusal:
        if refusal.code != "reservation_unknown":
            raise
    # Releases have shorter ids; by its form alone nothing is told about anybody's.
    what = "the form of an answer's id; answers are not resumed" if _RELEASE(name) else ""
    raise _unknown(name, kind, what=what)


def _unknown(name: str, kind: Dialogue, *, what: str = "") -> InvalidParameter:
    expectation = f"the id of a {kind.value} of this asker, paid from this account"
    received = f"{name}: {what}" if what else name
    remedy = (
        f"Pass `{kind.value}.id`, and the `asker=` who opened it; curator.conversations() "
        "lists them all."
    )
    if kind is Dialogue.ROUND:
        return InvalidParameter(
            code="round_unknown", expectation=expectation, received=received, remedy=remedy
        )
    return InvalidParameter(
        code="conversation_unknown", expectation=expectation, received=received, remedy=remedy
    )
