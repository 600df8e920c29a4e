"""Tokens of people, as digests: with an expiry, revoked by being forgotten."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from discreet.noise.randomness import random_id
from discreet.server.state.clock import now
from discreet.server.state.people import Member, member_of
from discreet.server.state.rows import read_row
from discreet.server.state.schema import people, tokens

_BEARER = (
    select(people)
    .join(tokens, tokens.c.person_id == people.c.id)
    .where(
        tokens.c.digest == bindparam("digest"),
        tokens.c.expires_at > now(),
        people.c.disabled_at.is_(None),
    )
)
"""Made once, since every request asks it."""


@dataclass(frozen=True)
class TokenEntry:
    """What is known of a token; not the token."""

    id: str
    label: str
    created_at: int
    expires_at: int


@dataclass(frozen=True)
class TokenVerifier:
    """What is kept of a token for SCRAM."""

    digest: str
    verifier: str


def add(
    connection: Connection, *, person: str, label: str, digest: str, verifier: str, lasts: int
) -> TokenEntry:
    """Keep a token's digest and verifier for so many milliseconds."""
    key = random_id()
    connection.execute(
        insert(tokens).values(
            digest=digest,
            id=key,
            person_id=person,
            label=label,
            created_at=now(),
            expires_at=now() + lasts,
            verifier=verifier,
        )
    )
    row = connection.execute(select(tokens).where(tokens.c.id == key)).one()
    return read_row(TokenEntry, row)


def bearer(connection: Connection, digest: str) -> Member | None:
    """Who holds a token that is valid now."""
    row = connection.execute(_BEARER, {"digest": digest}).first()
    return None if row is None else member_of(row)


def verifiers(connection: Connection, name: str) -> list[TokenVerifier]:
    """Of the valid tokens of whoever has a name."""
    asked = (
        select(tokens)
        .join(people, tokens.c.person_id == people.c.id)
        .where(
            people.c.name == name,
            people.c.disabled_at.is_(None),
            tokens.c.expires_at > now(),
        )
    )
    return [read_row(TokenVerifier, row) for row in connection.execute(asked)]


def list_tokens(connection: Connection, *, person: str) -> list[TokenEntry]:
    """The valid tokens of a person, newest first."""
    asked = (
        select(tokens)
        .where(tokens.c.person_id == person, tokens.c.expires_at > now())
        .order_by(tokens.c.created_at.desc(), tokens.c.id)
    )
    return [read_row(TokenEntry, row) for row in connection.execute(asked)]


def shorten(connection: Connection, *, person: str, token: str, lasts: int) -> bool:
    """Let a person's token expire within so many milliseconds; whether there was one."""
    ends = now() + lasts
    named = (tokens.c.id == token) & (tokens.c.person_id == person) & (tokens.c.expires_at > now())
    found = connection.execute(select(tokens.c.id).where(named)).first()
    if found is not None:
        connection.execute(
            update(tokens).where(named, tokens.c.expires_at > ends).values(expires_at=ends)
        )
    return found is not None


def forget(connection: Connection, *, person: str, token: str) -> bool:
    """Revoke a person's token; whether there was one."""
    named = (tokens.c.id == token) & (tokens.c.person_id == person)
    return connection.execute(delete(tokens).where(named)).rowcount > 0


def forget_all(connection: Connection, *, person: str) -> int:
    """Revoke all tokens of a person; how many were valid."""
    valid = len(list_tokens(connection, person=person))
    connection.execute(delete(tokens).where(tokens.c.person_id == person))
    return valid
