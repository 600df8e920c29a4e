"""An answer on its way: with headers that browsers obey, a piece at a time, and not too much of it.

A long answer is handed on in pieces, between which others have their turn. Until its client has
taken it, it takes memory of everybody's; so there is a limit on what may be on its way to one
person or address, beyond which an answer is refused that can be had again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from starlette.types import Message, Send

from discreet.server.api.errors import refused
from discreet.server.api.request_pace import MOST_ON_THEIR_WAY
from discreet.server.state.counters import TooMany

PIECE = 256 * 1024
"""Bytes of an answer that are sent before others have their turn."""


class SentAnswer:
    """What an app sends, to be handed on."""

    def __init__(
        self, send: Send, headers: Mapping[str, str], may_take: Callable[[int], bool]
    ) -> None:
        """Hand on to ``send``; ``may_take`` says whether so many bytes more may be on their way."""
        self._send, self._headers, self._may_take = send, headers, may_take
        self._start: Message | None = None
        self.status = 0

    async def __call__(self, message: Message) -> None:
        """Hand on one message; the first waits for the body, which may be too much."""
        if message["type"] == "http.response.start":
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None:
            size = len(message.get("body", b""))
            if size > PIECE and not self._may_take(size):
                start, message = _refusal()
            self.status = start["status"]
            _add(start, self._headers)
            await self._send(start)
        await self._in_pieces(message)

    async def _in_pieces(self, message: Message) -> None:
        body: bytes = message.get("body", b"")
        last = max(0, len(body) - 1) // PIECE * PIECE
        for place in range(0, last, PIECE):
            piece = body[place : place + PIECE]
            await self._send({"type": message["type"], "body": piece, "more_body": True})
            await asyncio.sleep(0)
        await self._send({**message, "body": body[last:]} if last else message)


def _refusal() -> tuple[Message, Message]:
    """What is sent instead of an answer that is too much now."""
    response = refused(
        TooMany(
            code="too_many_requests",
            expectation=f"at most {MOST_ON_THEIR_WAY >> 20} megabytes of answers that you have "
            "asked for and not taken yet",
            remedy="Take those first, and ask for this one again: it is kept.",
        )
    )
    start = {"type": "http.response.start", "status": response.status_code}
    body = {"type": "http.response.body", "body": response.body}
    return {**start, "headers": response.raw_headers}, body


def _add(message: MutableMapping[str, Any], headers: Mapping[str, str]) -> None:
    """Headers that a response does not have."""
    there = {name.lower() for name, _ in message["headers"]}
    more = [(n.encode(), v.encode()) for n, v in headers.items() if n.encode() not in there]
    message["headers"] = [*message["headers"], *more]
