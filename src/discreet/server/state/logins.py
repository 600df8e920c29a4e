"""Browser logins, as digests of their cookies, each with a token against forged requests."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert, select

from discreet.server.state.clock import now
from discreet.server.state.people import Member, member_of
from discreet.server.state.schema import logins, people


def add(connection: Connection, *, person: str, digest: str, csrf: str, lasts: int) -> None:
    """Keep a browser's login."""
    connection.execute(
        insert(logins).values(digest=digest, person_id=person, csrf=csrf, expires_at=now() + lasts)
    )


def holder(connection: Connection, digest: str) -> tuple[Member, str] | None:
    """Who is logged in under a cookie, and the token against forged requests."""
    row = connection.execute(
        select(people, logins.c.csrf)
        .join(logins, logins.c.person_id == people.c.id)
        .where(
            logins.c.digest == digest,
            logins.c.expires_at > now(),
            people.c.disabled_at.is_(None),
        )
    ).first()
    return None if row is None else (member_of(row), row._mapping["csrf"])


def end(connection: Connection, digest: str) -> None:
    """Log somebody out."""
    connection.execute(delete(logins).where(logins.c.digest == digest))


def end_all(connection: Connection, *, person: str) -> None:
    """Log a person out everywhere."""
    connection.execute(delete(logins).where(logins.c.person_id == person))


def sweep(connection: Connection) -> None:
    """Forget what has expired."""
    connection.execute(delete(logins).where(logins.c.expires_at <= now()))
