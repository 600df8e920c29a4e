"""The server itself: who may connect, how many at a time, and how a session begins and ends.

Whoever was let in has a number of connections of their own, the same for everybody, so nobody's
connections depend on another's. Those who are not let in yet share a number of places, for each
address and in all, and have a few seconds; where they are too many, who waited longest has to go.
"""

from __future__ import annotations

import hmac
import logging
import socket
import ssl
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.noise.randomness import SYSTEM, integer
from discreet.server.operations.connection_limits import Place, connection_limits
from discreet.server.operations.fair_loop import LoopShares
from discreet.server.operations.listener import Listener
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

_BACKLOG = 2048


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
        self._limits = connection_limits()
        self.shares = LoopShares()
        self._catalogue: Catalogue | None = None
        self._listening: socket.socket | None = None
        self._listener: Listener | None = None

    @property
    def port(self) -> int:
        """Where it listens."""
        assert self._listening is not None
        return int(self._listening.getsockname()[1])

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
        self._listening = made
        self._listener = Listener(made, self._limits, self._connected)
        self._listener.open()

    async def close(self) -> None:
        """Stop listening, and end every session; work that is under way goes on."""
        if self._listener is not None:
            await self._listener.close()
        if self._catalogue is not None:
            self._catalogue.close()

    async def _connected(self, connection: socket.socket, place: Place) -> None:
        """One connection, from its first byte to its last."""
        try:
            with suppress(OSError):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await ConnectionSetup(self, connection, place).go()
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
            self._limits.leave(place)
            connection.close()

    @contextmanager
    def slot(self, person: str, place: Place) -> Iterator[None]:
        """One of a person's own connections, which is ended by nobody else."""
        if self._connections[person] >= self._wire.connections:
            raise InvalidParameter(
                code="too_many_connections",
                expectation=f"at most {self._wire.connections} connections of one person",
                remedy="Close one; connections of others do not count.",
            )
        self._connections[person] += 1
        self._limits.work(place)
        try:
            yield
        finally:
            self._connections[person] -= 1
            if not self._connections[person]:
                del self._connections[person]

    @contextmanager
    def register_session(self, session: WireSession, process: int, secret: int) -> Iterator[None]:
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
