"""Conversations that were opened: whose they are, and what they are about."""

from __future__ import annotations

from dataclasses import dataclass

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


def add(connection: Connection, *, key: str, person: str, grant: str, about: str) -> None:
    """Keep that one was opened."""
    connection.execute(
        insert(conversations).values(
            id=key, person_id=person, grant_id=grant, about=about, opened_at=now()
        )
    )


def require(connection: Connection, *, person: str, key: str) -> OpenConversation:
    """A person's own conversation, or a refusal."""
    named = (conversations.c.id == key) & (conversations.c.person_id == person)
    row = connection.execute(select(conversations).where(named)).first()
    if row is None:
        raise InvalidParameter(
            code="conversation_unknown",
            expectation="the id of a conversation of yours",
            received=key[:64],
            remedy="GET /api/v1/conversations lists them.",
        )
    return read_row(OpenConversation, row)


def listed(
    connection: Connection, *, person: str, before: Cursor, count: int
) -> list[OpenConversation]:
    """A person's own conversations, the latest first."""
    asked = (
        select(conversations)
        .where(conversations.c.person_id == person)
        .where(earlier(conversations.c.opened_at, conversations.c.id, before))
        .order_by(conversations.c.opened_at.desc(), conversations.c.id.desc())
        .limit(count)
    )
    return [read_row(OpenConversation, row) for row in connection.execute(asked)]


def close(connection: Connection, *, key: str) -> None:
    """Keep that it is closed."""
    named = conversations.c.id == key
    connection.execute(update(conversations).where(named).values(closed_at=now()))
