"""Entries, and the chain of seals that holds them together.

Each entry carries the totals after it and the seal of the entry before it, and is sealed under
the owner's key. So the last entry alone says, beyond doubt for whoever holds the key, how much is
spent and what the limit is; and no earlier entry can be changed, dropped or moved without
breaking the chain.

Proof: ``proofs/ledger.md``. Source: contract, "Spending".
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from discreet.accounting.adaptive.steps import Amounts
from discreet.ledger.amounts import format_amounts, parse_amounts
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.errors import damaged
from discreet.ledger.key import OwnerKey
from discreet.ledger.plain_json import compact
from discreet.noise.randomness import random_id

FORM = 1
"""Version of the form of entries; part of every seal."""

COLUMNS = "number, id, kind, time, subject, body, spent, ceiling, previous, mac"
"""Of a table of entries, in the order of :func:`row_of` and :func:`entry_of`."""


class EntryKind(StrEnum):
    """What an entry says."""

    OPENED = "opened"
    RESERVED = "reserved"
    COMMITTED = "committed"
    CLAIMED = "claimed"
    ANSWERED = "answered"
    KEPT = "kept"
    FAILED = "failed"
    AMENDED = "amended"
    RECORDED = "recorded"
    SNAPSHOT = "snapshot"
    GRANTED = "granted"
    DRAWN = "drawn"
    RESTORED = "restored"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One line of the ledger.

    Attributes:
        number: 1, 2, 3, … without gaps.
        id: Random; a reservation or a snapshot is known by the id of its entry.
        kind: What the entry says.
        time: When, by the clock of the machine that wrote it, in UTC.
        subject: What it is about: a reservation, or the tag by which it is found.
        text: The body, as JSON.
        spent: All that is spent after this entry.
        limit: The limit after this entry.
        previous: The seal of the entry before; empty for the first.
        mac: The seal of this entry.
    """

    number: int
    id: str
    kind: EntryKind
    time: str
    subject: str
    text: str
    spent: Amounts
    limit: Amounts
    previous: str
    mac: str = ""

    @property
    def body(self) -> Mapping[str, Any]:
        """The body, read afresh each time: nobody can change what is kept."""
        try:
            value = json.loads(self.text)
        except ValueError:
            value = None
        if not isinstance(value, dict):
            raise damaged(what=f"the body of entry {self.number}")
        return value

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint of the ledger when this entry was the last."""
        return Checkpoint(number=self.number, mac=self.mac)

    @property
    def charge(self) -> Amounts:
        """What this entry adds to the spending, as its body says.

        Nothing where a sub-account pays, which was itself paid for when it was granted.
        """
        charging = self.kind in (EntryKind.RESERVED, EntryKind.RECORDED, EntryKind.GRANTED)
        return self.amounts("charge") if charging and not self.account else (0,) * len(self.spent)

    @property
    def account(self) -> str:
        """The sub-account that the entry is about, or the one that pays; empty for the whole."""
        if self.kind is EntryKind.DRAWN:
            return self.subject
        within = self.kind in (EntryKind.RESERVED, EntryKind.GRANTED)
        return str(self.body.get("account", "")) if within else ""

    def to_dict(self) -> dict[str, object]:
        """All of it as plain JSON, for an export."""
        return {
            "number": self.number,
            "time": self.time,
            "kind": self.kind.value,
            "id": self.id,
            "subject": self.subject,
            "spent": format_amounts(self.spent),
            "limit": format_amounts(self.limit),
            "body": self.body,
            "previous": self.previous,
            "mac": self.mac,
        }

    def amounts(self, part: str) -> Amounts:
        """Amounts that the body names."""
        try:
            return parse_amounts(self.body.get(part))
        except ValueError:
            raise damaged(what=f"the {part} of entry {self.number}") from None

    def sealed(self, key: OwnerKey) -> Entry:
        """The same entry with its seal."""
        return replace(self, mac=key.seal(self._covered()))

    def require_seal(self, key: OwnerKey) -> Entry:
        """Return the entry if its seal is right, else refuse the ledger."""
        if not key.is_seal(self._covered(), self.mac):
            raise damaged(what=f"entry {self.number} was changed")
        return self

    def _covered(self) -> bytes:
        """Every field but the seal, framed so that no two entries have the same bytes."""
        fields = (
            *(FORM, self.number, self.id, self.kind.value, self.time, self.subject, self.text),
            *(format_amounts(self.spent), format_amounts(self.limit), self.previous),
        )
        return compact(fields).encode("ascii")


def following(
    last: Entry,
    kind: EntryKind,
    *,
    text: str,
    subject: str = "",
    spent: Amounts | None = None,
    limit: Amounts | None = None,
    id: str | None = None,
) -> Entry:
    """A new entry after ``last``, not yet sealed; totals stay as they were unless given.

    ``id`` is random unless given, by who made it from a random one.
    """
    return Entry(
        number=last.number + 1,
        id=random_id() if id is None else id,
        kind=kind,
        time=now(),
        subject=subject,
        text=text,
        spent=last.spent if spent is None else spent,
        limit=last.limit if limit is None else limit,
        previous=last.mac,
    )


def first(*, text: str, limit: Amounts) -> Entry:
    """The entry that starts a ledger, not yet sealed."""
    return Entry(
        number=1,
        id=random_id(),
        kind=EntryKind.OPENED,
        time=now(),
        subject="",
        text=text,
        spent=(0,) * len(limit),
        limit=limit,
        previous="",
    )


def now() -> str:
    """The time in UTC, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def row_of(entry: Entry) -> tuple[Any, ...]:
    """An entry as a row of a table, the same in a file and on a server.

    All text in it is ASCII, so it reads back the same under every encoding a database may have.
    """
    return (
        *(entry.number, entry.id, entry.kind.value, entry.time, entry.subject, entry.text),
        *(compact(format_amounts(entry.spent)), compact(format_amounts(entry.limit))),
        *(entry.previous, entry.mac),
    )


def entry_of(row: tuple[Any, ...]) -> Entry:
    """Read a row; whatever could not have been written is damage."""
    number, name, kind, time, subject, text, spent, limit, previous, mac = row
    if not all(isinstance(part, str) for part in row[1:]):
        raise damaged(what=f"entry {number}")
    try:
        return Entry(
            number=number,
            id=name,
            kind=EntryKind(kind),
            time=time,
            subject=subject,
            text=text,
            spent=parse_amounts(json.loads(spent)),
            limit=parse_amounts(json.loads(limit)),
            previous=previous,
            mac=mac,
        )
    except ValueError:
        raise damaged(what=f"entry {number}") from None
