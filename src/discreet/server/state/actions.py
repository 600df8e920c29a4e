"""The owner's log: who did what, other than asking."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from discreet.noise.randomness import random_id
from discreet.server.state.clock import now
from discreet.server.state.paging import Place, earlier
from discreet.server.state.rows import read_row
from discreet.server.state.schema import actions


@dataclass(frozen=True)
class ActionEntry:
    """One line of it."""

    id: str
    at: int
    by: str
    what: str
    about: str
    detail: str


def log(
    connection: Connection,
    *,
    by: str,
    what: str,
    about: str = "",
    detail: dict[str, Any] | None = None,
) -> None:
    """Write a line, in the transaction of what it tells about."""
    connection.execute(
        insert(actions).values(
            id=random_id(), at=now(), by=by, what=what, about=about, detail=json.dumps(detail or {})
        )
    )


def listed(connection: Connection, *, before: Place, count: int) -> list[ActionEntry]:
    """The latest first."""
    asked = (
        select(actions)
        .where(earlier(actions.c.at, actions.c.id, before))
        .order_by(actions.c.at.desc(), actions.c.id.desc())
        .limit(count)
    )
    return [read_row(ActionEntry, row) for row in connection.execute(asked)]
