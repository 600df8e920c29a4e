"""People and their budgets: adding, new links, shutting out, granting."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from discreet.core.errors import DiscreetError
from discreet.server.api.people import NewGrant, NewPerson
from discreet.server.jobs.batch import required
from discreet.server.rights import Action, PersonRole
from discreet.server.services.people import LINK_DAYS
from discreet.server.spends import spend_of, spend_to_dict
from discreet.server.state.grants import Grant
from discreet.server.web.forms import checked
from discreet.server.web.page_context import (
    GrantPage,
    ManagePeoplePage,
    PageContext,
    PageRoute,
    ReadBudgetPage,
    redirect,
)
from discreet.server.web.pages.budget import everybody

router = APIRouter(route_class=PageRoute)


@router.get("/people")
async def people(page: ReadBudgetPage) -> Response:
    """Everybody with their budgets."""
    return await _people(page)


@router.post("/people")
async def add(page: ManagePeoplePage) -> Response:
    """Add somebody; their one-time link is shown this once."""
    try:
        form = page.form
        asked = checked(
            NewPerson,
            name=form.text("name"),
            role=form.text("role"),
            email=form.maybe("email"),
        )
        made = await page.service.people.add(
            page.person, name=asked.name, role=asked.role, email=asked.email
        )
        link = await page.service.people.new_link(page.person, made.name)
    except DiscreetError as refusal:
        return await _people(page, refusal)
    return await _people(page, link=(made.name, _address(page, link)))


@router.post("/people/link")
async def new_link(page: ManagePeoplePage) -> Response:
    """A new one-time link for somebody; an earlier one ends."""
    name = page.form.text("name")
    try:
        link = await page.service.people.new_link(page.person, name)
    except DiscreetError as refusal:
        return await _people(page, refusal)
    return await _people(page, link=(name, _address(page, link)))


@router.post("/people/disable")
async def disable(page: ManagePeoplePage) -> Response:
    """Let nobody in under a name any more."""
    try:
        await page.service.people.disable(page.person, page.form.text("name"))
    except DiscreetError as refusal:
        return await _people(page, refusal)
    return redirect("/people", "disabled")


@router.post("/people/tokens")
async def end_tokens(page: ManagePeoplePage) -> Response:
    """End all tokens of somebody; their password stays."""
    try:
        await page.service.people.end_tokens(page.person, page.form.text("name"))
    except DiscreetError as refusal:
        return await _people(page, refusal)
    return redirect("/people", "tokens_ended")


@router.post("/grants")
async def grant(page: GrantPage) -> Response:
    """Set a budget aside for somebody and a purpose."""
    try:
        stated = {name: page.form.number(name) for name in ("epsilon", "delta", "rho")}
        form = page.form
        asked = checked(NewGrant, name=form.text("name"), purpose=form.text("purpose"), **stated)
        budget = required(spend_of(**stated))
        await page.service.budgets.grant(
            page.person, name=asked.name, purpose=asked.purpose, budget=budget
        )
    except DiscreetError as refusal:
        return await _people(page, refusal)
    return redirect("/people", "granted")


async def _people(
    page: PageContext,
    refusal: DiscreetError | None = None,
    link: tuple[str, str] | None = None,
) -> Response:
    found = await everybody(page)
    granted = await _grants(page)
    told: dict[str, Any] = {
        "people": [
            (
                each,
                [
                    (grant.purpose, spend_to_dict(grant.budget))
                    for grant in granted.get(each.id, [])
                ],
            )
            for each in found
        ],
        "askers": [
            each.name
            for each in found
            if each.disabled_at is None and each.role in (PersonRole.ANALYST, PersonRole.OWNER)
        ],
        "roles": [
            each
            for each in PersonRole
            if page.person.role is PersonRole.OWNER
            or each in (PersonRole.ANALYST, PersonRole.AUDITOR)
        ],
        "unit": "rho" if "rho" in page.service.schema["budget"] else "epsilon",
        "manages": page.may(Action.MANAGE_PEOPLE),
        "grants": page.may(Action.GRANT),
        "issuer": page.service.runtime.settings.oidc is not None,
        "link": link,
        "days": LINK_DAYS,
        "written": page.form.values(),
    }
    if refusal is not None:
        return page.render_refusal("people.html", refusal, **told)
    return page.render("people.html", **told)


async def _grants(page: PageContext) -> dict[str, list[Grant]]:
    found: dict[str, list[Grant]] = {}
    after = ""
    while more := await page.service.ledger.grants(page.person, after=after, count=200):
        for each in more:
            found.setdefault(each.person, []).append(each)
        after = more[-1].account
    return found


def _address(page: PageContext, secret: str) -> str:
    base = page.service.runtime.settings.address or str(page.request.base_url).rstrip("/")
    return f"{base}/enter/{secret}"
