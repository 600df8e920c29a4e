"""What epsilon means here, in plain words."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from discreet.core.errors import DiscreetError
from discreet.core.guarantee import Guarantee
from discreet.server.rights import Action
from discreet.server.spends import spend_of
from discreet.server.web.forms import FormFields
from discreet.server.web.meaning import meanings, words_of
from discreet.server.web.page_context import EnterPage, PageContext, PageRoute

router = APIRouter(route_class=PageRoute)


@router.get("/meaning")
async def meaning(page: EnterPage) -> Response:
    """The whole budget, one's own grants, and any price that is tried."""
    fields = FormFields({name: [value] for name, value in page.request.query_params.items()})
    told: dict[str, Any] = {
        "protects": page.service.schema["protects"],
        "written": {name: fields.text(name)[:40] for name in ("epsilon", "delta", "rho")},
        "tried": None,
        "unit": "rho" if "rho" in page.service.schema["budget"] else "epsilon",
        "record": page.service.runtime.record,
    }
    told["budgets"] = await _budgets(page)
    try:
        stated = {name: fields.number(name) for name in ("epsilon", "delta", "rho")}
        price = spend_of(**stated)
        if price is not None:
            told["tried"] = (words_of(price), meanings(price))
    except DiscreetError as refusal:
        return page.render_refusal("meaning.html", refusal, **told)
    return page.render("meaning.html", **told)


async def _budgets(page: PageContext) -> list[tuple[str, str, Any]]:
    """Each budget that concerns somebody, with what it means."""
    whole = spend_of(**page.service.schema["budget"])
    found: list[tuple[str, Guarantee]] = [] if whole is None else [("All answers together", whole)]
    if page.may(Action.ASK):
        found += [
            (f"Your answers for {each.purpose}", each.budget)
            for each in await page.service.budgets.of(page.person)
            if each.set_aside_at is not None
        ]
    return [(name, words_of(each), meanings(each)) for name, each in found]
