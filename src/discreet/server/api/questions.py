"""Questions and jobs."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Header
from starlette.responses import Response

from discreet.server.api.caller import Asker, TheService
from discreet.server.api.errors import problem, status_of_plain
from discreet.server.jobs.sql import SqlRequest
from discreet.server.state.jobs import JobPhase
from discreet.server.verbs.questions import JobView

router = APIRouter(tags=["questions"])
Key = Annotated[str | None, Header(alias="Idempotency-Key", max_length=200)]


@router.post("/questions")
async def ask(
    service: TheService, person: Asker, body: SqlRequest, key: Key = None, wait: float | None = None
) -> Response:
    """Ask a question; its answer, or the job that goes on."""
    view = await service.questions.ask(person, body, kind=body.kind, key=key, wait=wait)
    return told(view)


@router.get("/jobs/{job}")
async def look(service: TheService, person: Asker, job: str) -> Response:
    """A job of one's own."""
    return told(await service.questions.job(person, job), found=True)


def told(view: JobView, *, found: bool = False) -> Response:
    """A job as it is; a refusal where it was asked for just now and refused."""
    if view.error is not None and not found:
        return problem(status_of_plain(view.error), {**view.error, "job": view.id})
    head: dict[str, Any] = {
        "job": view.id,
        "kind": view.kind,
        "phase": view.phase.value,
        "created_at": view.created_at,
        "account": view.account,
        "release": view.release_id,
        "price": view.price,
        "error": view.error,
    }
    result = "null" if view.result is None else view.result
    text = f'{json.dumps(head)[:-1]}, "result": {result}}}'
    over = view.phase is JobPhase.FINISHED or found
    return Response(text, 200 if over else 202, media_type="application/json")
