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
from enum import Enum, StrEnum, auto
from typing import Any

from sqlalchemy import BigInteger, Connection, Row, bindparam, delete, func, insert, select, update

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import random_id
from discreet.server.refusals import described, lost
from discreet.server.state.clock import now
from discreet.server.state.pagination import Cursor, earlier
from discreet.server.state.rows import read_row
from discreet.server.state.schema import jobs, people, releases

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


_TO_START = (JobPhase.ACCEPTED, JobPhase.WAITING)
_ENDED_EARLY = ("worker_lost", "work_too_long", "service_failed")
"""Codes after which a worker may have reserved without a word."""
_AT_THE_END = ("reservation", "error", "release_id", "result")
"""What is written with the outcome, and would tell that there is one."""


class Turn(Enum):
    """Whether a job may be worked on."""

    NOW = auto()
    LATER = auto()
    NEVER = auto()
    """It was cancelled meanwhile."""


@dataclass(frozen=True)
class Job:
    """A job as it is kept; ``show_at_moment`` tells what its person may know.

    ``reservation`` is what paid for it; empty: the ledger said that nothing did; None: it was not
    asked, since the work ended with a word about it, or has not ended.
    """

    id: str
    person_id: str
    grant_id: str | None
    kind: str
    about: str | None
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

    @property
    def told_charge(self) -> bool:
        """Whether it is certain what was charged: else only the ledger knows."""
        if self.reservation is not None or self.started_at is None:
            return True
        begun_again = self.phase is JobPhase.ACCEPTED
        return not begun_again and self.phase is not JobPhase.CANCELLED and not self.lost

    @property
    def lost(self) -> bool:
        """Whether its process ended before the work did."""
        return self.error is not None and json.loads(self.error).get("code") in _ENDED_EARLY

    def show_at_moment(self, moment: int) -> Job:
        """What may be known of it at a moment of the database's time."""
        if self.leaves_at is not None and self.leaves_at > moment:
            hidden: dict[str, Any] = dict.fromkeys(_AT_THE_END)
            return replace(self, phase=JobPhase.STARTED, **hidden)
        alive = self.lease_until is not None and self.lease_until > moment
        if self.phase in (JobPhase.ACCEPTED, JobPhase.STARTED) and not alive:
            return replace(self, phase=JobPhase.FAILED, error=json.dumps(described(lost())))
        return self


# Made once, since every question asks them.
_ADDED = insert(jobs).values(created_at=now(), lease_until=now() + LEASE).returning(*jobs.c)
_AT_WORK = select(func.count()).where(
    jobs.c.person_id == bindparam("person"),
    jobs.c.phase != JobPhase.ACCEPTED.value,
    jobs.c.lease_until > now(),
)
_STARTED = (
    update(jobs)
    .where(jobs.c.id == bindparam("job"), jobs.c.phase.in_([each.value for each in _TO_START]))
    .values(phase=JobPhase.STARTED.value, started_at=now(), lease_until=now() + LEASE)
)
_LEAVES: Any = now() + bindparam("wait", type_=BigInteger)
_ENDED = (
    update(jobs)
    .where(jobs.c.id == bindparam("job"), jobs.c.phase != JobPhase.CANCELLED.value)
    .values(leaves_at=_LEAVES, lease_until=_LEAVES)
)


def find_earlier_job(connection: Connection, *, person: str, key: str, digest: str) -> Job | None:
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
    about: str | None = None,
) -> Job:
    """A new job that waits for its turn."""
    values = {
        "id": random_id(),
        "person_id": person,
        "grant_id": grant,
        "kind": kind,
        "about": about,
        "request": request,
        "digest": digest,
        "idempotency_key": key,
        "phase": JobPhase.ACCEPTED.value,
    }
    return _job(connection.execute(_ADDED, values).one())


