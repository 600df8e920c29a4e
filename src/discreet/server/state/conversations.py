"""Conversations that were opened: whose they are, and what they are about.

One is opened when the answer to its opening leaves, and nobody finds it before.

Source: contract, "What may be seen". Proof: ``proofs/timing.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from discreet.core.errors import InvalidParameter
from discreet.server.state.clock import now
from discreet.server.state.pagination import Cursor, earlier
from discreet.server.state.rows import read_row
from discreet.server.state.schema import conversations


@dataclass(frozen=True)
class OpenConversation:
    """One of them; its id is that of the ledger."""

    id: str
    person_id: str
    grant_id: str
    about: str
    opened_at: int
    closed_at: int | None


def add(
    connection: Connection, *, key: str, person: str, grant: str, about: str, leaves_in: int
) -> None:
    """Keep that one is opened in so many milliseconds."""
    leaves: Any = now() + leaves_in
    connection.execute(
        insert(conversations).values(
            id=key, person_id=person, grant_id=grant, about=about, opened_at=leaves
        )
    )


def delay(connection: Connection, *, key: str, leaves_in: int) -> None:
    """Let it be opened later than was noted before."""
    leaves: Any = now() + leaves_in
    named = conversations.c.id == key
    connection.execute(update(conversations).where(named).values(opened_at=leaves))


def require(connection: Connection, *, person: str, key: str) -> OpenConversation:
    """A person's own conversation that is opened, or a refusal."""
    named = (conversations.c.id == key) & (conversations.c.person_id == person)
    opened = conversations.c.opened_at <= now()
    row = connection.execute(select(conversations).where(named, opened)).first()
    if row is None:
        raise InvalidParameter(
            code="conversation_unknown",
            expectation="the id of a conversation of yours",
            received=key[:64],
            remedy="GET /api/v1/conversations lists them.",
        )
    return read_row(OpenConversation, row)


def list_conversations(
    connection: Connection, *, person: str, before: Cursor, count: int
) -> list[OpenConversation]:
    """A person's own conversations that are opened, the latest first."""
    asked = (
        select(conversations)
        .where(conversations.c.person_id == person, conversations.c.opened_at <= now())
        .where(earlier(conversations.c.opened_at, conversations.c.id, before))
        .order_by(conversations.c.opened_at.desc(), conversations.c.id.desc())
        .limit(count)
    )
    return [read_row(OpenConversation, row) for row in connection.execute(asked)]


def close(connection: Connection, *, key: str) -> None:
    """Keep that it is closed."""
    named = conversations.c.id == key
    connection.execute(update(conversations).where(named).values(closed_at=now()))
