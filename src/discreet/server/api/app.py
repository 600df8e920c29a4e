"""The application: routers, refusals, and the service behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from discreet.curator.statement import software
from discreet.server.api import errors, questions
from discreet.server.service import Service

PREFIX = "/api/v1"


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
        version=software().partition(" ")[2] or "0",
        lifespan=running,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    errors.install(app)
    for router in (questions.router,):
        app.include_router(router, prefix=PREFIX)
    return app
