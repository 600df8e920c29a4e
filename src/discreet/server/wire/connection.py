"""One connection, from its first byte to its last: encryption, name, secret, session, end."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.noise.randomness import SYSTEM, integer
from discreet.server.operations.connection_limits import Place
from discreet.server.refusals import failed
from discreet.server.wire import messages
from discreet.server.wire.authentication import ENTRIES, Peer, require_encrypted
from discreet.server.wire.commands import SessionState
from discreet.server.wire.errors import error_response, protocol_violation
from discreet.server.wire.messages import (
    LONGEST_STARTUP,
    CancelRequest,
    EncryptionRequest,
    First,
    ProtocolViolation,
    Startup,
    length_of,
    read_first,
)
from discreet.server.wire.session import WireSession
from discreet.server.wire.session_settings import VERSION, SessionSettings
from discreet.server.wire.startup import parameters_of
from discreet.server.wire.stream import ClientTimeout, ConnectionClosed, WireStream

if TYPE_CHECKING:
    from discreet.server.wire.server import WireServer

LOG = logging.getLogger("discreet.server.wire")

Read = Callable[[int], Awaitable[bytes]]


class ConnectionSetup:
    """How one connection comes in: encryption, name, secret, session."""

    def __init__(self, server: WireServer, connection: socket.socket, place: Place) -> None:
        """Come in by ``connection``, which has a place among the others."""
        self._server = server
        self._connection = connection
        self._place = place
        self._peer = Peer(place.address, encrypted=False)

    async def go(self) -> None:
        """Until the connection ends."""
        server, patience = self._server, self._server.wire.patience
        async with asyncio.timeout(patience):
            stream, first = await self._first()
        if isinstance(first, CancelRequest):
            await server.cancel(first)
            return
        if stream is None or not isinstance(first, Startup):
            return
        try:
            await self._entered(stream, first)
        finally:
            await stream.close()

    async def _first(self) -> tuple[WireStream | None, First | None]:
        """The first message after encryption was agreed on, or not.

        Bytes that came too early stay where they are, and spoil the handshake.
        """
        loop = asyncio.get_running_loop()
        answered = 0

        async def raw(count: int) -> bytes:
            parts: list[bytes] = []
            while count:
                part = await loop.sock_recv(self._connection, count)
                if not part:
                    raise ConnectionClosed
                parts.append(part)
                count -= len(part)
            return b"".join(parts)

        while True:
            try:
                first = await _startup(raw)
            except ProtocolViolation:
                await loop.sock_sendall(
                    self._connection, error_response(protocol_violation(), fatal=True)
                )
                raise
            if not isinstance(first, EncryptionRequest):
                if isinstance(first, CancelRequest):
                    return None, first
                return await self._stream(None), first
            if answered > 1:
                raise ProtocolViolation
            answered += 1
            if first.tls and self._server.tls is not None:
                await loop.sock_sendall(self._connection, b"S")
                return await self._encrypted(self._server.tls)
            await loop.sock_sendall(self._connection, b"N")

    async def _encrypted(self, tls: ssl.SSLContext) -> tuple[WireStream, First]:
        reader, writer = await _streams(self._connection, tls, self._server.wire.patience)
        self._peer = Peer(self._peer.address, encrypted=True)
        stream = self._make_stream(reader, writer)
        try:
            first = await _startup(reader.readexactly)
        except ProtocolViolation:
            await stream.queue_bytes(error_response(protocol_violation(), fatal=True))
            await stream.flush()
            await stream.close()
            raise
        except asyncio.IncompleteReadError:
            await stream.close()
            raise ConnectionClosed from None
        return stream, first

    async def _stream(self, tls: ssl.SSLContext | None) -> WireStream:
        return self._make_stream(*await _streams(self._connection, tls, self._server.wire.patience))

    def _make_stream(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> WireStream:
        longest = self._server.service.runtime.settings.body
        return WireStream(reader, writer, patience=self._server.wire.patience, longest=longest)

    async def _entered(self, stream: WireStream, first: Startup) -> None:
        """Whatever ends it, the client is told; then the connection ends."""
        try:
            await self._session(stream, first)
        except ProtocolViolation:
            await _send_fatal(stream, protocol_violation())
        except ClientTimeout:
            await _send_fatal(stream, _timed_out())
        except DiscreetError as refusal:
            await _send_fatal(stream, refusal)
        except ConnectionClosed:
            pass
        except asyncio.CancelledError:
            await _send_fatal(stream, _crowded_out() if self._place.ended else _shutting_down())
        except Exception as error:
            LOG.exception("mistake of the software", exc_info=error)
            await _send_fatal(stream, failed())

    async def _session(self, stream: WireStream, first: Startup) -> None:
        server = self._server
        authentication = server.service.authentication
        self._place.served = True  # it goes after those that said nothing
        given = parameters_of(first)
        unknown = [name for name in first.parameters if name.startswith("_pq_.")]
        if first.minor or unknown:
            await stream.queue_bytes(messages.negotiate(unknown))
        require_encrypted(self._peer)
        come_in = ENTRIES[server.wire.entry]
        credential = await come_in(authentication, self._peer, given.user, stream)
        try:
            person = await credential.person(authentication)
            with server.slot(person.id, self._place):
                process, key = server.process(), integer(SYSTEM, 32)
                settings = SessionSettings(person.name, given.settings)
                session = WireSession(
                    service=server.service,
                    catalogue=server.catalogue,
                    stream=stream,
                    credential=credential,
                    state=SessionState(settings),
                    about={
                        "current_user": person.name,
                        "session_user": person.name,
                        "current_schema": "public",
                        "current_database": given.database,
                        "version": f"PostgreSQL {VERSION} (discreet)",
                        "pg_backend_pid": process,
                    },
                    idle=server.wire.idle,
                    shares=server.shares,
                    subject=person.id,
                )
                await stream.queue_bytes(messages.AUTHENTICATED)
                for name, value in settings.reported():
                    await stream.queue_bytes(messages.parameter_status(name, value))
                await stream.queue_bytes(messages.key_data(process, key))
                with server.register_session(session, process, key):
                    await session.serve()
        finally:
            await credential.leave(authentication)


async def _startup(read: Read) -> First:
    header = await read(4)
    return read_first(await read(length_of(header, most=LONGEST_STARTUP)))


async def _streams(
    connection: socket.socket, tls: ssl.SSLContext | None, patience: float
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Streams over a connection that was accepted, encrypted from here on if there is ``tls``."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    transport, _ = await loop.connect_accepted_socket(
        lambda: protocol,
        connection,
        ssl=tls,
        ssl_handshake_timeout=None if tls is None else patience,
    )
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


async def _send_fatal(stream: WireStream, refusal: DiscreetError) -> None:
    with suppress(ConnectionClosed, ClientTimeout):
        stream.drop()
        await stream.queue_bytes(error_response(refusal, fatal=True))
        await stream.flush()


def _timed_out() -> InvalidParameter:
    return InvalidParameter(
        code="client_timeout",
        expectation="whole messages in time, and a client that takes what is sent",
        remedy="Connect again.",
    )


def _crowded_out() -> InvalidParameter:
    return InvalidParameter(
        code="too_many_connections",
        expectation="fewer connections that wait for a password",
        remedy="Connect again.",
    )


def _shutting_down() -> InvalidParameter:
    return InvalidParameter(
        code="service_shutting_down",
        expectation="a service that goes on",
        remedy="It is being stopped. Connect again later; what was answered is kept.",
    )
