"""Accepting connections: one at a time between other work, within limits, whatever fails.

A moment without descriptors ends nothing: the connection that waited longest is let go of, and
accepting goes on. Nothing is written about it for each connection.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from functools import partial

from discreet.server.operations.connection_limits import ConnectionLimits, Place
from discreet.server.services.login_attempts import Visitor

LOG = logging.getLogger("discreet.server")

_PAUSE = 0.05
_AT_ONCE = 16
"""Connections that are accepted before others have their turn."""

Connected = Callable[[socket.socket, Place], Awaitable[None]]


class Listener:
    """One listening socket, and a task for each connection until it is handed over or over."""

    def __init__(
        self, listening: socket.socket, limits: ConnectionLimits, connected: Connected
    ) -> None:
        """Listen from :meth:`open` on; what ``connected`` raises ends its connection alone."""
        self._listening, self._limits, self._connected = listening, limits, connected
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self) -> None:
        """Begin to accept."""
        self._listening.setblocking(False)  # noqa: FBT003
        self._begin(self._accept())

    async def close(self) -> None:
        """Stop listening, and end what is under way."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._listening.close()

    def _begin(self, work: Awaitable[None]) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _accept(self) -> None:
        loop, accepted = asyncio.get_running_loop(), 0
        while True:
            try:
                connection, address = await loop.sock_accept(self._listening)
            except OSError:
                if self._listening.fileno() < 0:
                    return
                LOG.warning("a connection could not be accepted")
                self._limits.relieve()
                await asyncio.sleep(_PAUSE)
                continue
            self._admit(connection, str(address[0]))
            accepted += 1
            if accepted % _AT_ONCE == 0:
                await asyncio.sleep(0)  # a flood of them holds nobody up

    def _admit(self, connection: socket.socket, address: str) -> None:
        place = self._limits.enter(Visitor(address).network)
        if place is None:
            connection.close()
            return
        connection.setblocking(False)  # noqa: FBT003
        task = self._begin(self._connected(connection, place))
        place.end = partial(_cancel, task)


def _cancel(task: asyncio.Task[None]) -> None:
    task.cancel()
