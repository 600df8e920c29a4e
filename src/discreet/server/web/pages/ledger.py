"""The ledger: its entries as they stand, and checking every seal; the log beside it."""

from __future__ import annotations

import json
from fractions import Fraction
from statistics import median
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.release.format import at_most
from discreet.server.rights import PersonRole
from discreet.server.state.pagination import Cursor, cursor_from
from discreet.server.web.page_context import MonitorPage, PageContext, PageRoute, ReadLedgerPage
from discreet.server.web.pages.budget import everybody
from discreet.server.web.rendering import as_json

router = APIRouter(route_class=PageRoute)
After = Annotated[int, Query(ge=0, le=2**53)]
Earlier = Annotated[str | None, Query(max_length=200)]
PAGE = 50
_MISREAD = InvalidParameter(
    code="not_a_head",
    expectation="a checkpoint: a number, a colon and 64 hexadecimal digits",
    remedy="Paste the line that Verify showed you, all of it; or leave the field empty.",
)


@router.get("/ledger")
async def ledger(page: ReadLedgerPage, after: After = 0) -> Response:
    """Entries from a number on."""
    return await _ledger(page, after)


@router.post("/ledger/verification")
async def verify(page: ReadLedgerPage) -> Response:
    """Check every seal and total, and that a checkpoint that was kept is there."""
    try:
        found = await page.service.ledger.verify(
            page.person, checkpoint=page.form.maybe("checkpoint")
        )
    except DiscreetError as refusal:
        told = _MISREAD if refusal.code == _MISREAD.code else refusal
        return await _ledger(page, 0, refusal=told)
    return await _ledger(page, 0, verified=found)


@router.get("/log")
async def log(page: MonitorPage, after: Earlier = None) -> Response:
    """Who did what, other than asking; and answers that left late."""
    done = await page.service.ledger.audit_log(page.person, before=cursor_from(after), count=PAGE)
    late = await page.service.ledger.overruns(page.person, before=cursor_from(None), count=PAGE)
    last = str(Cursor(done[-1].at, done[-1].id)) if len(done) == PAGE else None
    shown = [(each, _detail(each.detail)) for each in done]
    quanta = page.service.runtime.settings.quanta
    return page.render(
        "log.html",
        actions=shown,
        overruns=late,
        next=last,
        took=_took(page),
        quantum=quanta.of(()),
        step=quanta.step,
    )


def _took(page: PageContext) -> dict[str, str] | None:
    """How long the latest answers took before padding; None for everybody but the owner."""
    found = page.service.job_runner.took()
    if page.person.role is not PersonRole.OWNER or not found:
        return None
    return {
        "count": str(len(found)),
        "half": f"{median(found):.2g}",
        "longest": f"{found[-1]:.2g}",
    }


async def _ledger(
    page: PageContext,
    after: int,
    *,
    refusal: DiscreetError | None = None,
    verified: dict[str, Any] | None = None,
) -> Response:
    found = await page.service.ledger.entries(page.person, after=after, count=PAGE)
    granted = await _granted(page)
    told: dict[str, Any] = {
        "entries": [(each, about(each, granted), as_json(each)) for each in found["entries"]],
        "after": after,
        "before": max(0, after - PAGE),
        "next": found["next"],
        "verified": verified,
        "checkpoint": page.form.text("checkpoint"),
    }
    if refusal is not None:
        return page.render_refusal("ledger.html", refusal, **told)
    return page.render("ledger.html", **told)


async def _granted(page: PageContext) -> dict[str, str]:
    """Whose each grant is, and what for, by the name that it has in the ledger."""
    names = {each.id: each.name for each in await everybody(page)}
    found: dict[str, str] = {}
    after = ""
    while more := await page.service.ledger.grants(page.person, after=after, count=200):
        found |= {each.account: f"{names[each.person]}, for {each.purpose}" for each in more}
        after = more[-1].account
    return found


def about(entry: dict[str, Any], granted: dict[str, str]) -> str:
    """What an entry is about, in a few words."""
    body = entry.get("body") or {}
    charge = ", ".join(at_most(Fraction(str(part))) for part in body.get("charge", ()))
    said = [str(body["asker"])] if body.get("asker") else []
    if body.get("name") in granted:
        said.append(f"to {granted[body['name']]}")
    if charge:
        said.append(f"charge {charge.removesuffix(', 0')}")
    detail = body.get("detail") or {}
    if isinstance(detail, dict) and detail.get("sql"):
        said.append(" ".join(str(detail["sql"]).split())[:80])
    if body.get("reason"):
        said.append(str(body["reason"])[:80])
    return "; ".join(said)


def _detail(text: str) -> str:
    plain = json.loads(text)
    return "; ".join(f"{name}: {value}" for name, value in plain.items())
