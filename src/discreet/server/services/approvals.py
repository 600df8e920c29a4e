"""Approving: questions above the owner's limit wait until the owner or a steward has decided."""

from __future__ import annotations

from sqlalchemy import Connection

from discreet.core.errors import InvalidParameter
from discreet.server.refusals import described
from discreet.server.rights import Action, require
from discreet.server.runtime import Runtime
from discreet.server.services.questions import Questions
from discreet.server.state import approvals, audit_log, jobs
from discreet.server.state.approvals import AGREED, DECLINED, Approval
from discreet.server.state.jobs import Job, JobPhase
from discreet.server.state.people import Member


class Approvals:
    """What waits, and deciding about it."""

    def __init__(self, runtime: Runtime, questions: Questions) -> None:
        """Decide nothing yet."""
        self._state = runtime.state
        self._questions = questions

    async def waiting(self, actor: Member, *, after: str, count: int) -> list[Approval]:
        """Questions that nobody has decided about."""
        require(actor.role, Action.APPROVE)
        return await self._state.read(approvals.waiting, after=after, count=count)

    async def agree(self, actor: Member, key: str, *, reason: str) -> Approval:
        """Let a question be asked at its price; it is, at once."""
        require(actor.role, Action.APPROVE)
        found, job = await self._state.write(
            _decided, actor=actor, key=key, verdict=AGREED, reason=reason
        )
        await self._questions.resume(job)
        return found

    async def decline(self, actor: Member, key: str, *, reason: str) -> Approval:
        """Let a question not be asked; nothing was charged."""
        require(actor.role, Action.APPROVE)
        found, _ = await self._state.write(
            _decided, actor=actor, key=key, verdict=DECLINED, reason=reason
        )
        return found


def _decided(
    connection: Connection, *, actor: Member, key: str, verdict: str, reason: str
) -> tuple[Approval, Job]:
    found = approvals.decide(connection, key=key, by=actor.name, verdict=verdict, reason=reason)
    job = jobs.by_id(connection, found.job_id)
    assert job is not None
    if job.phase is not JobPhase.WAITING:
        raise approvals.unknown(key)
    if verdict == DECLINED:
        told = described(declined(reason))
        jobs.end(connection, job=job.id, phase=JobPhase.FAILED, leaves_in=0, error=told)
    detail = {"price": found.price, "verdict": verdict, "reason": reason}
    audit_log.add(connection, by=actor.name, what="decide", about=found.name, detail=detail)
    return found, job


def declined(reason: str) -> InvalidParameter:
    """What an analyst is told."""
    return InvalidParameter(
        code="approval_declined",
        expectation="a question that the owner or a steward agrees to",
        received=reason or None,
        remedy="Ask at a lower price, or speak with them. Nothing was charged.",
    )
