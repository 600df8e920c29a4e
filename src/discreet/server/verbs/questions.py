"""Asking: a question becomes a job, a worker buys its answer, and the answer leaves in time.

The order of things. Rights, the rate of one's own requests, the record, the budget that pays and
the overruns of a day are looked at before a worker is asked; the worker plans, so that a question
that cannot be answered is refused for nothing; then it asks for approval where the price needs it,
and only then buys. What was bought is durable in the ledger before the state has a copy.

Source: contract, "Spending", "What may be seen". Proof: ``proofs/timing.md``.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.release.guarantee import guarantee_to_dict
from discreet.server.jobs.kind import JobKind, JobRequest
from discreet.server.jobs.registry import kind_named
from discreet.server.refusals import described, failed
from discreet.server.rights import Action, require
from discreet.server.runtime import Runtime
from discreet.server.spends import spend_to_dict
from discreet.server.state import approvals, counters, grants, jobs, overruns, releases
from discreet.server.state.grants import Grant
from discreet.server.state.jobs import Job, JobPhase
from discreet.server.state.people import Member
from discreet.server.timing import leaving
from discreet.server.workers.messages import WorkOrder

_NAP = 0.05
"""Seconds between two looks whether it is one's turn, where another replica has it."""


@dataclass(frozen=True)
class JobView:
    """What somebody may know of a job of their own.

    Attributes:
        id: By which it is found again.
        kind: Of the question.
        phase: How far it is.
        created_at: When it was asked, in milliseconds of the database's time.
        account: What pays.
        error: Why it failed, if it did.
        release_id: Where its release is kept, if there is one.
        result: What came of it, as JSON text; None until then.
        price: Where it waits for approval: of what.
    """

    id: str
    kind: str
    phase: JobPhase
    created_at: int
    account: str | None = None
    error: dict[str, Any] | None = None
    release_id: str | None = None
    result: str | None = None
    price: dict[str, float] | None = None


@dataclass
class _Outcome:
    """How work ended, and what it told on the way."""

    phase: JobPhase = JobPhase.FAILED
    error: dict[str, Any] | None = None
    question: str = ""
    release: str = ""
    result: str | None = None
    touched: bool = True
    reservation: str | None = None
    tables: list[str] = field(default_factory=list)
    price: dict[str, float] | None = None

    def hear(self, said: dict[str, Any]) -> None:
        """What the worker says before data is read."""
        self.reservation = said.get("reserved", self.reservation)
        self.tables = said.get("tables", self.tables)


