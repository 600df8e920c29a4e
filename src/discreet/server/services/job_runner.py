"""Work on jobs: whose turn it is, what a worker says, and when the answer leaves.

A job is worked on by the front that took its lease, from its turn to its leaving, whether or not
anybody waits for it. What it learns on the way is written in one transaction at the end, to be seen
when the answer has left, and not before.

Source: contract, "What may be seen". Proof: ``proofs/timing.md``.
"""

from __future__ import annotations

import asyncio
import json
import logging
import math
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from discreet.core.errors import DiscreetError
from discreet.release.guarantee import guarantee_to_dict
from discreet.server.jobs.kind import JobKind
from discreet.server.refusals import described
from discreet.server.runtime import Runtime
from discreet.server.services.job_view import JobView, view_of
from discreet.server.spends import spend_to_dict
from discreet.server.state import approvals, conversations, jobs, overruns, releases
from discreet.server.state.grants import Grant
from discreet.server.state.jobs import Job, JobPhase, Turn
from discreet.server.state.people import Member
from discreet.server.timing import Leaving, leaving
from discreet.server.workers.messages import WorkOrder, reservation_id

LOG = logging.getLogger("discreet.server")

_LATELY = 500
"""Answers whose times an owner is told."""
_NAP, _LONGEST_NAP = 0.02, 0.25
"""Seconds between two looks whether it is one's turn, where another replica has it: more each."""
_EARLY = 0.01
"""Seconds by which the state may say too early that an answer has left: writing takes longer."""


@dataclass(frozen=True)
class PreparedJob:
    """A job with all that is needed to work on it."""

    person: Member
    kind: JobKind[Any]
    job: Job
    grant: Grant | None
    approved: bool = False
    again: bool = False
    """Whether it was begun before, and lost."""


@dataclass
class JobOutcome:
    """How work ended, and what was heard on the way."""

    phase: JobPhase = JobPhase.FAILED
    error: dict[str, Any] | None = None
    question: str = ""
    release: str = ""
    opened: str = ""
    result: str | None = None
    touched: bool = True
    reservation: str | None = None
    tables: list[str] = field(default_factory=list)
    price: dict[str, float] | None = None
    took: float | None = None
    heard: bool = False
    """Whether the worker spoke to the end, so that all it reserved was told."""

    def hear(self, said: dict[str, Any]) -> None:
        """What the worker says before data is read."""
        self.reservation = said.get("reserved", self.reservation)
        self.tables = said.get("tables", self.tables)

    def record_final_reply(self, reply: dict[str, Any]) -> None:
        """What the worker says at the end."""
        self.took = reply.get("took")
        self.heard = True
        if "done" in reply:
            done = reply["done"]
            self.phase = JobPhase.FINISHED
            self.question, self.release = done["question"], done["release"]
            self.opened, self.result = done["opened"], done["result"]
        elif "needs_approval" in reply:
            self.price = reply["needs_approval"]
        else:
            self.error, self.touched = reply["refused"], reply["touched"]

    def shared_out(self, elapsed: float) -> tuple[float, float]:
        """Of the seconds since its turn: the worker's own, and what the front added.

        All are the worker's where it never said, as one that was lost or ended.
        """
        took = elapsed if self.took is None else min(max(0.0, self.took), elapsed)
        return took, elapsed - took


