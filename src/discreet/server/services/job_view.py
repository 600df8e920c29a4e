"""What somebody may know of a job of their own: doors show it, and nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from discreet.server.state.jobs import Job, JobPhase


@dataclass(frozen=True)
class JobView:
    """A job as its person may see it.

    Attributes:
        id: By which it is found again.
        kind: Of the question.
        phase: How far it is.
        created_at: When it was asked, in milliseconds of the database's time.
        account: What pays.
        request: What was asked, as JSON text.
        charged: Whether something was reserved for it, as the ledger says.
        error: Why it failed, if it did.
        release_id: Where its release is kept, if there is one.
        result: What came of it, as JSON text; None until then.
        price: Where it waits for approval: of what.
    """

    id: str
    kind: str
    phase: JobPhase
    created_at: int
    account: str | None
    request: str
    charged: bool = False
    error: dict[str, Any] | None = None
    release_id: str | None = None
    result: str | None = None
    price: dict[str, float] | None = None


def view_of(job: Job, phase: JobPhase, **more: Any) -> JobView:
    """A job in some phase, with what is known beside."""
    return JobView(
        id=job.id,
        kind=job.kind,
        phase=phase,
        created_at=job.created_at,
        account=job.grant_id,
        request=job.request,
        **more,
    )


def build_job_view(job: Job, result: str | None = None) -> JobView:
    """A job as the state has it, if it may be seen so."""
    return view_of(
        job,
        job.phase,
        charged=bool(job.reservation),
        error=None if job.error is None else json.loads(job.error),
        release_id=job.release_id,
        result=job.result if result is None else result,
        price=None if job.price is None else json.loads(job.price),
    )
