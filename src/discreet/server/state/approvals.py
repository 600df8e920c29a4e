"""Approvals: questions that wait for the owner or a steward, and what these decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, insert, select, update

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import random_id
from discreet.server.state.clock import now
from discreet.server.state.jobs import Job
from discreet.server.state.rows import read_row
from discreet.server.state.schema import approvals, jobs, people

AGREED, DECLINED, WITHDRAWN = "agreed", "declined", "withdrawn"


@dataclass(frozen=True)
class Approval:
    """A question that waits, or waited."""

    id: str
    job_id: str
    name: str
    kind: str
    request: str
    price: str
    asked_at: int
    decided_at: int | None
    decided_by: str | None
    verdict: str | None
    reason: str | None
    grant_id: str | None


def add(connection: Connection, *, job: str, person: str, price: str) -> None:
    """Ask somebody to decide."""
    connection.execute(
        insert(approvals).values(
            id=random_id(), job_id=job, person_id=person, price=price, asked_at=now()
        )
    )


def agreed(connection: Connection, job: Job) -> bool:
    """Whether the same request of the same person was agreed to before."""
    same = (jobs.c.person_id == job.person_id) & (jobs.c.digest == job.digest)
    asked = (
        select(approvals.c.id)
        .join(jobs, jobs.c.id == approvals.c.job_id)
        .where(same, approvals.c.verdict == AGREED)
    )
    return connection.execute(asked).first() is not None


def waiting(connection: Connection, *, after: str, count: int) -> list[Approval]:
    """Those that nobody has decided about."""
    asked = _select_approvals().where(approvals.c.decided_at.is_(None), approvals.c.id > after)
    return [
        read_row(Approval, row)
        for row in connection.execute(asked.order_by(approvals.c.id).limit(count))
    ]


def decide(connection: Connection, *, key: str, by: str, verdict: str, reason: str) -> Approval:
    """Decide about a question, once."""
    undecided = (approvals.c.id == key) & approvals.c.decided_at.is_(None)
    values = {"decided_at": now(), "decided_by": by, "verdict": verdict, "reason": reason}
    if connection.execute(update(approvals).where(undecided).values(**values)).rowcount == 0:
        raise unknown(key)
    return read_row(
        Approval, connection.execute(_select_approvals().where(approvals.c.id == key)).one()
    )


def withdraw(connection: Connection, *, job: str) -> None:
    """Wait no longer: its person gave it up."""
    undecided = (approvals.c.job_id == job) & approvals.c.decided_at.is_(None)
    values = {"decided_at": now(), "verdict": WITHDRAWN}
    connection.execute(update(approvals).where(undecided).values(**values))


def unknown(key: str) -> InvalidParameter:
    """Nothing of this id waits."""
    return InvalidParameter(
        code="approval_unknown",
        expectation="the id of a question that waits for approval",
        received=key[:64],
        remedy="GET /api/v1/approvals lists those that wait.",
    )


def _select_approvals() -> Select[Any]:
    return (
        select(approvals, people.c.name, jobs.c.kind, jobs.c.request, jobs.c.grant_id)
        .join(people, people.c.id == approvals.c.person_id)
        .join(jobs, jobs.c.id == approvals.c.job_id)
    )