def lock_person(connection: Connection, person: str) -> None:
    """Be the only one who decides about a person's jobs, until the transaction ends.

    In SQLite whoever writes is alone anyway.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(select(people.c.id).where(people.c.id == person).with_for_update())


def start(connection: Connection, *, job: str, person: str, most: int) -> Turn:
    """Take a lease, if the person has fewer than ``most``."""
    lock_person(connection, person)
    if (connection.scalar(_AT_WORK, {"person": person}) or 0) >= most:
        return Turn.LATER
    started = connection.execute(_STARTED, {"job": job}).rowcount
    return Turn.NOW if started else Turn.NEVER


def waiting(connection: Connection, *, person: str) -> int:
    """How many jobs of a person wait for their turn."""
    asked = select(func.count()).where(
        jobs.c.person_id == person,
        jobs.c.phase == JobPhase.ACCEPTED.value,
        jobs.c.lease_until > now(),
    )
    return connection.scalar(asked) or 0


def renew(connection: Connection, working: Collection[str]) -> list[str]:
    """Go on with these; those of them that were cancelled meanwhile."""
    named = jobs.c.id.in_(working)
    at_work = jobs.c.phase.in_((JobPhase.ACCEPTED.value, JobPhase.STARTED.value))
    connection.execute(update(jobs).where(named, at_work).values(lease_until=now() + LEASE))
    gone = jobs.c.phase == JobPhase.CANCELLED.value
    return list(connection.scalars(select(jobs.c.id).where(named, gone)))


def at_work_on(connection: Connection, about: str) -> int:
    """How many jobs about something are under way."""
    asked = select(func.count()).where(jobs.c.about == about, jobs.c.lease_until > now())
    return connection.scalar(asked) or 0


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
) -> bool:
    """Note how a job ended, to be seen in so many milliseconds; until then it has its lease.

    False for one that was cancelled, which stays so.
    """
    values = {
        "job": job,
        "wait": leaves_in,
        "phase": phase.value,
        "reservation": reservation,
        "error": None if error is None else json.dumps(error),
        "release_id": release_id,
        "result": result,
    }
    return connection.execute(_ENDED, values).rowcount > 0


def delay(connection: Connection, *, job: str, leaves_in: int) -> bool:
    """Let an answer leave later than was noted before, with a release that it brought.

    False for one that was cancelled, which stays so.
    """
    leaves: Any = now() + leaves_in
    wanted = (jobs.c.id == job) & (jobs.c.phase != JobPhase.CANCELLED.value)
    connection.execute(update(jobs).where(wanted).values(leaves_at=leaves, lease_until=leaves))
    found = connection.execute(select(jobs.c.release_id, jobs.c.created_at).where(wanted)).first()
    if found is None:
        return False
    brought = (releases.c.id == found.release_id) & (releases.c.leaves_at >= found.created_at)
    connection.execute(update(releases).where(brought).values(made_at=leaves, leaves_at=leaves))
    return True


def cancel(connection: Connection, *, job: str) -> None:
    """Note that its person no longer wants it; whoever works on it has the lease for a while."""
    values = {"phase": JobPhase.CANCELLED.value, "leaves_at": now()}
    connection.execute(update(jobs).where(jobs.c.id == job).values(**values))


def let_go(connection: Connection, *, job: str, reservation: str | None = None) -> None:
    """Give up the lease of a job that was cancelled, with what is known of its charge."""
    gone = (jobs.c.id == job) & (jobs.c.phase == JobPhase.CANCELLED.value)
    values = {"lease_until": None, "reservation": reservation}
    connection.execute(update(jobs).where(gone).values(**values))


def begin_again(connection: Connection, job: Job) -> bool:
    """Let a job that was lost wait for its turn once more; False for one that was not.

    Its reservations have ids of its own, so that it is never charged twice.
    """
    moment = connection.scalar(select(now())) or 0
    if not job.show_at_moment(moment).lost:
        return False
    values = {"phase": JobPhase.ACCEPTED.value, "lease_until": now() + LEASE}
    nothing = dict.fromkeys(("leaves_at", "error", "release_id", "result"))
    connection.execute(update(jobs).where(jobs.c.id == job.id).values(**nothing, **values))
    return True


def is_held(connection: Connection, job: str) -> bool:
    """Whether somebody has the lease of a job."""
    held = select(jobs.c.id).where(jobs.c.id == job, jobs.c.lease_until > now())
    return connection.execute(held).first() is not None


def is_worked_on(connection: Connection, job: str) -> bool:
    """Whether somebody has the lease of a job, and has not written down what came of it."""
    nothing = [jobs.c[each].is_(None) for each in ("error", "release_id", "result")]
    held = select(jobs.c.id).where(jobs.c.id == job, jobs.c.lease_until > now(), *nothing)
    return connection.execute(held).first() is not None


def held_by(connection: Connection, *, person: str) -> list[str]:
    """The jobs of a person that somebody has the lease of."""
    held = select(jobs.c.id).where(jobs.c.person_id == person, jobs.c.lease_until > now())
    return list(connection.scalars(held))


def sweep(connection: Connection, *, kinds: Collection[str], older_than: int) -> None:
    """Forget jobs of these kinds that nobody comes back for."""
    old = jobs.c.kind.in_(kinds) & (jobs.c.created_at < now() - older_than)
    connection.execute(delete(jobs).where(old))


def of_person(connection: Connection, *, person: str, job: str) -> Job | None:
    """A person's own job, as it may be seen now."""
    named = (jobs.c.id == job) & (jobs.c.person_id == person)
    row = connection.execute(select(jobs, now().label("moment")).where(named)).first()
    return None if row is None else _job(row).show_at_moment(row._mapping["moment"])


def by_id(connection: Connection, job: str) -> Job | None:
    """Any job as it is, for the service itself."""
    row = connection.execute(select(jobs).where(jobs.c.id == job)).first()
    return None if row is None else _job(row)


def history(
    connection: Connection, *, person: str, kinds: Collection[str], before: Cursor, count: int
) -> list[Job]:
    """A person's own jobs of some kinds, the latest first, as they may be seen now."""
    asked = (
        select(jobs, now().label("moment"))
        .where(jobs.c.person_id == person, jobs.c.kind.in_(kinds))
        .where(earlier(jobs.c.created_at, jobs.c.id, before))
        .order_by(jobs.c.created_at.desc(), jobs.c.id.desc())
        .limit(count)
    )
    return [_job(row).show_at_moment(row._mapping["moment"]) for row in connection.execute(asked)]


def _job(row: Row[Any]) -> Job:
    found = read_row(Job, row)
    return replace(found, phase=JobPhase(found.phase))