class JobRunner:
    """The jobs that this front works on."""

    def __init__(self, runtime: Runtime) -> None:
        """Work on nothing yet."""
        self._runtime = runtime
        self._tasks: dict[str, asyncio.Task[JobView]] = {}
        self._queues: dict[str, asyncio.Lock] = {}
        self._turns: dict[str, asyncio.Event] = {}
        self._took: deque[float] = deque(maxlen=_LATELY)

    def begin(self, prepared: PreparedJob, *, started: bool = False) -> None:
        """Work on a job until it has left; ``started`` if it has its lease."""
        job = prepared.job.id
        task = asyncio.create_task(self._worked(prepared, started=started))
        self._tasks[job] = task
        task.add_done_callback(lambda done: self._over(job, done))

    async def wait(self, job: str, seconds: float) -> JobView | None:
        """The job once it has left, if that is within so many seconds and at this front."""
        task = self._tasks.get(job)
        if task is None:
            return None
        done, _ = await asyncio.wait({task}, timeout=max(0.0, seconds))
        return task.result() if done else None

    def working(self) -> list[str]:
        """The jobs that are under way here: for whoever renews leases."""
        return list(self._tasks)

    def took(self) -> list[float]:
        """How many seconds the latest answers took before padding, shortest first.

        It tells about rows: for the owner alone, who chooses the quantum. It is kept nowhere.
        """
        return sorted(self._took)

    async def interrupt(self, job: str) -> None:
        """End the work on a job that was cancelled."""
        await self._runtime.pool.interrupt(job)

    async def settle(self, seconds: float) -> None:
        """Wait a while for what is at work, before the end."""
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=seconds)

    def quantum(self, prepared: PreparedJob, outcome: JobOutcome) -> float:
        """After which multiple of seconds it leaves: none where no data had a part in it."""
        padded = prepared.kind.reads_data and outcome.touched
        return self._runtime.settings.quanta.of(outcome.tables) if padded else 0.0

    async def _worked(self, prepared: PreparedJob, *, started: bool) -> JobView:
        job, state = prepared.job, self._runtime.state
        if not started and not await self._turn(prepared):
            before = await self._charged(job, job.reservation) if prepared.again else ""
            return view_of(job, JobPhase.CANCELLED, charged=bool(before))
        loop = asyncio.get_running_loop()
        outcome = JobOutcome()
        try:
            began = await self._ask(prepared, outcome)
            if prepared.again or not outcome.heard:
                heard = outcome.reservation or job.reservation
                outcome.reservation = await self._charged(job, heard)
            if outcome.price is not None:
                await state.write(_put_aside, job=job, price=outcome.price)
                return view_of(job, JobPhase.WAITING, price=outcome.price)
            quantum = self.quantum(prepared, outcome)
            took, waited = outcome.shared_out(loop.time() - began)
            if outcome.reservation:  # not what was found again, or refused
                self._took.append(took)
            step = self._runtime.settings.quanta.step
            when = leaving(took, quantum, waited=waited, step=step)
            left = began + when.after - loop.time() if quantum else 0.0
            wanted, kept = await state.write_relaxed(
                _ended, prepared=prepared, outcome=outcome, level=when.level, left=left
            )
            if not wanted:
                return view_of(job, JobPhase.CANCELLED, charged=bool(outcome.reservation))
            if quantum:
                await self._leave(job, outcome.opened, began, when, quantum)
            return view_of(
                job,
                outcome.phase,
                charged=bool(outcome.reservation),
                error=outcome.error,
                release_id=kept,
                result=outcome.result,
            )
        finally:
            self._turn_over(prepared.person.id)

    async def _leave(
        self, job: Job, opened: str, began: float, when: Leaving, quantum: float
    ) -> None:
        """Sleep until it leaves; quanta later where writing it down took too long."""
        loop, more = asyncio.get_running_loop(), 1
        while (left := began + when.after - loop.time()) < 0:
            when, more = when.later(quantum, more * math.ceil(-left / quantum)), 2 * more
            left = began + when.after - loop.time()
            await self._runtime.state.write_relaxed(
                _delayed, job=job, opened=opened, level=when.level, left=left
            )
        await asyncio.sleep(left)

    async def charged(self, jobs: Iterable[str]) -> dict[str, str]:
        """The reservations of those of these jobs that the ledger charged for."""
        named = {reservation_id(job): job for job in jobs}
        if not named:
            return {}
        told = await self._runtime.owner_task("reserved", request={"reservations": list(named)})
        return {named[each]: each for each in told["reserved"]}

    async def _charged(self, job: Job, heard: str | None) -> str | None:
        """What the ledger says of a job; what was heard, where it cannot be asked now."""
        try:
            return (await self.charged([job.id])).get(job.id, "")
        except DiscreetError:
            return heard

    async def _ask(self, prepared: PreparedJob, outcome: JobOutcome) -> float:
        """What a worker makes of it; a failure of the worker is an outcome too.

        The moment at which work began: after the wait for the same question, which was asked
        before and answers this one too.
        """
        loop, lost = asyncio.get_running_loop(), list[str]()
        while True:
            began = loop.time()
            reply = await self._ask_worker(prepared, outcome, lost)
            if reply is None or "unfinished" not in reply:
                break
            if not await self._wait_until_job_left(prepared.person.id, reply["unfinished"]):
                lost.append(reply["unfinished"])
        if reply is not None:
            outcome.record_final_reply(reply)
        return began

    async def _wait_until_job_left(self, person: str, reservation: str) -> bool:
        """Wait until a job of somebody has left that has a reservation; False: there is none."""
        state = self._runtime.state
        held = await state.read(jobs.held_by, person=person)
        job = next((each for each in held if reservation_id(each) == reservation), None)
        while job is not None and await state.read(jobs.is_held, job):
            await asyncio.sleep(_LONGEST_NAP / 2)
        return job is not None

    async def _ask_worker(
        self, prepared: PreparedJob, outcome: JobOutcome, lost: list[str]
    ) -> dict[str, Any] | None:
        """What a worker says at the end; None where it did not come to it."""
        settings, grant = self._runtime.settings, prepared.grant
        limit = settings.approval
        approved = limit is None or prepared.approved
        if not approved:
            approved = await self._runtime.state.read(approvals.agreed, prepared.job)
        order = WorkOrder(
            kind=prepared.kind.name,
            request=json.loads(prepared.job.request),
            account="" if grant is None else grant.account,
            budget={} if grant is None else guarantee_to_dict(grant.budget),
            analyst=prepared.person.name,
            purpose="" if grant is None else grant.purpose,
            approval=None if limit is None else spend_to_dict(limit),
            approved=approved,
            job=prepared.job.id,
            lost=lost,
        )
        try:
            return await self._runtime.pool.ask(
                prepared.person.id,
                order,
                seconds=settings.longest,
                job=prepared.job.id,
                heard=outcome.hear,
            )
        except DiscreetError as refusal:
            outcome.error = described(refusal)
            return None

    async def _turn(self, prepared: PreparedJob) -> bool:
        """Wait until fewer of this person's questions are at work than may be; False: cancelled."""
        person, most = prepared.person.id, self._runtime.settings.per_analyst
        turn, nap = self._turns.setdefault(person, asyncio.Event()), _NAP
        async with self._queues.setdefault(person, asyncio.Lock()):  # the others need not look
            while True:
                turn.clear()
                found = await self._runtime.state.write_relaxed(
                    jobs.start, job=prepared.job.id, person=person, most=most
                )
                if found is not Turn.LATER:
                    return found is Turn.NOW
                with suppress(TimeoutError):
                    await asyncio.wait_for(turn.wait(), nap)
                nap = min(2 * nap, _LONGEST_NAP)

    def _turn_over(self, person: str) -> None:
        turn = self._turns.get(person)
        if turn is not None:
            turn.set()

    def _over(self, job: str, task: asyncio.Task[JobView]) -> None:
        self._tasks.pop(job, None)
        if not task.cancelled() and task.exception() is not None:
            LOG.error("a job was not finished", extra={"job": job}, exc_info=task.exception())


