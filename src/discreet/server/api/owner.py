"""The whole budget, the ledger, the record and the settings."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from discreet.server.api.authentication import (
    Amender,
    BudgetReader,
    Entered,
    LedgerReader,
    MetricsReader,
    TheService,
)
from discreet.server.api.pagination import Body, Listing, ThePage
from discreet.server.jobs.models import Finite

router = APIRouter(tags=["owner"])


class Verification(Body):
    """A checkpoint that was kept elsewhere, if there is one."""

    checkpoint: Annotated[str, Field(max_length=500)] | None = None


class Amendment(Body):
    """The new numbers of the whole budget, every one of them, and why."""

    epsilon: Finite | None = None
    delta: Finite | None = None
    rho: Finite | None = None
    reason: str = Field(min_length=1, max_length=1000)


@router.get("/schema")
async def schema(service: TheService, person: Entered) -> dict[str, Any]:
    """What everybody may know of the tables."""
    return service.schema


@router.get("/settings")
async def settings(service: TheService, person: Entered) -> dict[str, Any]:
    """The public limits of the service."""
    return service.runtime.settings.plain()


@router.get("/record")
async def record(service: TheService, person: Entered) -> dict[str, Any]:
    """Who decided what about this data set, and why."""
    return service.runtime.record.plain()


@router.get("/budget")
async def budget(service: TheService, person: BudgetReader) -> dict[str, Any]:
    """The whole budget, and what each grant has spent."""
    return await service.ledger.budget(person)


@router.get("/budget/charges")
async def charges(service: TheService, person: BudgetReader, page: ThePage) -> Listing:
    """Each charge to a grant, in time."""
    found = await service.ledger.spending(person, after=page.number, count=page.count)
    return Listing(items=found["charges"], next=_next(found["next"]))


@router.get("/ledger/entries")
async def entries(service: TheService, person: LedgerReader, page: ThePage) -> Listing:
    """Entries of the ledger as they stand, oldest first."""
    found = await service.ledger.entries(person, after=page.number, count=page.count)
    return Listing(items=found["entries"], next=_next(found["next"]))


@router.post("/ledger/verification")
async def verify(service: TheService, person: LedgerReader, body: Verification) -> dict[str, Any]:
    """Check every seal and total of the ledger."""
    return await service.ledger.verify(person, checkpoint=body.checkpoint)


@router.post("/amendments", status_code=201)
async def amend(service: TheService, person: Amender, body: Amendment) -> dict[str, Any]:
    """Change the whole budget, for a reason that stays on record."""
    stated = {"epsilon": body.epsilon, "delta": body.delta, "rho": body.rho}
    numbers = {name: value for name, value in stated.items() if value is not None}
    return await service.ledger.amend(person, numbers=numbers, reason=body.reason)


@router.get("/audit-log")
async def audit_log(service: TheService, person: MetricsReader, page: ThePage) -> Listing:
    """Who did what, other than asking."""
    found = await service.ledger.audit_log(person, before=page.cursor, count=page.count)
    return page.by_time(
        found,
        lambda each: each.at,
        lambda each: {**asdict(each), "detail": json.loads(each.detail)},
    )


@router.get("/overruns")
async def overruns(service: TheService, person: MetricsReader, page: ThePage) -> Listing:
    """Answers that left later than their quantum."""
    found = await service.ledger.overruns(person, before=page.cursor, count=page.count)
    return page.by_time(found, lambda each: each.at, asdict)


def _next(number: int | None) -> str | None:
    return None if number is None else str(number)
