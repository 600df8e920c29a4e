"""Jobs: what somebody asked, how far it is, and the lease under which it is worked on.

A job has a lease while a front process works on it, renewed by the database's clock; who holds
leases decides how many questions of one person are worked on at a time, over all replicas. A lease
lasts until the answer has left, so that what comes next tells nothing about how long it took. A job
whose lease ran out before it ended was lost with its process.

What can be seen of a job before its answer has left is that it was started, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from sqlalchemy import Connection, Row, func, insert, select, update

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import random_id
from discreet.server.refusals import described, lost
from discreet.server.state.clock import now
from discreet.server.state.rows import read_row
from discreet.server.state.schema import jobs, people

LEASE = 15_000
"""Milliseconds until a job whose process fell silent counts as lost."""


class JobPhase(StrEnum):
    """How far a job is; public, stored, and never renamed."""

    ACCEPTED = "accepted"
    WAITING = "waiting_for_approval"
    STARTED = "started"
    FINISHED = "finished"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self in (JobPhase.FINISHED, JobPhase.FAILED, JobPhase.CANCELLED)


@dataclass(frozen=True)
class Job:
    """A job as it is kept; ``seen`` is what its person may know."""

    id: str
    person_id: str
    grant_id: str | None
    kind: str
    request: str
    digest: str
    idempotency_key: str | None
    phase: JobPhase
    price: str | None
    created_at: int
    started_at: int | None
    lease_until: int | None
    leaves_at: int | None
    reservation: str | None
    error: str | None
    release_id: str | None
    result: str | None

    def seen(self, moment: int) -> Job:
        """What may be known of it at a moment of the database's time."""
        if self.leaves_at is not None and self.leaves_at > moment:
            return replace(self, phase=JobPhase.STARTED, error=None, release_id=None, result=None)
        alive = self.lease_until is not None and self.lease_until > moment
        if self.phase in (JobPhase.ACCEPTED, JobPhase.STARTED) and not alive:
            return replace(self, phase=JobPhase.FAILED, error=json.dumps(described(lost())))
        return self


def known(connection: Connection, *, person: str, key: str, digest: str) -> Job | None:
    """The job of an earlier request with this Idempotency-Key, if it asked the same."""
    named = (jobs.c.person_id == person) & (jobs.c.idempotency_key == key)
    row = connection.execute(select(jobs).where(named)).first()
    if row is None:
        return None
    found = _job(row)
    if found.digest != digest:
        raise InvalidParameter(
            code="idempotency_mismatch",
            expectation="the same request under the same Idempotency-Key",
            received=key,
            remedy="Use a new key for another request.",
        )
    return found


def add(
    connection: Connection,
    *,
    person: str,
    grant: str | None,
    kind: str,
    request: str,
    digest: str,
    key: str | None,
) -> Job:
    """A new job that waits for its turn."""
    name = random_id()
    connection.execute(
        insert(jobs).values(
            id=name,
            person_id=person,
            grant_id=grant,
            kind=kind,
            request=request,
            digest=digest,
            idempotency_key=key,
            phase=JobPhase.ACCEPTED.value,
            created_at=now(),
            lease_until=now() + LEASE,
        )
    )
    return _job(connection.execute(select(jobs).where(jobs.c.id == name)).one())


def lock_person(connection: Connection, person: str) -> None:
    """Be the only one who decides about a person's jobs, until the transaction ends."""
    connection.execute(select(people.c.id).where(people.c.id == person).with_for_update())


def start(connection: Connection, *, job: str, person: str, most: int) -> bool:
    """Take a lease, if the person has fewer than ``most``."""
    lock_person(connection, person)
    at_work = select(func.count()).where(
        jobs.c.person_id == person,
        jobs.c.phase != JobPhase.ACCEPTED.value,
        jobs.c.lease_until > now(),
    )
    if (connection.scalar(at_work) or 0) >= most:
        return False
    waiting = (jobs.c.id == job) & (
        jobs.c.phase.in_((JobPhase.ACCEPTED.value, JobPhase.WAITING.value))
    )
    values = {
        "phase": JobPhase.STARTED.value,
        "started_at": now(),
        "lease_until": now() + LEASE,
    }
    return connection.execute(update(jobs).where(waiting).values(**values)).rowcount > 0


def renew(connection: Connection, working: Collection[str]) -> None:
    """Go on with these."""
    named = jobs.c.id.in_(working) & jobs.c.lease_until.is_not(None)
    at_work = jobs.c.phase.in_((JobPhase.ACCEPTED.value, JobPhase.STARTED.value))
    connection.execute(update(jobs).where(named, at_work).values(lease_until=now() + LEASE))


def wait_for_approval(connection: Connection, *, job: str, price: str) -> None:
    """Put a job aside until somebody has decided about it."""
    values = {"phase": JobPhase.WAITING.value, "price": price, "lease_until": None}
    connection.execute(update(jobs).where(jobs.c.id == job).values(**values))


def end(
    connection: Connection,
    *,
    job: str,
    phase: JobPhase,
    leaves_in: int,
    reservation: str | None = None,
    error: dict[str, Any] | None = None,
    release_id: str | None = None,
    result: str | None = None,
    price: str | None = None,
) -> None:
    """Note how a job ended, to be seen in so many milliseconds; until then it has its lease."""
    leaves: Any = now() + leaves_in
    values = {
        "phase": phase.value,
        "leaves_at": leaves,
        "lease_until": leaves,
        "reservation": reservation,
        "error": None if error is None else json.dumps(error),
        "release_id": release_id,
        "result": result,
        "price": price,
    }
    open_ = jobs.c.phase != JobPhase.CANCELLED.value
    connection.execute(update(jobs).where(jobs.c.id == job, open_).values(**values))


def cancel(connection: Connection, *, job: str) -> None:
    """Note that its person no longer wants it; the lease stays with whoever works on it."""
    connection.execute(
        update(jobs).where(jobs.c.id == job).values(phase=JobPhase.CANCELLED.value, leaves_at=now())
    )


def let_go(connection: Connection, *, job: str) -> None:
    """Give up a lease."""
    connection.execute(update(jobs).where(jobs.c.id == job).values(lease_until=None))


def of_person(connection: Connection, *, person: str, job: str) -> Job | None:
    """A person's own job, as it may be seen now."""
    named = (jobs.c.id == job) & (jobs.c.person_id == person)
    row = connection.execute(select(jobs, now().label("moment")).where(named)).first()
    return None if row is None else _job(row).seen(row._mapping["moment"])


def by_id(connection: Connection, job: str) -> Job | None:
    """Any job as it is, for the service itself."""
    row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
    return None if row is None else _job(row)


def history(connection: Connection, *, person: str, before: int, count: int) -> list[Job]:
    """A person's own jobs, the latest first, as they may be seen now."""
    asked = (
        select(jobs, now().label("moment"))
        .where(jobs.c.person_id == person, jobs.c.created_at < before)
        .order_by(jobs.c.created_at.desc(), jobs.c.id)
        .limit(count)
    )
    return [_job(row).seen(row._mapping["moment"]) for row in connection.execute(asked)]


def _job(row: Row[Any]) -> Job:
    found = read_row(Job, row)
    return replace(found, phase=JobPhase(found.phase))
