"""Around every request: its turn, a limit on its body, headers that browsers obey, a log line.

Bodies are read whole before anything is done, so that work begins when a request is complete; one
that is too large, or says its length in two ways, is refused without being read. Lines in the log
have the pattern of the route, not the address, and nobody's name.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import random_id
from discreet.server.api.errors import misread_body, problem, refused
from discreet.server.api.request_pace import RequestPace
from discreet.server.api.sent_answer import SentAnswer
from discreet.server.operations.metrics import Metrics
from discreet.server.refusals import described
from discreet.server.state.counters import TooMany

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
_PATIENCE = 20.0
"""Seconds that a request has to arrive."""
_PER_BYTE = 2e-8
"""Seconds of its sender's share that a byte of a body costs: reading it takes the loop's time."""
_MOST_PARTS = 30_000
"""Brackets that open in a body: to make so many lists and objects takes a while."""
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_DIGITS = 18
_STRICT = "max-age=31536000"


class RequestGuard:
    """What every request passes."""

    def __init__(self, app: ASGIApp, *, body: int, encrypted: bool, metrics: Metrics) -> None:
        """RequestGuard ``app``; bodies have at most ``body`` bytes."""
        self._app = app
        self._body = body
        self._metrics = metrics
        self._pace = RequestPace()
        self._headers = {**HEADERS, **({"strict-transport-security": _STRICT} if encrypted else {})}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, key = time.perf_counter(), random_id(64)
        subject = self._pace.subject(scope)
        with self._pace.taking(subject) as may_take:
            sent = SentAnswer(send, {**self._headers, "x-request-id": key}, may_take)
            await self._answered(scope, receive, sent, subject)
        if not sent.status:
            return  # nobody is there any more
        route, method = _pattern(scope), scope["method"]
        seconds = time.perf_counter() - began
        named = method if method in _METHODS else "OTHER"
        self._metrics.count(named, route, sent.status, seconds)
        told = {"request": key, "method": named, "route": route, "status": sent.status}
        LOG.info("request", extra={**told, "seconds": round(seconds, 4)})

    async def _answered(self, scope: Scope, receive: Receive, send: Send, subject: str) -> None:
        """Answer, or refuse where too many are under way; nothing to who is gone."""
        try:
            with suppress(ConnectionError), self._pace.under_way(subject):
                await self._paced(scope, receive, send, subject)
        except TooMany as refusal:
            await _closing(refused(refusal))(scope, receive, send)

    async def _paced(self, scope: Scope, receive: Receive, send: Send, subject: str) -> None:
        """Answer a request once it is whole, and it is its sender's turn."""
        if _has_two_lengths(scope):
            await _closing(misread_body("one length: Content-Length or Transfer-Encoding"))(
                scope, receive, send
            )
            return
        try:
            async with asyncio.timeout(_PATIENCE):
                paced = self._pace.received(scope, receive, subject)
                body = await _read_request_body(scope, paced, self._body)
        except TimeoutError:
            late = misread_body(f"a body that arrives within {_PATIENCE:g} seconds", status=408)
            await _closing(late)(scope, receive, send)
            return
        read = self._body if body is None else len(body)
        self._pace.shares.spend(subject, _PER_BYTE * read)
        if body is None:
            await _too_large(self._body)(scope, receive, send)
            return
        if body.count(b"[") + body.count(b"{") > _MOST_PARTS:
            deep = misread_body(f"a body of at most {_MOST_PARTS} lists and objects")
            await deep(scope, receive, send)
            return
        await self._pace.shares.turn(subject)
        work = self._app(scope, _replayed(body, receive), send)
        await self._pace.shares.accounted(subject, work)
        self._pace.learn(scope)


def _pattern(scope: Scope) -> str:
    """The pattern of the route that a request took; never what stands in its place."""
    found = getattr(scope.get("route"), "path", None)
    if not isinstance(found, str):
        return "unknown"
    inside = scope["path"].startswith(f"{PREFIX}/") and not found.startswith(PREFIX)
    return f"{PREFIX}{found}" if inside else found


async def _read_request_body(scope: Scope, receive: Receive, most: int) -> bytes | None:
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


def _has_two_lengths(scope: Scope) -> bool:
    """Whether a request says its length in two ways, which a proxy may read otherwise than we."""
    said = [name for name, _ in scope["headers"]]
    return b"transfer-encoding" in said and b"content-length" in said


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


def _closing(response: Response) -> Response:
    """A response after which nothing more is read."""
    response.headers["connection"] = "close"
    return response


def _too_large(most: int) -> ASGIApp:
    refusal = InvalidParameter(
        code="body_too_large",
        expectation=f"a request of at most {most} bytes",
        remedy="Send less at a time.",
    )
    return problem(413, described(refusal), {"connection": "close"})
