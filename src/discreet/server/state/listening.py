"""Where the service listens, as its audit log says: commands print links that lead there."""

from __future__ import annotations

import json

from sqlalchemy import Connection

from discreet.server.state import audit_log

_LISTEN = "listen"


def listened_at(connection: Connection) -> str | None:
    """Where the service last listened; None where it never did."""
    found = audit_log.latest(connection, _LISTEN)
    return None if found is None else str(json.loads(found.detail)["address"])


def note(connection: Connection, *, address: str) -> None:
    """Remember where it listens, where that is new."""
    if listened_at(connection) != address:
        audit_log.add(connection, by="service", what=_LISTEN, detail={"address": address})
