"""Where the service listens, and running it until it is told to stop.

Without TLS it listens on this machine alone: tokens and passwords do not travel in the clear. A
proxy that ends TLS in front of it is a word in the settings.
"""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable

import uvicorn

from discreet.core.errors import InvalidParameter
from discreet.server.api.app import create_app
from discreet.server.operations.loopback import is_loopback
from discreet.server.service import Service
from discreet.server.settings import ServiceSettings
from discreet.server.state import listening
from discreet.server.wire.server import WireServer

_GRACE = 15


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
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(service),
            lifespan="off",  # done here, so that what is wrong is said before anybody connects
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,  # see api/proxy.py
            timeout_graceful_shutdown=_GRACE,
            ssl_certfile=None if tls is None else tls.certificate,
            ssl_keyfile=None if tls is None else tls.key,
        )
    )
    try:
        await service.start()
        if wire_server is not None:
            await wire_server.open()
            service.wire_port = wire_server.port
        await service.runtime.state.write(listening.note, address=address)
        if prepared is not None:
            await prepared(settings.address or address)
        await server.serve(sockets=[ours])
    finally:
        if wire_server is not None:
            await wire_server.close()
        await service.stop()


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
