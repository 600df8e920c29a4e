"""Rounds: one release for the queries of many analysts, which none of them sees of another."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from discreet.server.api.authentication import Asker, RoundKeeper, TheService
from discreet.server.api.pagination import Body, Listing, ThePage
from discreet.server.api.questions import respond_with_job
from discreet.server.jobs.universe import Conditions
from discreet.server.services.rounds import RoundTerms
from discreet.server.state.rounds import RoundEntry

router = APIRouter(tags=["rounds"])


class Submission(Body):
    """One's own queries, instead of earlier ones; there may be none."""

    where: list[Conditions] = Field(max_length=10_000)


@router.get("/rounds")
async def rounds(service: TheService, person: Asker, page: ThePage) -> Listing:
    """The rounds in which one may submit; all of them for who runs rounds."""
    found = await service.rounds.list_rounds(person, before=page.cursor, count=page.count)
    return page.by_time(found, lambda each: each.opened_at, _plain)


@router.post("/rounds", status_code=201)
async def open_round(service: TheService, person: RoundKeeper, body: RoundTerms) -> dict[str, Any]:
    """Open a round, paid from the whole budget."""
    entry, opened = await service.rounds.open(person, body)
    return {**_plain(entry), "plan": opened["plan"]}


@router.post("/rounds/{key}/submissions")
async def submit(service: TheService, person: Asker, key: str, body: Submission) -> Response:
    """Submit one's own queries."""
    return respond_with_job(await service.rounds.submit(person, key, body.where))


@router.post("/rounds/{key}/close")
async def close(service: TheService, person: RoundKeeper, key: str) -> dict[str, Any]:
    """Run a round, once its public time has come; everybody finds their share in their releases."""
    return _plain(await service.rounds.close(person, key))


def _plain(entry: RoundEntry) -> dict[str, Any]:
    return {
        "round": entry.id,
        "opened_at": entry.opened_at,
        "closes_at": entry.closes_at,
        "closed_at": entry.closed_at,
        "about": json.loads(entry.about),
    }
