"""Oneself: budgets, tokens for programs; and what everybody may know: the record, the settings."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from discreet.core.errors import DiscreetError
from discreet.server.rights import Action
from discreet.server.services.people import TOKEN_DAYS
from discreet.server.web.page_context import EnterPage, PageContext, PageRoute, redirect

router = APIRouter(route_class=PageRoute)
FIELDS = {
    "purpose": "What the answers are for",
    "unit": "Whose privacy is protected",
    "data_subjects": "Who the data are about",
    "decision_makers": "Who decides",
    "data_users": "Who uses the answers",
    "impacted": "Who is affected",
    "privacy_boundary": "Where trust ends",
    "data_window": "Which data",
    "attack_model": "Against whom",
    "environment": "Where it runs",
    "accuracy": "How accurate it must be",
    "epsilon_set_by": "Who set epsilon",
    "epsilon_reason": "Why it is this one",
    "maintained_by": "Who looks after it",
    "review_date": "When it is looked at again",
    "failure_plan": "If something goes wrong",
    "residual_harms": "What is not prevented",
    "told_to_people": "What people were told",
    "information_flow": "How information flows",
}


@router.get("/account")
async def account(page: EnterPage) -> Response:
    """One's own budgets and tokens."""
    return await _account(page)


@router.post("/account/tokens")
async def new_token(page: EnterPage) -> Response:
    """A token for programs; it is shown this once."""
    try:
        made = await page.service.people.new_token(
            page.person,
            label=page.form.text("label"),
            days=page.form.whole("days") or TOKEN_DAYS,
            replaces=page.form.maybe("replaces"),
        )
    except DiscreetError as refusal:
        return await _account(page, refusal)
    return await _account(page, token=made.token)


@router.post("/account/tokens/revoke")
async def revoke(page: EnterPage) -> Response:
    """End a token."""
    await page.service.people.revoke(page.person, page.form.text("token"))
    return redirect("/account", "revoked")


@router.get("/record")
async def record(page: EnterPage) -> Response:
    """Who decided what about this data set, and the public limits of the service."""
    plain = page.service.runtime.record.plain()
    missing = page.service.runtime.record.missing
    return page.render(
        "record.html",
        fields=[(words, plain[name], name in missing) for name, words in FIELDS.items()],
        missing=missing,
        settings=page.service.runtime.settings.plain(),
        budget=page.service.schema["budget"],
    )


async def _account(
    page: PageContext, refusal: DiscreetError | None = None, token: str | None = None
) -> Response:
    told: dict[str, Any] = {
        "tokens": await page.service.people.tokens(page.person),
        "token": token,
        "address": page.service.runtime.settings.address or str(page.request.base_url).rstrip("/"),
        "days": TOKEN_DAYS,
        "own": None,
        "busy": False,
    }
    if page.may(Action.ASK):
        try:
            told["own"] = await page.service.accounts.own(page.person)
        except DiscreetError as trouble:
            if trouble.code not in ("still_working", "no_grant"):
                raise
            told["busy"] = trouble.code == "still_working"
    if refusal is not None:
        return page.render_refusal("account.html", refusal, **told)
    return page.render("account.html", **told)
