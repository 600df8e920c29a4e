"""The whole budget: what is set aside, for whom and what for, how it burns down, changing it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from discreet.core.errors import DiscreetError
from discreet.server.api.owner import Amendment
from discreet.server.rights import PersonRole
from discreet.server.state.people import Member
from discreet.server.web.forms import checked
from discreet.server.web.page_context import (
    AmendPage,
    PageContext,
    PageRoute,
    ReadBudgetPage,
    redirect,
)
from discreet.server.web.spending import spending_report

router = APIRouter(route_class=PageRoute)


@router.get("/budget")
async def budget(page: ReadBudgetPage) -> Response:
    """Where the budget goes."""
    return await _budget(page)


@router.post("/budget/amendments")
async def amend(page: AmendPage) -> Response:
    """Change the whole budget, for a reason that stays on record."""
    try:
        stated = {name: page.form.number(name) for name in ("epsilon", "delta", "rho")}
        asked = checked(Amendment, **stated, reason=page.form.text("reason"))
        numbers = {name: value for name, value in stated.items() if value is not None}
        done = await page.service.ledger.amend(page.person, numbers=numbers, reason=asked.reason)
    except DiscreetError as refusal:
        return await _budget(page, refusal)
    page.service.schema = {**page.service.schema, "budget": done["budget"]}
    return redirect("/budget", "amended")


async def everybody(page: PageContext) -> list[Member]:
    """All people, in the order of names."""
    found: list[Member] = []
    while more := await page.service.people.list_people(
        page.person, after=found[-1].name if found else "", count=200
    ):
        found += more
    return found


async def _budget(page: PageContext, refusal: DiscreetError | None = None) -> Response:
    people = await everybody(page)
    report = await spending_report(
        page.service.ledger,
        page.person,
        {each.id: each.name for each in people},
        datetime.now(UTC).timestamp(),
    )
    told: dict[str, Any] = {
        "report": report,
        "written": page.form.values(),
        "missing": page.service.runtime.record.missing,
        "analysts": [each for each in people if each.role is PersonRole.ANALYST],
    }
    if refusal is not None:
        return page.render_refusal("budget.html", refusal, **told)
    return page.render("budget.html", **told)
