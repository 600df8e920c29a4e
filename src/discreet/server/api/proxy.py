"""Requests that a proxy in front passes on: whose they are is what the proxy saw.

A proxy appends the address it was called from to ``X-Forwarded-For``, or overwrites it. So the last
one is the proxy's own word; those before it are whatever a client wrote, and are not believed. This
holds where nobody but the proxy can connect, which ``behind_proxy`` in the settings promises.
"""

from __future__ import annotations

from ipaddress import ip_address

from starlette.types import ASGIApp, Receive, Scope, Send


class ProxiedRequests:
    """Lets an app see the client's address and scheme instead of the proxy's."""

    def __init__(self, app: ASGIApp) -> None:
        """Pass requests on to ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one on."""
        if scope["type"] == "http":
            headers = scope["headers"]
            seen = [value for name, value in headers if name == b"x-forwarded-for"]
            schemes = [value for name, value in headers if name == b"x-forwarded-proto"]
            address = _address(seen[-1]) if seen else None
            if address is not None:
                scope["client"] = (address, 0)
            if schemes and schemes[-1] in (b"http", b"https"):
                scope["scheme"] = schemes[-1].decode()
        await self._app(scope, receive, send)


def _address(header: bytes) -> str | None:
    """The last address of a header, if it is one.

    >>> _address(b"10.9.8.7, 192.0.2.1"), _address(b"nonsense")
    ('192.0.2.1', None)
    """
    last = header.rpartition(b",")[2].strip().decode("latin-1")
    try:
        return str(ip_address(last))
    except ValueError:
        return None
