"""Where the service listens, and running it until it is told to stop.

Without TLS it listens on this machine alone: tokens and passwords do not travel in the clear. A
proxy that ends TLS in front of it is a word in the settings.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import uvicorn

from discreet.core.errors import InvalidParameter
from discreet.server.api.app import create_app
from discreet.server.operations.connection_limits import (
    ConnectionLimits,
    Place,
    connection_limits,
)
from discreet.server.operations.http_connection import HEAD, HttpConnection
from discreet.server.operations.listener import Listener
from discreet.server.operations.loopback import is_loopback
from discreet.server.service import Service
from discreet.server.settings import ServiceSettings
from discreet.server.state import listening
from discreet.server.wire.server import WireServer

_GRACE = 15
_LONGEST_HEAD = 32 * 1024
"""Bytes that headers and address of a request may have, however they come."""
_SWITCH = 0.0005
"""Seconds after which a thread that computes lets the event loop go on."""
_THREADS = 64


class HttpServer(uvicorn.Server):
    """uvicorn, with connections of ours: accepted one by one, within limits and deadlines."""

    def __init__(
        self, app: Any, listening: socket.socket, *, limits: ConnectionLimits, **more: Any
    ) -> None:
        """Serve ``app`` at a socket that listens; ``more`` is uvicorn's."""
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,  # see api/proxy.py
                ws="none",
                h11_max_incomplete_event_size=_LONGEST_HEAD,
                timeout_graceful_shutdown=_GRACE,
                **more,
            )
        )
        self._limits = limits
        self._listener = Listener(listening, limits, self._connected)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept."""
        await super().startup(sockets=[])
        self._listener.open()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept no more, and end what there is."""
        await self._listener.close()
        await super().shutdown(sockets=[])

    async def _connected(self, connection: socket.socket, place: Place) -> None:
        state = self.lifespan.state
        made = HttpConnection(
            self.config, self.server_state, state, limits=self._limits, place=place
        )
        tls = self.config.ssl if self.config.is_ssl else None
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: made, connection, ssl=tls, ssl_handshake_timeout=HEAD if tls else None
            )
        except (OSError, ssl.SSLError):  # who does not finish a handshake gets no answer
            self._limits.leave(place)
            connection.close()
        except BaseException:
            self._limits.leave(place)
            connection.close()
            raise


def prepare_loop() -> None:
    """Let nothing that computes in a thread hold up the event loop, nor wait for another's."""
    sys.setswitchinterval(_SWITCH)
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="apart")
    asyncio.get_running_loop().set_default_executor(threads)


def require_safe(host: str, settings: ServiceSettings) -> None:
    """Refuse to listen where secrets could be read on their way."""
    if is_loopback(host) or settings.certificate or settings.behind_proxy:
        return
    raise InvalidParameter(
        code="not_loopback",
        expectation="TLS, or a proxy that ends it, where others than this machine may connect",
        received=host,
        remedy="Write [service.tls] with certificate and key; or, if a proxy in front ends TLS, "
        "behind_proxy = true in [service].",
    )


async def run(
    service: Service,
    *,
    host: str,
    port: int,
    prepared: Callable[[str], Awaitable[None]] | None = None,
) -> None:
    """Start the service, do what is to be done before anybody comes, and listen until the end.

    ``prepared`` is told the address at which it then listens.
    """
    with listening_socket(host, port) as ours:
        await _serve(service, host=host, ours=ours, prepared=prepared)


async def _serve(
    service: Service,
    *,
    host: str,
    ours: socket.socket,
    prepared: Callable[[str], Awaitable[None]] | None,
) -> None:
    settings = service.runtime.settings
    scheme = "http" if settings.certificate is None else "https"
    shown = f"[{host}]" if ":" in host else host
    address = f"{scheme}://{shown}:{ours.getsockname()[1]}"
    tls, wire = settings.certificate, settings.wire
    wire_server = None
    if wire is not None:
        wire_server = WireServer(service, wire, host=host, certificate=tls)
    app = create_app(service)
    app.openapi()  # made once, before anybody could be held up by it
    server = HttpServer(
        app,
        ours,
        limits=connection_limits(one_address=settings.behind_proxy),
        lifespan="off",  # done here, so that what is wrong is said before anybody connects
        ssl_certfile=None if tls is None else tls.certificate,
        ssl_keyfile=None if tls is None else tls.key,
    )
    prepare_loop()
    try:
        await service.start()
        if wire_server is not None:
            await wire_server.open()
            service.wire_port = wire_server.port
        await service.runtime.state.write(listening.note, address=address)
        if prepared is not None:
            await prepared(settings.address or address)
        await server.serve()
    finally:
        if wire_server is not None:
            await wire_server.close()
        await service.stop()


async def run_collection(app: Any, *, host: str, port: int) -> None:
    """Take reports of devices until the end."""
    with listening_socket(host, port) as ours:
        prepare_loop()
        await HttpServer(app, ours, limits=connection_limits(), lifespan="on").serve()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens, so that the port is known and ours before anything is said."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        made = socket.create_server((host, port), family=family, backlog=2048)
    except OSError:
        raise InvalidParameter(
            code="port_taken",
            expectation="a host and a port on which nobody else listens",
            received=f"{host}:{port}",
            remedy="Choose another port: --port, or port in [service].",
        ) from None
    # Connections inherit it. Without it the end of each answer waits 40 ms for an acknowledgement.
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made
