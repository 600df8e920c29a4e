"""Several questions at one price, whose answers agree with each other."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Field

from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.curator.context import tables_read
from discreet.release.batch import Batch
from discreet.server.jobs.kind import JobKind, JobProduct, Task
from discreet.server.jobs.models import (
    Before,
    Finite,
    PricedRequest,
    Sql,
    WantedReport,
    paid_before,
)
from discreet.server.jobs.sql import released
from discreet.server.spends import spend_to_dict

Named = Annotated[dict[str, Sql], Field(min_length=1, max_length=200)]


class BatchRequest(PricedRequest):
    """Questions by name, and one price."""

    kind: Literal["batch"] = "batch"
    queries: Named
    importance: dict[str, Finite] | None = None
    confidence: Finite = 0.95
    left_out: WantedReport | None = None
    paid_before: Before | None = None


class BatchKind(JobKind[BatchRequest]):
    """Answers with a release for each question."""

    name = "batch"
    request = BatchRequest

    def tables(self, task: Task, request: BatchRequest) -> Collection[str]:
        asked = (task.session.context.query(text) for text in request.queries.values())
        return frozenset().union(*map(tables_read, asked))

    def run(self, task: Task, request: BatchRequest) -> JobProduct:
        spend = required(request.spend())
        if task.approval is not None:
            for text in request.queries.values():
                task.session.context.query(text)
            task.require_agreed(spend)
        batch = task.session.batch(
            dict(request.queries),
            spend=spend,
            importance=request.importance,
            confidence=request.confidence,
            analyst=task.analyst,
            purpose=task.purpose,
            paid_before=paid_before(request.paid_before),
            left_out=None if request.left_out is None else request.left_out.build_left_out(),
        )
        named = {name: released(release) for name, release in batch.items()}
        return JobProduct(
            result={
                "batch": named,
                "unprocessed": independent(batch),
                "guarantee": spend_to_dict(batch.guarantee),
            },
            question=f"batch of {', '.join(request.queries)}",
            release=next(iter(batch.values())).id,
        )


def independent(batch: Batch) -> dict[str, Any]:
    """Answers with independent noise in every cell, where they are not the batch's own."""
    return {
        name: json.loads(release.to_json())
        for name, release in batch.unprocessed.items()
        if release is not batch[name]
    }


def required(spend: Guarantee | None) -> Guarantee:
    """A price that must be stated."""
    if spend is None:
        raise InvalidParameter(
            code="spend_or_accuracy",
            expectation="a price; there is no default",
            remedy='Add "epsilon": 0.5, or "rho": 0.1.',
        )
    return spend
