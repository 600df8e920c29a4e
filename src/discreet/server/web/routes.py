"""All pages, in one list for the application; every page names the action that it needs."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from discreet.core.errors import InvalidParameter
from discreet.server.web import static_files
from discreet.server.web.page_context import PageRoute, refusal_page
from discreet.server.web.pages import (
    account,
    approvals,
    batches,
    budget,
    conversations,
    ledger,
    login,
    meaning,
    people,
    questions,
    releases,
    rounds,
    streams,
    synopses,
)

nowhere = APIRouter(route_class=PageRoute)


@nowhere.get("/{path:path}")
async def lost(request: Request, path: str) -> Response:
    """An address that nobody knows: a page for people, a problem for programs."""
    if path.startswith("api/") or "text/html" not in request.headers.get("accept", ""):
        raise HTTPException(404)
    unknown = InvalidParameter(
        code="page_unknown",
        expectation="an address that this service knows",
        received=f"/{path}"[:200],
        remedy="Begin again at the first page.",
    )
    return refusal_page(request, unknown)


PAGES: tuple[APIRouter, ...] = (
    static_files.router,
    login.router,
    questions.router,
    batches.router,
    synopses.router,
    releases.router,
    account.router,
    meaning.router,
    budget.router,
    people.router,
    approvals.router,
    ledger.router,
    conversations.router,
    rounds.router,
    streams.router,
    nowhere,
)
"""In this order: the last takes what no other does."""
