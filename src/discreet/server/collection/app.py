"""The application of the door for devices: three routes, none of which knows who calls.

It is apart from the analysts' service: devices are nobody in particular, have no tokens, and pages
of other origins may read schemas and send reports.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from importlib.resources import files

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from discreet.core.errors import DiscreetError
from discreet.server.collection.store import BatchStore
from discreet.server.operations.fair_loop import LoopShares
from discreet.server.operations.http_connection import READING
from discreet.server.services.login_attempts import Visitor

MOST_BYTES = 1 << 20
MOST_REPORTS = 1000
HEADERS = {
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


def collection_app(stores: Sequence[BatchStore]) -> Starlette:
    """Schemas at ``/schema?name=…``, reports at ``/reports?name=…``, and ``/client.js``."""
    by_name = {store.collection.name: store for store in stores}
    shares = LoopShares()
    script = (files("discreet.local") / "client.js").read_text(encoding="utf-8")

    async def schema(request: Request) -> Response:
        store = by_name.get(request.query_params.get("name", ""))
        if store is None:
            return refused(404, code="local_collection_unknown")
        return Response(store.collection.schema, media_type="application/json", headers=HEADERS)

    async def reports(request: Request) -> Response:
        if {"content-length", "transfer-encoding"} <= set(request.headers):
            return refused(400, code="request_misread")
        store = by_name.get(request.query_params.get("name", ""))
        if store is None:
            return refused(404, code="local_collection_unknown")
        body, here = bytearray(), Visitor(request.client.host if request.client else "").network
        async for piece in request.stream():
            body += piece
            shares.spend(here, request.scope.pop(READING, 0.0))
            await shares.turn(here)
            if len(body) > MOST_BYTES:
                return refused(413, code="local_request_too_large")
        lines = await asyncio.to_thread(_lines, body)
        if len(lines) > MOST_REPORTS:
            return refused(413, code="local_request_too_large")
        try:
            accepted = await asyncio.to_thread(store.take, lines)
        except DiscreetError as full:
            return refused(503, code=full.code)
        told = {"accepted": accepted, "rejected": len(lines) - accepted}
        return JSONResponse(told, 202, headers=HEADERS)

    async def client(_: Request) -> Response:
        return Response(script, media_type="text/javascript", headers=HEADERS)

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        try:
            yield
        finally:
            for store in stores:
                store.flush()

    return Starlette(
        routes=[
            Route("/schema", schema, methods=["GET"]),
            Route("/reports", reports, methods=["POST"]),
            Route("/client.js", client, methods=["GET"]),
        ],
        lifespan=running,
    )


def _lines(body: bytearray) -> list[bytes]:
    """The lines that are not blank; away from the event loop, since there may be very many."""
    return [line for line in bytes(body).split(b"\n") if line.strip()]


def refused(status: int, *, code: str) -> Response:
    """A refusal that repeats nothing of the request, after which nothing more is read."""
    return JSONResponse({"code": code}, status, headers={**HEADERS, "connection": "close"})
