"""Questions that wait for the owner or a steward."""

from __future__ import annotations

import json

from fastapi import APIRouter
from starlette.responses import Response

from discreet.server.api.people import Decision
from discreet.server.web.forms import checked
from discreet.server.web.page_context import ApprovePage, PageRoute, redirect
from discreet.server.web.rendering import as_json

router = APIRouter(route_class=PageRoute)


@router.get("/approvals")
async def approvals(page: ApprovePage) -> Response:
    """Questions that nobody has decided about."""
    found = await page.service.approvals.waiting(page.person, after="", count=200)
    left = (await page.service.ledger.budget(page.person))["accounts"] if found else {}
    shown = []
    for each in found:
        asked = json.loads(each.request)
        remaining = left.get(each.grant_id or "", {}).get("remaining")
        shown.append((each, asked.get("sql") or as_json(asked), json.loads(each.price), remaining))
    limit = page.service.runtime.settings.plain()["approval"]
    return page.render("approvals.html", approvals=shown, limit=limit)


@router.post("/approvals/{key}/agree")
async def agree(page: ApprovePage, key: str) -> Response:
    """Let a question be asked, at once."""
    decision = checked(Decision, reason=page.form.text("reason"))
    await page.service.approvals.agree(page.person, key, reason=decision.reason)
    return redirect("/approvals", "agreed")


@router.post("/approvals/{key}/decline")
async def decline(page: ApprovePage, key: str) -> Response:
    """Let a question not be asked."""
    decision = checked(Decision, reason=page.form.text("reason"))
    await page.service.approvals.decline(page.person, key, reason=decision.reason)
    return redirect("/approvals", "declined")
