"""Around every request: a limit on its body, headers that browsers obey, a line in the log.

Bodies are read whole before anything is done, so that work begins when a request is complete; one
that is too large is refused without being read. Lines in the log have the pattern of the route, not
the address, and nobody's name.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import random_id
from discreet.server.api.errors import problem
from discreet.server.operations.metrics import Metrics
from discreet.server.refusals import described

LOG = logging.getLogger("discreet.server.requests")

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
PREFIX = "/api/v1"
_PATIENCE = 30.0
"""Seconds that a request has to arrive."""
_DIGITS = 18
_STRICT = "max-age=31536000"


class RequestGuard:
    """What every request passes."""

    def __init__(self, app: ASGIApp, *, body: int, encrypted: bool, metrics: Metrics) -> None:
        """RequestGuard ``app``; bodies have at most ``body`` bytes."""
        self._app = app
        self._body = body
        self._metrics = metrics
        self._headers = {**HEADERS, **({"strict-transport-security": _STRICT} if encrypted else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, key, status = time.perf_counter(), random_id(64), 0

        async def sent(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                _add(message, {**self._headers, "x-request-id": key})
            await send(message)

        try:
            async with asyncio.timeout(_PATIENCE):
                body = await _read(scope, receive, self._body)
        except (TimeoutError, ConnectionError):
            return  # who does not finish a request gets no answer
        if body is None:
            await _too_large(self._body)(scope, receive, sent)
        else:
            await self._app(scope, _replayed(body, receive), sent)
        route = _pattern(scope)
        seconds = time.perf_counter() - began
        self._metrics.count(scope["method"], route, status, seconds)
        told = {"request": key, "method": scope["method"], "route": route, "status": status}
        LOG.info("request", extra={**told, "seconds": round(seconds, 4)})


def _pattern(scope: Scope) -> str:
    """The pattern of the route that a request took; never what stands in its place."""
    found = getattr(scope.get("route"), "path", None)
    if not isinstance(found, str):
        return "unknown"
    inside = scope["path"].startswith(f"{PREFIX}/") and not found.startswith(PREFIX)
    return f"{PREFIX}{found}" if inside else found


async def _read(scope: Scope, receive: Receive, most: int) -> bytes | None:
    """The whole body; None if it is too large, which is not read to its end."""
    stated = dict(scope["headers"]).get(b"content-length", b"0")
    if not stated.isdigit() or len(stated) > _DIGITS or int(stated) > most:
        return None
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            return None
        more = message.get("more_body", False)
    return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Callable[[], Awaitable[Message]]:
    """The body once more, then what comes after it."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _add(message: MutableMapping[str, Any], headers: dict[str, str]) -> None:
    """Headers that a response does not have."""
    there = {name.lower() for name, _ in message["headers"]}
    more = [(n.encode(), v.encode()) for n, v in headers.items() if n.encode() not in there]
    message["headers"] = [*message["headers"], *more]


def _too_large(most: int) -> ASGIApp:
    refusal = InvalidParameter(
        code="body_too_large",
        expectation=f"a request of at most {most} bytes",
        remedy="Send less at a time.",
    )
    return problem(413, described(refusal), {"connection": "close"})
