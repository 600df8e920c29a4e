"""Logins at an issuer that have begun: each can come back once, within minutes."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from discreet.server.state.clock import MINUTE, now
from discreet.server.state.rows import read_row
from discreet.server.state.schema import oidc_flows

_LASTS = 10 * MINUTE


@dataclass(frozen=True)
class OidcFlow:
    """What must be the same when it comes back."""

    nonce: str
    verifier: str


def add(connection: Connection, *, digest: str, nonce: str, verifier: str) -> None:
    """Remember one, and forget those that never came back."""
    connection.execute(delete(oidc_flows).where(oidc_flows.c.expires_at <= now()))
    connection.execute(
        insert(oidc_flows).values(
            digest=digest, nonce=nonce, verifier=verifier, expires_at=now() + _LASTS
        )
    )


def take(connection: Connection, digest: str) -> OidcFlow | None:
    """The one that comes back, this once."""
    valid = (oidc_flows.c.digest == digest) & (oidc_flows.c.expires_at > now())
    row = connection.execute(select(oidc_flows).where(valid)).first()
    used = connection.execute(delete(oidc_flows).where(oidc_flows.c.digest == digest)).rowcount
    return None if row is None or not used else read_row(OidcFlow, row)
