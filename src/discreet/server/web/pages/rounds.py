"""Rounds: opened by the owner or a steward, submitted to by analysts, closed in public."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.server.refusals import raised
from discreet.server.rights import Action, PersonRole
from discreet.server.services.rounds import RoundTerms
from discreet.server.state.pagination import USUAL, Cursor, cursor_from
from discreet.server.state.rounds import RoundEntry
from discreet.server.web.conditions import conditions_from
from discreet.server.web.forms import checked
from discreet.server.web.page_context import (
    AskPage,
    EnterPage,
    PageContext,
    PageRoute,
    RunRoundsPage,
    redirect,
)
from discreet.server.web.pages.budget import everybody

router = APIRouter(route_class=PageRoute)
After = Annotated[str | None, Query(max_length=200)]


@router.get("/rounds")
async def rounds(page: EnterPage, after: After = None) -> Response:
    """The rounds in which one may submit; all of them for who runs rounds."""
    return await _rounds(page, after)


@router.post("/rounds")
async def open_round(page: RunRoundsPage) -> Response:
    """Open a round, paid from the whole budget."""
    form = page.form
    try:
        spend = {name: form.number(name) for name in ("epsilon", "delta", "rho")}
        terms = checked(
            RoundTerms,
            universe={"sql": form.text("sql")},
            analysts=form.every("analysts"),
            queries_each=form.whole("queries_each"),
            spend={name: value for name, value in spend.items() if value is not None},
            protects=form.text("protects"),
            promise={
                "epsilon": form.number("promise_epsilon"),
                "delta": form.number("promise_delta"),
            },
            ways=form.whole("ways"),
            closes=_moment(form.text("closes")),
            purpose=form.text("purpose"),
        )
        await page.service.rounds.open(page.person, terms)
    except DiscreetError as refusal:
        return await _rounds(page, None, refusal)
    return redirect("/rounds", "opened")


@router.post("/rounds/{key}/submissions")
async def submit(page: AskPage, key: str) -> Response:
    """Keep one's queries for a round, instead of earlier ones."""
    try:
        view = await page.service.rounds.submit(
            page.person, key, conditions_from(page.form.every("where"))
        )
        if view.error is not None:
            raise raised(view.error)
    except DiscreetError as refusal:
        return await _rounds(page, None, refusal)
    return redirect("/rounds", "submitted") if view.phase.over else redirect(f"/jobs/{view.id}")


@router.post("/rounds/{key}/close")
async def close(page: RunRoundsPage, key: str) -> Response:
    """Run a round once its public time has come."""
    try:
        await page.service.rounds.close(page.person, key)
    except DiscreetError as refusal:
        return await _rounds(page, None, refusal)
    return redirect("/rounds", "closed")


async def _rounds(
    page: PageContext, after: str | None, refusal: DiscreetError | None = None
) -> Response:
    runs, asks = page.may(Action.RUN_ROUNDS), page.may(Action.ASK)
    found: list[RoundEntry] = []
    if runs or asks:
        found = await page.service.rounds.list_rounds(
            page.person, before=cursor_from(after), count=USUAL
        )
    analysts = []
    if runs:
        analysts = [
            each.name
            for each in await everybody(page)
            if each.role is PersonRole.ANALYST and each.disabled_at is None
        ]
    told: dict[str, Any] = {
        "rounds": [(each, json.loads(each.about)) for each in found],
        "runs": runs,
        "submits": asks and not runs,
        "analysts": analysts,
        "unit": "rho" if "rho" in page.service.schema["budget"] else "epsilon",
        "next": str(Cursor(found[-1].opened_at, found[-1].id)) if len(found) == USUAL else None,
        "written": page.form.values(),
        "chosen": page.form.every("analysts"),
    }
    if refusal is not None:
        return page.render_refusal("rounds.html", refusal, **told)
    return page.render("rounds.html", **told)


def _moment(text: str) -> datetime | None:
    """A moment as a browser's field writes it, in UTC."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidParameter(
            code="form_moment",
            expectation="a day and a time",
            received=text[:40],
            remedy="Write for instance 2027-01-31T12:00; it is read as UTC.",
        ) from None