class Questions:
    """Ask, look and cancel; each for one's own questions alone."""

    def __init__(self, runtime: Runtime) -> None:
        """Work on nothing yet."""
        self._runtime = runtime
        self._tasks: dict[str, asyncio.Task[JobView]] = {}
        self._turns: dict[str, asyncio.Event] = {}

    async def ask(
        self,
        person: Member,
        request: JobRequest,
        *,
        kind: str,
        key: str | None = None,
        wait: float | None = None,
    ) -> JobView:
        """Ask, and wait a while for the answer; the job as it is then.

        The same ``key`` with the same request is the same job, however often it is sent.
        """
        require(person.role, Action.ASK)
        what = kind_named(kind)
        text = request.model_dump_json(exclude_none=True)
        admitted = await self._runtime.state.note(
            self._admitted, person=person, kind=what, request=text, key=key
        )
        job, grant, fresh = admitted
        if fresh:
            self._begin(person, what, job, grant, approved=False)
        task = self._tasks.get(job.id)
        if task is None:
            return await self.job(person, job.id)
        most = self._runtime.settings.wait
        done, _ = await asyncio.wait({task}, timeout=most if wait is None else min(wait, most))
        return task.result() if done else _view(job, JobPhase.STARTED)

    async def job(self, person: Member, job: str) -> JobView:
        """One's own job, as it is now."""
        require(person.role, Action.ASK)
        found = await self._runtime.state.read(_found, person=person.id, job=job)
        if found is None:
            raise InvalidParameter(
                code="job_unknown",
                expectation="the id of a job of yours",
                received=job[:64],
                remedy="GET /api/v1/history lists them.",
            )
        return found

    def resume(self, person: Member, job: Job, grant: Grant | None) -> None:
        """Go on with a job that was approved."""
        self._begin(person, kind_named(job.kind), job, grant, approved=True)

    def working(self) -> list[str]:
        """The jobs that this front works on: for whoever renews leases."""
        return list(self._tasks)

    async def settle(self, seconds: float) -> None:
        """Wait a while for what is at work, before the end."""
        if self._tasks:
            await asyncio.wait(set(self._tasks.values()), timeout=seconds)

    def _admitted(
        self,
        connection: Connection,
        *,
        person: Member,
        kind: JobKind[Any],
        request: str,
        key: str | None,
    ) -> tuple[Job, Grant | None, bool]:
        """All that is looked at before work begins, in one transaction; the job, if it is new."""
        settings = self._runtime.settings
        jobs.lock_person(connection, person.id)
        counters.require_within(
            connection,
            subject=person.id,
            what=counters.REQUESTS,
            most=settings.per_minute,
            within=60_000,
        )
        digest = hashlib.sha256(f"{kind.name}\n{request}".encode()).hexdigest()
        if key is not None:
            before = jobs.known(connection, person=person.id, key=key, digest=digest)
            if before is not None:
                return before, None, False
        asked = json.loads(request)
        grant = grants.chosen(
            connection,
            person=person.id,
            purpose=asked.get("purpose"),
            account=asked.get("account"),
        )
        if kind.reads_data:
            self._runtime.record.require_complete()
            if self._padded:
                overruns.require_left(connection, person=person.id, most=settings.overruns)
        job = jobs.add(
            connection,
            person=person.id,
            grant=grant.account,
            kind=kind.name,
            request=request,
            digest=digest,
            key=key,
        )
        return job, grant, True

    @property
    def _padded(self) -> bool:
        return self._runtime.settings.quanta.of(()) > 0

    def _begin(
        self, person: Member, kind: JobKind[Any], job: Job, grant: Grant | None, *, approved: bool
    ) -> None:
        task = asyncio.create_task(self._worked(person, kind, job, grant, approved=approved))
        self._tasks[job.id] = task
        task.add_done_callback(lambda _: self._tasks.pop(job.id, None))

    async def _worked(
        self, person: Member, kind: JobKind[Any], job: Job, grant: Grant | None, *, approved: bool
    ) -> JobView:
        """A job from its turn to its leaving."""
        await self._turn(person, job)
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            outcome = await self._outcome(person, kind, job, grant, approved=approved)
            if outcome.price is not None:
                await self._runtime.state.keep(
                    _put_aside, job=job, price=outcome.price, person=person
                )
                return _view(job, JobPhase.WAITING, price=outcome.price)
            padded = kind.reads_data and outcome.touched
            quantum = self._runtime.settings.quanta.of(outcome.tables) if padded else 0.0
            when = leaving(loop.time() - began, quantum)
            left = began + when.after - loop.time() if quantum else 0.0
            kept = await self._runtime.state.note(
                _ended, job=job, outcome=outcome, level=when.level, leaves_in=left
            )
            if quantum:
                await asyncio.sleep(max(0.0, began + when.after - loop.time()))
            return _view(
                job, outcome.phase, error=outcome.error, release_id=kept, result=outcome.result
            )
        finally:
            self._turn_over(person)

    async def _outcome(
        self, person: Member, kind: JobKind[Any], job: Job, grant: Grant | None, *, approved: bool
    ) -> _Outcome:
        settings, outcome = self._runtime.settings, _Outcome()
        order = WorkOrder(
            kind=kind.name,
            request=json.loads(job.request),
            account="" if grant is None else grant.account,
            budget={} if grant is None else guarantee_to_dict(grant.budget),
            analyst=person.name,
            purpose="" if grant is None else grant.purpose,
            approval=None if settings.approval is None else spend_to_dict(settings.approval),
            approved=approved or await self._runtime.state.read(approvals.agreed, job=job),
        )
        try:
            reply = await self._runtime.pool.ask(
                person.id, order, seconds=settings.longest, heard=outcome.hear
            )
        except DiscreetError as refusal:
            outcome.error = described(refusal)
        except Exception:
            outcome.error = described(failed())
            raise
        else:
            _read(reply, outcome)
        return outcome

    async def _turn(self, person: Member, job: Job) -> None:
        """Wait until fewer of this person's questions are at work than may be."""
        while True:
            turn = self._turns.setdefault(person.id, asyncio.Event())
            turn.clear()
            if await self._runtime.state.note(
                jobs.start, job=job.id, person=person.id, most=self._runtime.settings.per_analyst
            ):
                return
            try:
                await asyncio.wait_for(turn.wait(), _NAP)
            except TimeoutError:
                continue

    def _turn_over(self, person: Member) -> None:
        turn = self._turns.get(person.id)
        if turn is not None:
            turn.set()


def _read(reply: dict[str, Any], outcome: _Outcome) -> None:
    """What a worker said at the end."""
    if "done" in reply:
        done = reply["done"]
        outcome.phase = JobPhase.FINISHED
        outcome.question, outcome.release = done["question"], done["release"]
        outcome.result = json.dumps(done["result"])
    elif "needs_approval" in reply:
        outcome.price = reply["needs_approval"]
    else:
        outcome.error, outcome.touched = reply["refused"], reply["touched"]


def _put_aside(
    connection: Connection, *, job: Job, person: Member, price: dict[str, float]
) -> None:
    text = json.dumps(price)
    jobs.wait_for_approval(connection, job=job.id, price=text)
    approvals.add(connection, job=job.id, person=person.id, price=text)


def _ended(
    connection: Connection, *, job: Job, outcome: _Outcome, level: int, leaves_in: float
) -> str | None:
    """Note how a job ended, with its release and its overrun; the release's id."""
    wait = max(0, math.ceil(leaves_in * 1000))
    kept = None
    if outcome.release:
        kept = releases.add(
            connection,
            person=job.person_id,
            grant=job.grant_id,
            kind=job.kind,
            release=outcome.release,
            question=outcome.question,
            document=outcome.result or "",
            leaves_in=wait,
        )
    if level > 0:
        overruns.add(connection, person=job.person_id, job=job.id, level=level)
    jobs.end(
        connection,
        job=job.id,
        phase=outcome.phase,
        leaves_in=wait,
        reservation=outcome.reservation,
        error=outcome.error,
        release_id=kept,
        result=None if kept else outcome.result,
    )
    return kept


def _found(connection: Connection, *, person: str, job: str) -> JobView | None:
    found = jobs.of_person(connection, person=person, job=job)
    if found is None:
        return None
    result = found.result
    if found.release_id is not None:
        kept = releases.of_person(connection, person=person, key=found.release_id)
        result = None if kept is None else kept.document
    return _view(
        found,
        found.phase,
        error=None if found.error is None else json.loads(found.error),
        release_id=found.release_id,
        result=result,
        price=None if found.price is None else json.loads(found.price),
    )


def _view(job: Job, phase: JobPhase, **more: Any) -> JobView:
    return JobView(
        id=job.id,
        kind=job.kind,
        phase=phase,
        created_at=job.created_at,
        account=job.grant_id,
        **more,
    )
