"""Synopses: made once and paid for; their tables and answers are free from then on."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import Field

from discreet.core.errors import InvalidParameter
from discreet.curator.synopsis.release import SynopsisRelease
from discreet.curator.synopsis.stored_form import synopsis_from_json, synopsis_to_json
from discreet.queries.workload.conditions import query_where
from discreet.queries.workload.workload import Workload
from discreet.server.jobs.batch import required
from discreet.server.jobs.json_values import plain_rows
from discreet.server.jobs.kind import JobKind, JobProduct, JobRequest, Task
from discreet.server.jobs.models import Before, PricedRequest, paid_before
from discreet.server.jobs.sql import released
from discreet.server.jobs.universe import Conditions, WantedUniverse, conditions_for, tables_of
from discreet.server.spends import spend_to_dict

Mechanism = Literal["best", "marginals", "matrix", "mwem"]


class SynopsisRequest(PricedRequest):
    """Counts by up to ``ways`` attributes of a universe at a time, or by each of ``marginals``."""

    kind: Literal["synopsis"] = "synopsis"
    universe: WantedUniverse
    ways: Annotated[int, Field(ge=1, le=16)] = 2
    marginals: Annotated[list[list[str]], Field(min_length=1, max_length=500)] | None = None
    mechanism: Mechanism = "best"
    rounds: Annotated[int, Field(ge=1, le=10_000)] | None = None
    paid_before: Before | None = None

    def workload(self, task: Task) -> Workload:
        """What it is made for."""
        universe = self.universe.build_universe(task.session)
        if self.marginals is not None:
            return Workload.union(*(Workload.marginal(universe, each) for each in self.marginals))
        return Workload.marginals(universe, min(self.ways, len(universe.names)))


class SynopsisKind(JobKind[SynopsisRequest]):
    """Answers with all of the synopsis, and the expected noise of each marginal."""

    name = "synopsis"
    request = SynopsisRequest

    def tables(self, task: Task, request: SynopsisRequest) -> Collection[str]:
        return tables_of(task, request.universe)

    def run(self, task: Task, request: SynopsisRequest) -> JobProduct:
        spend = required(request.spend())
        workload, make = request.workload(task), maker(request.mechanism, request.rounds)
        if task.approval is not None:
            task.session.preview(workload, mechanism=make, spend=spend)
            task.require_agreed(spend)
        made = task.session.synopsis(
            workload,
            mechanism=make,
            spend=spend,
            analyst=task.analyst,
            purpose=task.purpose,
            paid_before=paid_before(request.paid_before),
        )
        return JobProduct(result=synopsis_result(made), question=made.query, release=made.id)


class SynopsisPreviewKind(JobKind[SynopsisRequest]):
    """What a synopsis would be like, and cost. Free."""

    name = "synopsis_preview"
    request = SynopsisRequest
    reads_data = False
    kept = False

    def run(self, task: Task, request: SynopsisRequest) -> JobProduct:
        ahead = task.session.preview(
            request.workload(task),
            mechanism=maker(request.mechanism, request.rounds),
            spend=required(request.spend()),
        )
        marginals = [
            {"attributes": list(m.attributes), "queries": m.queries, "sd": m.sd, "worst": m.worst}
            for m in ahead.marginals
        ]
        return JobProduct(
            result={
                "question": ahead.query,
                "queries": ahead.queries,
                "rmse": ahead.rmse,
                "marginals": marginals,
                "price": spend_to_dict(ahead.price),
                "affordable": ahead.affordable,
                "text": str(ahead),
            }
        )


class SynopsisTableRequest(JobRequest):
    """Counts by some attributes, or of records that meet conditions, from a stored synopsis."""

    document: dict[str, Any]
    by: list[str] | None = None
    where: Annotated[list[Conditions], Field(max_length=5000)] | None = None


class SynopsisTableKind(JobKind[SynopsisTableRequest]):
    """Reads what was released, and nothing else."""

    name = "synopsis_table"
    request = SynopsisTableRequest
    reads_data = False
    needs_grant = False
    kept = False

    def run(self, task: Task, request: SynopsisTableRequest) -> JobProduct:
        made = synopsis_from_json(json.dumps(request.document))
        return JobProduct(result=answered(made, request.by, request.where))


def answered(
    made: SynopsisRelease, by: list[str] | None, where: list[Conditions] | None
) -> dict[str, Any]:
    """A table of a synopsis, or its answers to conditions."""
    if (by is None) == (where is None):
        raise InvalidParameter(
            code="by_or_where",
            expectation="attributes to count by, or conditions to count",
            remedy='Write {"by": ["ward"]}, or {"where": [{"ward": "medicine"}]}.',
        )
    if by is not None:
        return released(made.table(*by))
    universe = made.universe
    counts = made.counts
    asked = [query_where(universe, conditions_for(universe, each)) for each in where or []]
    return {"answers": [query.answer(counts) for query in asked]}


def synopsis_result(made: SynopsisRelease) -> dict[str, Any]:
    """A synopsis for whoever asked; its first table as well."""
    first = made.table(*made.universe.names[:1])
    return {
        "synopsis": json.loads(synopsis_to_json(made)),
        "rows": plain_rows(first),
        "statement": str(made.statement),
    }


def maker(mechanism: Mechanism, rounds: int | None) -> Callable[..., Any]:
    """What makes the mechanism of a workload and a spend."""
    from discreet import queries

    if (mechanism == "mwem") != (rounds is not None):
        raise InvalidParameter(
            code="rounds_unclear",
            expectation='rounds with "mechanism": "mwem", and with no other',
            received=mechanism,
            remedy='Write "mechanism": "mwem", "rounds": 8, or leave rounds out.',
        )
    if rounds is not None:
        return partial(queries.MWEM, rounds=rounds, size=queries.NoisyRecordCount())
    made: dict[str, Callable[..., Any]] = {
        "best": queries.best_mechanism,
        "marginals": queries.MarginalMechanism,
        "matrix": queries.MatrixMechanism,
    }
    return made[mechanism]