def _put_aside(connection: Connection, *, job: Job, price: dict[str, float]) -> None:
    text = json.dumps(price)
    jobs.wait_for_approval(connection, job=job.id, price=text)
    approvals.add(connection, job=job.id, person=job.person_id, price=text)


def _ended(
    connection: Connection, *, prepared: PreparedJob, outcome: JobOutcome, level: int, left: float
) -> tuple[bool, str | None]:
    """Note how a job ended, with its release and its overrun.

    Whether it is still wanted, and the release's id.
    """
    job, kept = prepared.job, None
    wait = _milliseconds(left)
    if outcome.release:
        kept = releases.add(
            connection,
            person=job.person_id,
            grant=job.grant_id,
            kind=job.kind,
            release=outcome.release,
            question=outcome.question,
            request=job.request,
            reservation=outcome.reservation,
            document=outcome.result or "",
            leaves_in=wait,
        )
    if outcome.opened and job.grant_id is not None:
        conversations.add(
            connection,
            key=outcome.opened,
            person=job.person_id,
            grant=job.grant_id,
            about=job.request,
            leaves_in=wait,
        )
    wanted = jobs.end(
        connection,
        job=job.id,
        phase=outcome.phase,
        leaves_in=wait,
        reservation=outcome.reservation,
        error=outcome.error,
        release_id=kept,
        result=None if kept else outcome.result,
    )
    if not wanted:
        jobs.let_go(connection, job=job.id, reservation=outcome.reservation)
        # Giving it up counted as its overrun.
    elif level > 0:
        overruns.add(connection, person=job.person_id, job=job.id, level=level, leaves_in=wait)
    return wanted, kept


def _delayed(connection: Connection, *, job: Job, opened: str, level: int, left: float) -> None:
    """Note that an answer leaves later than was noted before, with all that comes with it."""
    wait = _milliseconds(left)
    if opened:
        conversations.delay(connection, key=opened, leaves_in=wait)
    if jobs.delay(connection, job=job.id, leaves_in=wait) and level > 0:
        overruns.add(connection, person=job.person_id, job=job.id, level=level, leaves_in=wait)


def _milliseconds(left: float) -> int:
    return max(0, math.ceil((left - _EARLY) * 1000))
