"""The application: routers, refusals, guards, and the service behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import APIRouter, FastAPI

from discreet.release.software import software
from discreet.server.api import (
    errors,
    logins,
    operations,
    owner,
    people,
    questions,
    releases,
    rounds,
)
from discreet.server.api.authentication import is_encrypted
from discreet.server.api.description import RESPONSES, describe
from discreet.server.api.middleware import PREFIX, RequestGuard
from discreet.server.api.proxy import ProxiedRequests
from discreet.server.service import Service
from discreet.server.web.routes import PAGES

_ABOUT = """Private answers about protected tables, each paid for from a budget of one's own.

Send `Authorization: Bearer dsc_...`. Refusals are problem+json with a code, what was expected, and
a remedy; a refusal before anything is charged says so by its code.
"""
ROUTERS: tuple[tuple[str, APIRouter], ...] = (
    *((PREFIX, part.router) for part in (questions, releases, rounds, people, owner, logins)),
    ("", operations.router),
)
"""What is mounted where; every route of them names the action that it needs, or is open."""


def create_app(service: Service) -> FastAPI:
    """An application that starts and stops its service."""

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.stop()

    app = FastAPI(
        title="discreet",
        description=_ABOUT,
        version=software().partition(" ")[2] or "0",
        lifespan=running,
        docs_url=None,
        redoc_url=None,
        responses=RESPONSES,
    )
    app.state.service = service
    errors.install(app)
    for prefix, router in ROUTERS:
        app.include_router(router, prefix=prefix)
    describe(app, ROUTERS)
    for pages in PAGES:
        app.include_router(pages, include_in_schema=False)
    settings = service.runtime.settings
    app.add_middleware(
        RequestGuard, body=settings.body, encrypted=is_encrypted(settings), metrics=service.metrics
    )
    if settings.behind_proxy:
        app.add_middleware(ProxiedRequests)
    return app
