"""Batches: several questions at one price, written one below the other."""

from __future__ import annotations

import re
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.server.jobs.batch import BatchRequest
from discreet.server.web.after_asking import accounts_of, onward
from discreet.server.web.forms import checked
from discreet.server.web.page_context import AskPage, PageContext, PageRoute

router = APIRouter(route_class=PageRoute)
_NAMED = re.compile(r"(\w+)\s*:\s*(\S.*)", re.DOTALL)


@router.get("/batches")
async def batches(page: AskPage) -> Response:
    """The form, with nothing in it yet."""
    return await _batches(page)


@router.post("/batches")
async def ask(page: AskPage) -> Response:
    """Ask all of them, and pay once."""
    form = page.form
    try:
        request = checked(
            BatchRequest,
            queries=questions_from(form.text("questions")),
            account=form.maybe("account"),
            epsilon=form.number("epsilon"),
            delta=form.number("delta"),
        )
        view = await page.service.questions.ask(page.person, request, kind="batch")
        return await onward(page, view)
    except DiscreetError as refusal:
        return await _batches(page, refusal)


def questions_from(text: str) -> dict[str, str]:
    r"""Questions by name, with an empty line between two of them.

    >>> questions_from("all: SELECT 1\n\nwards:\nSELECT 2\nFROM t")
    {'all': 'SELECT 1', 'wards': 'SELECT 2\nFROM t'}
    """
    found: dict[str, str] = {}
    for part in re.split(r"\n\s*\n", text.strip()):
        named = _NAMED.fullmatch(part.strip())
        if named is None or named[1] in found:
            raise InvalidParameter(
                code="batch_misread",
                expectation="questions with a name and a colon before each, an empty line between "
                "two, and no name twice",
                received=part.strip()[:80],
                remedy="Write for instance wards: SELECT ward, COUNT(*) AS n FROM visits "
                "GROUP BY ward.",
            )
        found[named[1]] = named[2].strip()
    return found


async def _batches(page: PageContext, refusal: DiscreetError | None = None) -> Response:
    told: dict[str, Any] = {"written": page.form.values(), "accounts": await accounts_of(page)}
    if refusal is not None:
        return page.render_refusal("batches.html", refusal, **told)
    return page.render("batches.html", **told)
