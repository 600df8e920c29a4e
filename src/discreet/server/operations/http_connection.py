"""One HTTP connection within deadlines: for headers, for a body, and for taking an answer.

A deadline runs from when something is waited for to when it is complete, however many bytes come in
between. While it waits, for what its client sends or for the client to take the last of what was
sent, the connection is one of those that may be let go of.

To take a message apart costs time that grows with it, and most where a body comes in chunks of one
byte. So bytes are read a piece at a time, others have their turn between two pieces, and of a body
the next piece is read once the application asks for it: whoever knows whose request it is, can let
them wait for their share (:data:`READING`).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from discreet.server.operations.connection_limits import ConnectionLimits, Place

HEAD, BODY, TAKEN = 10.0, 30.0, 30.0
"""Seconds for headers, counted from the end of the last answer, for a body, and for taking what is
sent."""
READING = "discreet.reading"
"""Where the scope of a request has the seconds that reading it took, as far as nobody counted
them."""
_PIECE = 16 * 1024
"""Bytes that are read before others have their turn."""


class _PulledFlow(FlowControl):
    """uvicorn's flow: what came already is read before more is taken from the network."""

    def __init__(self, transport: asyncio.Transport, go_on: Callable[[], None]) -> None:
        super().__init__(transport)
        self._go_on = go_on

    def resume_reading(self) -> None:
        self.read_paused = False
        self._go_on()


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
        self._leaves: asyncio.TimerHandle | None = None
        self._unread = bytearray()
        self._next: asyncio.Handle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for headers."""
        super().connection_made(transport)
        self.flow = _PulledFlow(transport, self._go_on)
        self._place.end = transport.abort
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Leave the place."""
        for waiting in (self._due, self._taken, self._leaves, self._next):
            if waiting is not None:
                waiting.cancel()
        self._limits.leave(self._place)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read a piece now, and the rest when others had their turn."""
        self._unread += data
        if self._next is None and self._is_read():
            self._read_next_piece()
        elif len(self._unread) > _PIECE:
            self.transport.pause_reading()

    def eof_received(self) -> None:
        """No more comes, and what was sent is to be taken soon."""
        super().eof_received()
        self._leave()

    def on_response_complete(self) -> None:
        """Wait for the next request; where nobody wanted the rest of a body, there is none."""
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self.transport.close()
        self._look()
        self._go_on()

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

    def _read_next_piece(self) -> None:
        """Read one piece of what came, and look what is waited for now."""
        self._next = None
        if not self._is_read() or self.transport.is_closing():
            return
        piece = bytes(self._unread[:_PIECE])
        del self._unread[:_PIECE]
        began = time.thread_time()
        super().data_received(piece)
        scope: Any = self.scope
        if scope is not None:
            scope[READING] = scope.get(READING, 0.0) + time.thread_time() - began
        if self._has_more_for_the_application():
            self.flow.pause_reading()
        self._look()
        self._go_on()

    def _has_more_for_the_application(self) -> bool:
        """Whether there is part of a body that was not asked for, and more of it comes."""
        comes = self.conn.their_state is h11.SEND_BODY and not self.cycle.response_complete
        return comes and bool(self.cycle.body)

    def _go_on(self) -> None:
        """Read what came already, once others had their turn; then what comes."""
        if self.flow.read_paused or self._next is not None:
            return
        if self._unread and self._is_read():
            self.transport.pause_reading()
            self._next = self.loop.call_soon(self._read_next_piece)
        elif len(self._unread) <= _PIECE:
            self.transport.resume_reading()

    def _is_read(self) -> bool:
        """Whether what comes is read now: not before a request is answered that is complete."""
        wanted = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        return wanted and not self.flow.read_paused

    def _look(self) -> None:
        awaited = {h11.IDLE: HEAD, h11.SEND_BODY: BODY}.get(self.conn.their_state)
        if self.transport.is_closing():
            self._leave()
            return
        if awaited == self._awaited:
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

    def _leave(self) -> None:
        """It ends once its client took what was sent: not never, and before others have to go."""
        if self._leaves is None:
            self._limits.wait(self._place)
            self._leaves = self.loop.call_later(TAKEN, self.transport.abort)
