"""Asking: a question becomes a job, a worker buys its answer, and the answer leaves in time.

The order of things. Rights, the record, the budget that pays and the overruns of a day are looked
at before a worker is asked; the worker plans, so that a question that cannot be answered is refused
for nothing; then it asks for approval where the price needs it, and only then buys. What was bought
is durable in the ledger before the state has a copy.

Source: contract, "Spending", "What may be seen".
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from discreet.core.errors import DiscreetError, Exhausted, InvalidParameter
from discreet.server.jobs.kind import JobKind, JobRequest
from discreet.server.jobs.registry import KEPT, kind_named
from discreet.server.rights import Action, require
from discreet.server.runtime import Runtime
from discreet.server.services.job_runner import JobRunner, PreparedJob
from discreet.server.services.job_view import JobView, build_job_view, view_of
from discreet.server.state import (
    approvals,
    counters,
    grants,
    jobs,
    overruns,
    people,
    releases,
)
from discreet.server.state.clock import MINUTE, SECOND
from discreet.server.state.grants import Grant
from discreet.server.state.jobs import LEASE, Job, JobPhase, Turn
from discreet.server.state.pagination import Cursor
from discreet.server.state.people import Member

_MOST_WAITING = 64
_LETTERS = 4096
"""Letters of a request that count as one request more."""
_MOST_FOLLOWED = 8
_LOOK = 0.25
"""Seconds between two looks at a job that somebody watches."""


class Questions:
    """Ask, look and cancel; each for one's own questions alone."""

    def __init__(self, runtime: Runtime, job_runner: JobRunner) -> None:
        """Ask nothing yet."""
        self._runtime = runtime
        self._job_runner = job_runner
        self._following: Counter[str] = Counter()
        self._given_up: dict[str, asyncio.Task[None]] = {}

    async def ask(
        self,
        person: Member,
        request: JobRequest,
        *,
        kind: str,
        key: str | None = None,
        wait: float | None = None,
        about: str | None = None,
    ) -> JobView:
        """Ask, and wait a while for the answer; the job as it is then.

        The same ``key`` with the same request is the same job, however often it is sent. ``about``
        names what a job is about, where something waits for such jobs to end.
        """
        require(person.role, Action.ASK)
        what = kind_named(kind)
        text = request.model_dump_json(exclude_none=True)
        prepared, turn = await self._runtime.state.write_relaxed(
            self._admitted, person=person, kind=what, request=text, key=key, about=about
        )
        job = prepared.job
        if turn is not None:
            self._job_runner.begin(prepared, started=turn is Turn.NOW)
        most = self._runtime.settings.wait
        view = await self._job_runner.wait(job.id, most if wait is None else min(wait, most))
        if view is not None:
            return view
        if turn is None or prepared.again:
            return await self.job(person, job.id)
        return view_of(job, JobPhase.STARTED if turn is Turn.NOW else JobPhase.ACCEPTED)

    async def job(self, person: Member, job: str) -> JobView:
        """One's own job, as it is now."""
        require(person.role, Action.ASK)
        found = await self._runtime.state.read(_find_job_and_view, person=person.id, job=job)
        if found is None:
            raise unknown_job(job)
        (view,) = await self._with_charges([found])
        return view

    async def wait_for_job(self, person: Member, job: str) -> JobView:
        """One's own job once it has left, or waits for approval; however long that takes."""
        while True:
            view = await self._job_runner.wait(job, self._runtime.settings.wait)
            view = await self.job(person, job) if view is None else view
            if view.phase.over or view.phase is JobPhase.WAITING:
                return view
            if job not in self._job_runner.working():
                await asyncio.sleep(_LOOK)

    async def events(self, person: Member, job: str) -> AsyncIterator[JobView]:
        """The public phases of one's own job as they come, until it is over; few at a time."""
        with self._followed(person):
            async for view in self._phases(person, job):
                yield view

    @contextmanager
    def _followed(self, person: Member) -> Iterator[None]:
        """One of the jobs that a person follows, each of which is looked at again and again."""
        if self._following[person.id] >= _MOST_FOLLOWED:
            raise counters.TooMany(
                code="too_many_requests",
                expectation=f"at most {_MOST_FOLLOWED} jobs that you follow at a time",
                remedy="Close one.",
            )
        self._following[person.id] += 1
        try:
            yield
        finally:
            self._following[person.id] -= 1
            if not self._following[person.id]:
                del self._following[person.id]

    async def _phases(self, person: Member, job: str) -> AsyncIterator[JobView]:
        last = None
        while last is None or not last.phase.over:
            view = await self.job(person, job)
            if last is None or view.phase is not last.phase:
                last = view
                yield view
            if not last.phase.over:
                await self._job_runner.wait(job, _LOOK)
                await asyncio.sleep(0 if job in self._job_runner.working() else _LOOK)

    async def history(self, person: Member, *, before: Cursor, count: int) -> list[JobView]:
        """What one asked, the latest first."""
        require(person.role, Action.ASK)
        found = await self._runtime.state.read(
            jobs.history, person=person.id, kinds=KEPT, before=before, count=count
        )
        return await self._with_charges([(job, build_job_view(job)) for job in found])

    async def cancel(self, person: Member, job: str) -> JobView:
        """Give up a job of one's own; what was charged stays charged.

        Whether the work was done by then can be found out afterwards, which tells how long it took.
        So giving up what reads data counts as an overrun, and is refused where none is left.
        """
        require(person.role, Action.ASK)
        await self._runtime.state.write_relaxed(self._cancelled, person=person, job=job)
        await self._job_runner.interrupt(job)
        await self._wait_until_let_go(job)
        return await self.job(person, job)

    async def resume(self, job: Job) -> None:
        """Go on with a job that was agreed to."""
        person, grant = await self._runtime.state.read(_asker, job=job)
        self._job_runner.begin(PreparedJob(person, kind_named(job.kind), job, grant, approved=True))

    async def _wait_until_let_go(self, job: str) -> None:
        """Wait until nobody works on a job that was cancelled; however many wait, one looks."""
        if job not in self._given_up:
            task = asyncio.create_task(self._look_until_let_go(job))
            self._given_up[job] = task
            task.add_done_callback(lambda _: self._given_up.pop(job))
        await asyncio.wait({self._given_up[job]})

    async def _look_until_let_go(self, job: str) -> None:
        end = asyncio.get_running_loop().time() + LEASE / SECOND
        with suppress(DiscreetError):  # whoever waits looks next, and is told
            while asyncio.get_running_loop().time() < end:
                if not await self._runtime.state.read(jobs.is_worked_on, job):
                    return
                await asyncio.sleep(_LOOK / 5)

    async def _with_charges(self, found: list[tuple[Job, JobView]]) -> list[JobView]:
        """Jobs as they may be seen; what nobody was told of their charges, the ledger says."""
        unsure = [job.id for job, _ in found if not job.told_charge]
        charged = await self._job_runner.charged(unsure)
        return [replace(view, charged=view.charged or job.id in charged) for job, view in found]

    def _admitted(
        self,
        connection: Connection,
        *,
        person: Member,
        kind: JobKind[Any],
        request: str,
        key: str | None,
        about: str | None,
    ) -> tuple[PreparedJob, Turn | None]:
        """All that is looked at before work begins; the job, and its turn if it is to be begun."""
        settings = self._runtime.settings
        self._count_length(connection, person, len(request))
        jobs.lock_person(connection, person.id)
        digest = hashlib.sha256(f"{kind.name}\n{request}".encode()).hexdigest()
        before = None
        if key is not None:
            before = jobs.find_earlier_job(connection, person=person.id, key=key, digest=digest)
            if before is not None and not jobs.begin_again(connection, before):
                return PreparedJob(person, kind, before, None), None
        grant = self._paying(connection, person, kind, json.loads(request))
        if kind.reads_data:
            self._runtime.record.require_complete()
            if settings.quanta.of(()) > 0:
                overruns.require_left(connection, person=person.id, most=settings.overruns)
        job = before or jobs.add(
            connection,
            person=person.id,
            grant=None if grant is None else grant.account,
            kind=kind.name,
            request=request,
            digest=digest,
            key=key,
            about=about,
        )
        turn = jobs.start(connection, job=job.id, person=person.id, most=settings.per_analyst)
        if turn is Turn.LATER:
            _require_short(connection, person)
        return PreparedJob(person, kind, job, grant, again=before is not None), turn

    def _count_length(self, connection: Connection, person: Member, letters: int) -> None:
        """Count a long request as several of its person's in a minute."""
        if letters < _LETTERS:
            return
        counters.require_within(
            connection,
            subject=person.id,
            what=counters.REQUESTS,
            most=self._runtime.settings.per_minute,
            within=MINUTE,
            amount=letters // _LETTERS,
        )

    def _paying(
        self, connection: Connection, person: Member, kind: JobKind[Any], asked: dict[str, Any]
    ) -> Grant | None:
        """What pays; nothing for what is paid from elsewhere, by who has a process all the same."""
        if not kind.needs_grant:
            grants.require_any(connection, person=person.id)
            return None
        purpose, account = asked.get("purpose"), asked.get("account")
        return grants.chosen(connection, person=person.id, purpose=purpose, account=account)

    def _cancelled(self, connection: Connection, *, person: Member, job: str) -> None:
        jobs.lock_person(connection, person.id)
        found = jobs.of_person(connection, person=person.id, job=job)
        if found is None:
            raise unknown_job(job)
        if found.phase.over:
            return
        settings, kind = self._runtime.settings, kind_named(found.kind)
        tells = kind.reads_data and settings.quanta.of(()) > 0
        if found.phase is JobPhase.STARTED and tells:
            overruns.require_left(connection, person=person.id, most=settings.overruns)
        if found.phase is JobPhase.WAITING:
            approvals.withdraw(connection, job=job)
        jobs.cancel(connection, job=job)
        if found.phase is JobPhase.STARTED and tells:
            overruns.add(connection, person=person.id, job=job, level=0)
        if found.phase is not JobPhase.STARTED:
            jobs.let_go(connection, job=job)  # nobody works on it


def unknown_job(job: str) -> InvalidParameter:
    """A job of somebody else is as unknown as one that never was."""
    return InvalidParameter(
        code="job_unknown",
        expectation="the id of a job of yours",
        received=job[:64],
        remedy="GET /api/v1/history lists them.",
    )


def _require_short(connection: Connection, person: Member) -> None:
    if jobs.waiting(connection, person=person.id) > _MOST_WAITING:
        raise Exhausted(
            code="too_many_waiting",
            expectation=f"at most {_MOST_WAITING} questions of yours that wait for their turn",
            remedy="Wait for their answers.",
        )


def _find_job_and_view(
    connection: Connection, *, person: str, job: str
) -> tuple[Job, JobView] | None:
    found = jobs.of_person(connection, person=person, job=job)
    if found is None:
        return None
    if found.release_id is None:
        return found, build_job_view(found)
    kept = releases.of_person(connection, person=person, key=found.release_id)
    return found, build_job_view(found, None if kept is None else kept.document)


def _asker(connection: Connection, *, job: Job) -> tuple[Member, Grant | None]:
    person = people.by_id(connection, job.person_id)
    assert person is not None
    every = grants.of_person(connection, person.id)
    return person, next((each for each in every if each.account == job.grant_id), None)
