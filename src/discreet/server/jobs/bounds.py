"""Bounds of a column that nobody knows: estimated, and paid for."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from discreet.server.jobs.batch import required
from discreet.server.jobs.kind import JobKind, JobProduct, Task
from discreet.server.jobs.models import Before, PricedRequest, paid_before
from discreet.server.spends import spend_to_dict


class BoundsRequest(PricedRequest):
    """A column of a private table."""

    kind: Literal["bounds"] = "bounds"
    table: str
    column: str
    paid_before: Before | None = None


class BoundsKind(JobKind[BoundsRequest]):
    """Answers with two numbers, to a factor of two."""

    name = "bounds"
    request = BoundsRequest

    def tables(self, task: Task, request: BoundsRequest) -> Collection[str]:
        return (request.table,)

    def run(self, task: Task, request: BoundsRequest) -> JobProduct:
        spend = required(request.spend())
        task.require_agreed(spend)
        found = task.session.bounds(
            request.table,
            request.column,
            spend=spend,
            analyst=task.analyst,
            purpose=task.purpose,
            paid_before=paid_before(request.paid_before),
        )
        told = {
            "column": found.column,
            "low": found.low,
            "high": found.high,
            "needed": found.needed,
            "guarantee": spend_to_dict(found.guarantee),
        }
        return JobProduct(result=told, question=f"bounds of {request.table}.{request.column}")
