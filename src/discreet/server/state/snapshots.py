"""What the owner decided, as it was at each start: settings and record."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from sqlalchemy import Connection, insert, select

from discreet.server.state import audit_log
from discreet.server.state.clock import now
from discreet.server.state.schema import snapshots


def keep(connection: Connection, decided: dict[str, Any]) -> bool:
    """Keep what was decided, with a line in the owner's log, if it is new."""
    text = json.dumps(decided, sort_keys=True, default=str)
    digest = hashlib.sha256(text.encode()).hexdigest()
    if connection.execute(select(snapshots).where(snapshots.c.digest == digest)).first():
        return False
    connection.execute(insert(snapshots).values(digest=digest, settings=text, at=now()))
    audit_log.add(connection, by="service", what="new settings", about=digest[:16])
    return True
