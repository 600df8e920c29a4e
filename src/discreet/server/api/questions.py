"""Questions, previews, jobs, and one's own history."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from fastapi import APIRouter, Body, Header, Query
from pydantic import Discriminator, Tag
from starlette.responses import Response, StreamingResponse

from discreet.server.api.authentication import Asker, TheService
from discreet.server.api.errors import problem, status_of_plain
from discreet.server.api.pagination import Listing, ThePage
from discreet.server.jobs.kind import JobKind
from discreet.server.jobs.registry import ASKED, PREVIEWED
from discreet.server.services.job_view import JobView
from discreet.server.state.jobs import JobPhase

router = APIRouter(tags=["questions"])

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="The same key with the same request is the same job, however often it is sent.",
    ),
]
Wait = Annotated[
    float | None,
    Query(ge=0, le=3600, description="Seconds to wait for the answer before a job is returned."),
]


class EventStream(StreamingResponse):
    """Server-sent events, under the media type that browsers ask for."""

    media_type = "text/event-stream"


def _any_of(kinds: Sequence[JobKind[Any]]) -> Any:
    """Any of the requests of these kinds, told apart by their field ``kind``; SQL without one."""
    tagged = [Annotated[kind.request, Tag(_word(kind))] for kind in kinds]

    def word(value: Any) -> Any:
        told = value.get("kind", "sql") if isinstance(value, dict) else getattr(value, "kind", "")
        return told if isinstance(told, str) else ""

    return Annotated[reduce(or_, tagged), Discriminator(word), Body()]


def _word(kind: JobKind[Any]) -> str:
    return str(kind.request.model_fields["kind"].default)


if TYPE_CHECKING:
    Question: TypeAlias = Any
    Previewed: TypeAlias = Any
else:
    Question = _any_of(ASKED)
    Previewed = _any_of(PREVIEWED)
_ASKED = {_word(kind): kind.name for kind in ASKED}
_PREVIEWED = {_word(kind): kind.name for kind in PREVIEWED}


@router.post("/questions", responses={202: {"description": "The job goes on."}})
async def ask(
    service: TheService,
    person: Asker,
    body: Question,
    key: IdempotencyKey = None,
    wait: Wait = None,
) -> Response:
    """Ask a question; its answer, or the job that goes on."""
    kind = _ASKED[body.kind]
    return respond_with_job(
        await service.questions.ask(person, body, kind=kind, key=key, wait=wait)
    )


@router.post("/previews")
async def preview(service: TheService, person: Asker, body: Previewed) -> Response:
    """The errors and the price that a question would have; free."""
    return respond_with_job(await service.questions.ask(person, body, kind=_PREVIEWED[body.kind]))


@router.get("/jobs/{job}")
async def look(service: TheService, person: Asker, job: str) -> Response:
    """A job of one's own."""
    return respond_with_job(await service.questions.job(person, job), found=True)


@router.get("/jobs/{job}/events", response_class=EventStream)
async def follow(service: TheService, person: Asker, job: str) -> StreamingResponse:
    """The public phases of a job of one's own as they come, as server-sent events."""
    phases = service.questions.events(person, job)
    first = await anext(phases)  # a refusal is no stream

    async def events() -> AsyncIterator[str]:
        yield _event(first)
        async for view in phases:
            yield _event(view)

    return EventStream(events())


def _event(view: JobView) -> str:
    return f"event: {view.phase.value}\ndata: {json.dumps(head(view))}\n\n"


@router.delete("/jobs/{job}")
async def cancel(service: TheService, person: Asker, job: str) -> Response:
    """Give up a job of one's own; what was charged stays charged."""
    return respond_with_job(await service.questions.cancel(person, job), found=True)


@router.get("/history")
async def history(service: TheService, person: Asker, page: ThePage) -> Listing:
    """What one asked, the latest first."""
    found = await service.questions.history(person, before=page.cursor, count=page.count)
    return page.by_time(
        found, lambda each: each.created_at, lambda v: {**head(v), "request": json.loads(v.request)}
    )


def head(view: JobView) -> dict[str, Any]:
    """A job without its result."""
    return {
        "job": view.id,
        "kind": view.kind,
        "phase": view.phase.value,
        "created_at": view.created_at,
        "account": view.account,
        "charged": view.charged,
        "release": view.release_id,
        "price": view.price,
        "error": view.error,
    }


def respond_with_job(view: JobView, *, found: bool = False) -> Response:
    """A job as it is; a refusal where it was asked for just now and refused."""
    if view.error is not None and not found:
        told = {**view.error, "job": view.id, "charged": view.charged}
        return problem(status_of_plain(view.error), told)
    result = "null" if view.result is None else view.result
    text = f'{json.dumps(head(view))[:-1]}, "result": {result}}}'
    over = found or view.phase in (JobPhase.FINISHED, JobPhase.CANCELLED)
    return Response(text, 200 if over else 202, media_type="application/json")
