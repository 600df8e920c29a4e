"""Submissions to a round: kept in the ledger under the owner's key, and seen by nobody else."""

from __future__ import annotations

import time
from typing import Annotated

from pydantic import Field

from discreet.core.errors import DiscreetError
from discreet.curator.rounds.round import Round
from discreet.server.jobs.kind import JobKind, JobProduct, JobRequest, Task
from discreet.server.jobs.universe import Conditions, conditions_for

_TRIES = 20
_NAP = 0.05


class SubmissionRequest(JobRequest):
    """One's own queries for a round, instead of earlier ones; there may be none."""

    round: str
    opened_by: str
    where: Annotated[list[Conditions], Field(max_length=10_000)]


class SubmissionKind(JobKind[SubmissionRequest]):
    """Several analysts take the round up in turn; who is second takes it up again.

    It leaves at the quantum, so that nobody sees whether somebody else submitted meanwhile.
    """

    name = "round_submission"
    request = SubmissionRequest
    needs_grant = False

    def run(self, task: Task, request: SubmissionRequest) -> JobProduct:
        task.touches_data()
        for attempt in range(_TRIES):
            try:
                found: Round = task.curator.resume(request.round, analyst=request.opened_by)
                universe = found.universe
                found.submit(
                    task.analyst, [conditions_for(universe, each) for each in request.where]
                )
                break
            except DiscreetError as refusal:
                if refusal.code != "conversation_taken" or attempt == _TRIES - 1:
                    raise
            time.sleep(_NAP)
        return JobProduct(
            result={"round": request.round, "submitted": len(request.where)},
            question=f"{len(request.where)} queries for a round",
        )
