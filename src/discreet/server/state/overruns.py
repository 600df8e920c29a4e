"""Answers that left later than their quantum: how many of one analyst in a day.

Each may tell something about private rows, at most the logarithm of how many levels there are.
So they are few, and the owner sees them. One counts from when its answer has left, not from
when the work ended: a refusal before that would tell that it ended late.

Source: contract, "What may be seen" (overruns are logged for the owner). Proof:
``proofs/timing.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select

from discreet.core.errors import Exhausted
from discreet.noise.randomness import random_id
from discreet.server.state.clock import DAY, now
from discreet.server.state.pagination import Cursor, earlier
from discreet.server.state.rows import read_row
from discreet.server.state.schema import overruns, people


@dataclass(frozen=True)
class Overrun:
    """One of them, for the owner."""

    id: str
    name: str
    job_id: str | None
    level: int
    at: int


def add(connection: Connection, *, person: str, job: str, level: int, leaves_in: int = 0) -> None:
    """Note the one of a job, which counts in so many milliseconds; an earlier note is void."""
    earlier_note = (overruns.c.person_id == person) & (overruns.c.job_id == job)
    connection.execute(delete(overruns).where(earlier_note))
    leaves: Any = now() + leaves_in
    connection.execute(
        insert(overruns).values(
            id=random_id(), person_id=person, job_id=job, level=level, at=leaves
        )
    )


def lately(connection: Connection, *, person: str) -> int:
    """How many answers of a person left late in the last day."""
    asked = select(func.count()).where(
        overruns.c.person_id == person, overruns.c.at > now() - DAY, overruns.c.at <= now()
    )
    return connection.scalar(asked) or 0


def require_left(connection: Connection, *, person: str, most: int) -> None:
    """Refuse a person who has used up the overruns of a day."""
    if lately(connection, person=person) >= most:
        raise Exhausted(
            code="overruns_used_up",
            expectation=f"fewer than {most} answers of yours in a day that left late",
            remedy="Wait: each counts for a day. Nothing was charged. Quicker questions leave in "
            "time; the owner may choose a longer quantum.",
        )


def list_overruns(connection: Connection, *, before: Cursor, count: int) -> list[Overrun]:
    """All of them, the latest first, for the owner."""
    asked = (
        select(overruns, people.c.name)
        .join(people, people.c.id == overruns.c.person_id)
        .where(earlier(overruns.c.at, overruns.c.id, before))
        .order_by(overruns.c.at.desc(), overruns.c.id.desc())
        .limit(count)
    )
    return [read_row(Overrun, row) for row in connection.execute(asked)]
