"""One HTTP connection within deadlines: for headers, for a body, and for taking an answer.

A deadline runs from when something is waited for to when it is complete, however many bytes come in
between. While it waits, the connection is one of those that may be let go of.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from discreet.server.operations.connection_limits import ConnectionLimits, Place

HEAD, BODY, TAKEN = 10.0, 30.0, 30.0
"""Seconds for headers, counted from the end of the last answer, for a body, and for taking what is
sent."""


class HttpConnection(H11Protocol):
    """uvicorn's connection, with deadlines and a place among the others."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        *,
        limits: ConnectionLimits,
        place: Place,
    ) -> None:
        """Take ``place``, which is left when the connection ends."""
        super().__init__(config, server_state, app_state, asyncio.get_running_loop())
        self._limits, self._place = limits, place
        self._awaited: float | None = None
        self._due: asyncio.TimerHandle | None = None
        self._taken: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for headers."""
        super().connection_made(transport)
        self._place.end = transport.abort
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the place."""
        for timer in (self._due, self._taken):
            if timer is not None:
                timer.cancel()
        self._limits.leave(self._place)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Look what is waited for now."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        super().on_response_complete()
        self._look()

    def pause_writing(self) -> None:
        """What was sent is not taken: not for ever."""
        super().pause_writing()
        self._taken = self.loop.call_later(TAKEN, self.transport.abort)

    def resume_writing(self) -> None:
        """It was taken."""
        super().resume_writing()
        if self._taken is not None:
            self._taken.cancel()
            self._taken = None

    def _look(self) -> None:
        awaited = {h11.IDLE: HEAD, h11.SEND_BODY: BODY}.get(self.conn.their_state)
        if awaited == self._awaited or self.transport.is_closing():
            return
        self._awaited = awaited
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if awaited is None:
            self._limits.work(self._place)
            return
        self._limits.wait(self._place)
        self._due = self.loop.call_later(awaited, self.transport.abort)
