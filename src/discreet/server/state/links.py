"""One-time links, as digests: each lets one person in once, within days."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from discreet.server.state.clock import now
from discreet.server.state.people import Member, member_of
from discreet.server.state.schema import links, people


def add(connection: Connection, *, person: str, digest: str, lasts: int) -> None:
    """Keep a link's digest; an earlier one of the same person ends."""
    connection.execute(delete(links).where(links.c.person_id == person))
    connection.execute(
        insert(links).values(digest=digest, person_id=person, expires_at=now() + lasts)
    )


def forget(connection: Connection, *, person: str) -> None:
    """End a person's link, if there is one."""
    connection.execute(delete(links).where(links.c.person_id == person))


def holder(connection: Connection, digest: str) -> Member | None:
    """Whom a link would let in; it stays as it is."""
    valid = (links.c.digest == digest) & (links.c.expires_at > now())
    row = connection.execute(
        select(people)
        .join(links, links.c.person_id == people.c.id)
        .where(valid, people.c.disabled_at.is_(None))
    ).first()
    return None if row is None else member_of(row)


def use(connection: Connection, digest: str) -> Member | None:
    """Whom a link lets in, this once."""
    found = holder(connection, digest)
    used = connection.execute(delete(links).where(links.c.digest == digest)).rowcount
    return found if used else None
