"""The server itself: who may connect, how many at a time, and how a session begins and ends.

Whoever was let in has a number of connections of their own, the same for everybody, so nobody's
connections depend on another's. Those who are not let in yet share a number of places, for each
address and in all, and have a few seconds.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager, suppress

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.noise.randomness import SYSTEM, integer
from discreet.server.operations.loopback import is_loopback
from discreet.server.service import Service
from discreet.server.settings import Certificate, WireSettings
from discreet.server.wire.catalogue.catalogue import Catalogue
from discreet.server.wire.connection import ConnectionSetup
from discreet.server.wire.messages import (
    CancelRequest,
    ProtocolViolation,
)
from discreet.server.wire.session import WireSession
from discreet.server.wire.stream import ClientTimeout, ConnectionClosed
from discreet.server.wire.tls import tls_context

LOG = logging.getLogger("discreet.server.wire")

_WAITING, _WAITING_FROM_ONE = 256, 32
"""Connections that are not let in yet: in all, and from one address."""
_BACKLOG = 128
_PAUSE = 0.1


class WireServer:
    """Listens, and lets people in."""

    def __init__(
        self,
        service: Service,
        wire: WireSettings,
        *,
        host: str,
        certificate: Certificate | None = None,
    ) -> None:
        """Listen at a host, with TLS if there is a certificate, from :meth:`open` on."""
        self._service = service
        self._wire = wire
        self._host = wire.host or host
        if certificate is None and not is_loopback(self._host):
            raise _not_loopback(self._host)
        self._tls = None if certificate is None else tls_context(certificate)
        self._sessions: dict[int, tuple[int, WireSession]] = {}
        self._connections: Counter[str] = Counter()
        self._waiting: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self._catalogue: Catalogue | None = None
        self._sockets: list[socket.socket] = []

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self._sockets[0].getsockname()[1])

    async def open(self) -> None:
        """Listen, once the service has started."""
        self._catalogue = Catalogue(self._service.schema)
        try:
            family = socket.AF_INET6 if ":" in self._host else socket.AF_INET
            made = socket.create_server(
                (self._host, self._wire.port), family=family, backlog=_BACKLOG
            )
        except OSError:
            self._catalogue.close()
            raise _port_taken(self._host, self._wire.port) from None
        made.setblocking(False)  # noqa: FBT003
        self._sockets.append(made)
        self._begin(self._accept(made))

    async def close(self) -> None:
        """Stop listening, and end every session; work that is under way goes on."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for each in self._sockets:
            each.close()
        if self._catalogue is not None:
            self._catalogue.close()

    def _begin(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, address = await loop.sock_accept(listening)
            except OSError:
                if listening.fileno() < 0:
                    return
                await asyncio.sleep(_PAUSE)  # no file is left; others go on
                continue
            connection.setblocking(False)  # noqa: FBT003
            self._begin(self._connected(connection, str(address[0])))

    async def _connected(self, connection: socket.socket, address: str) -> None:
        """One connection, from its first byte to its last."""
        crowded = self._waiting.total() >= _WAITING or self._waiting[address] >= _WAITING_FROM_ONE
        if crowded:
            connection.close()
            return
        try:
            with suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await ConnectionSetup(self, connection, address).go()
        except (
            OSError,
            ssl.SSLError,
            TimeoutError,
            ConnectionClosed,
            ClientTimeout,
            ProtocolViolation,
        ):
            pass  # who does not finish gets no answer
        except Exception as error:
            LOG.exception("a connection failed", exc_info=error)
        finally:
            connection.close()

    @contextmanager
    def waiting(self, address: str) -> Iterator[None]:
        """A place among those who are not let in yet."""
        self._waiting[address] += 1
        try:
            yield
        finally:
            self._waiting[address] -= 1
            if not self._waiting[address]:
                del self._waiting[address]

    @contextmanager
    def slot(self, person: str) -> Iterator[None]:
        """One of a person's own connections."""
        if self._connections[person] >= self._wire.connections:
            raise InvalidParameter(
                code="too_many_connections",
                expectation=f"at most {self._wire.connections} connections of one person",
                remedy="Close one; connections of others do not count.",
            )
        self._connections[person] += 1
        try:
            yield
        finally:
            self._connections[person] -= 1
            if not self._connections[person]:
                del self._connections[person]

    @contextmanager
    def known(self, session: WireSession, process: int, secret: int) -> Iterator[None]:
        """A session that can be told to give up what it waits for."""
        self._sessions[process] = (secret, session)
        try:
            yield
        finally:
            self._sessions.pop(process, None)

    def process(self) -> int:
        """A number for a session, which tells nothing about how many there are."""
        while (found := integer(SYSTEM, 31)) in self._sessions or not found:
            pass
        return found

    async def cancel(self, request: CancelRequest) -> None:
        """Give up what a session waits for, if the request knows its secret."""
        secret, session = self._sessions.get(request.process, (0, None))
        right = hmac.compare_digest(secret.to_bytes(4, "big"), request.secret.to_bytes(4, "big"))
        if session is not None and right:
            with suppress(DiscreetError):  # as in PostgreSQL, nobody is told
                await session.cancel()

    @property
    def service(self) -> Service:
        """Behind the server."""
        return self._service

    @property
    def wire(self) -> WireSettings:
        """What the owner decided about it."""
        return self._wire

    @property
    def tls(self) -> ssl.SSLContext | None:
        """For those who ask for encryption; None without a certificate."""
        return self._tls

    @property
    def catalogue(self) -> Catalogue:
        """What everybody may know."""
        assert self._catalogue is not None
        return self._catalogue


def _not_loopback(host: str) -> InvalidParameter:
    return InvalidParameter(
        code="not_loopback",
        expectation="TLS for the PostgreSQL server, where others than this machine may connect",
        received=host,
        remedy='Write [service.tls] with certificate and key, or host = "127.0.0.1" in '
        "[service.wire]; a proxy for web pages does not encrypt this server.",
    )


def _port_taken(host: str, port: int) -> InvalidParameter:
    return InvalidParameter(
        code="port_taken",
        expectation="a host and a port on which nobody else listens",
        received=f"{host}:{port}",
        remedy="Choose another port in [service.wire].",
    )
