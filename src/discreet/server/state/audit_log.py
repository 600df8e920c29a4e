"""The audit log: who did what, other than asking."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from discreet.noise.randomness import random_id
from discreet.server.state.clock import now
from discreet.server.state.pagination import Cursor, earlier
from discreet.server.state.rows import read_row
from discreet.server.state.schema import audit_log

COMMAND_LINE = "command line"
"""Who did what was done at the machine itself: a command knows no names."""


@dataclass(frozen=True)
class AuditEntry:
    """One line of it."""

    id: str
    at: int
    by: str
    what: str
    about: str
    detail: str


def add(
    connection: Connection,
    *,
    by: str,
    what: str,
    about: str = "",
    detail: dict[str, Any] | None = None,
) -> None:
    """Write a line, in the transaction of what it tells about."""
    connection.execute(
        insert(audit_log).values(
            id=random_id(), at=now(), by=by, what=what, about=about, detail=json.dumps(detail or {})
        )
    )


def latest(connection: Connection, what: str) -> AuditEntry | None:
    """The latest line about one kind of thing."""
    asked = (
        select(audit_log)
        .where(audit_log.c.what == what)
        .order_by(audit_log.c.at.desc(), audit_log.c.id.desc())
        .limit(1)
    )
    row = connection.execute(asked).first()
    return None if row is None else read_row(AuditEntry, row)


def list_audit_entries(connection: Connection, *, before: Cursor, count: int) -> list[AuditEntry]:
    """The latest first."""
    asked = (
        select(audit_log)
        .where(earlier(audit_log.c.at, audit_log.c.id, before))
        .order_by(audit_log.c.at.desc(), audit_log.c.id.desc())
        .limit(count)
    )
    return [read_row(AuditEntry, row) for row in connection.execute(asked)]
