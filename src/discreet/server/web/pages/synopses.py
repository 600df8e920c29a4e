"""Synopses: counts by several attributes at once, paid for once; the errors are shown before."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from discreet.core.errors import DiscreetError
from discreet.server.jobs.synopsis import SynopsisRequest
from discreet.server.refusals import raised
from discreet.server.web.after_asking import accounts_of, onward
from discreet.server.web.forms import checked
from discreet.server.web.page_context import AskPage, PageContext, PageRoute

router = APIRouter(route_class=PageRoute)


@router.get("/synopses")
async def synopses(page: AskPage) -> Response:
    """The form, with nothing in it yet."""
    return await _synopses(page)


@router.post("/synopses")
async def make(page: AskPage) -> Response:
    """Make one, and pay for it."""
    try:
        view = await page.service.questions.ask(
            page.person, _read_synopsis_request(page), kind="synopsis"
        )
        return await onward(page, view)
    except DiscreetError as refusal:
        return await _synopses(page, refusal)


@router.post("/synopses/look")
async def look(page: AskPage) -> Response:
    """How wrong its tables would be, and its price; free."""
    try:
        view = await page.service.questions.ask(
            page.person, _read_synopsis_request(page), kind="synopsis_preview"
        )
        if view.error is not None:
            raise raised(view.error)
    except DiscreetError as refusal:
        return await _synopses(page, refusal)
    return await _synopses(page, ahead=json.loads(view.result or "null"))


def _read_synopsis_request(page: PageContext) -> SynopsisRequest:
    form = page.form
    return checked(
        SynopsisRequest,
        universe={"sql": form.text("sql")},
        ways=form.whole("ways"),
        mechanism=form.maybe("mechanism"),
        account=form.maybe("account"),
        epsilon=form.number("epsilon"),
        delta=form.number("delta"),
    )


async def _synopses(
    page: PageContext,
    refusal: DiscreetError | None = None,
    *,
    ahead: dict[str, Any] | None = None,
) -> Response:
    told: dict[str, Any] = {
        "written": page.form.values(),
        "accounts": await accounts_of(page),
        "ahead": ahead,
    }
    if refusal is not None:
        return page.render_refusal("synopses.html", refusal, **told)
    return page.render("synopses.html", **told)
