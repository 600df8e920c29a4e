"""Where the service listens, and running it until it is told to stop.

Without TLS it listens on this machine alone: tokens and passwords do not travel in the clear. A
proxy that ends TLS in front of it is a word in the settings.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import uvicorn

from discreet.core.errors import InvalidParameter
from discreet.server.api.app import create_app
from discreet.server.operations.loopback import is_loopback
from discreet.server.service import Service
from discreet.server.settings import ServiceSettings
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
    prepared: Callable[[Service], Awaitable[None]] | None = None,
) -> None:
    """Start the service, do what is to be done before anybody comes, and listen until the end."""
    settings = service.runtime.settings
    tls, wire = settings.certificate, settings.wire
    wire_server = None
    if wire is not None:
        wire_server = WireServer(service, wire, host=host, certificate=tls)
    server = uvicorn.Server(
        uvicorn.Config(
            create_app(service),
            host=host,
            port=port,
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
        if prepared is not None:
            await prepared(service)
        await server.serve()
    finally:
        if wire_server is not None:
            await wire_server.close()
        await service.stop()
