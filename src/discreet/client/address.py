"""Where a service is; what may be sent there in the clear is sent to this machine alone."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from discreet.core.errors import InvalidParameter

PREFIX = "/api/v1/"
"""Below which every address of the service's description stands."""


@dataclass(frozen=True)
class ServiceAddress:
    """A service by its scheme, its host and its port; ``path`` is what stands before all else."""

    scheme: str
    host: str
    port: int
    path: str

    @classmethod
    def parse(cls, url: object) -> ServiceAddress:
        """The address that a text names; refused where a token would travel in the clear.

        >>> ServiceAddress.parse("https://data.example.org").port
        443
        """
        parts = _split(url)
        port = _port(parts)
        if parts.scheme not in ("http", "https") or not parts.hostname or port is None:
            raise _misread(
                expectation="an address that begins with https://, or http:// on this machine",
                received=url,
            )
        if parts.username is not None or parts.query or parts.fragment:
            raise _misread(expectation="an address without a name, a password or a query")
        if parts.scheme == "http" and not is_loopback(parts.hostname):
            raise InvalidParameter(
                code="token_in_the_clear",
                expectation="https://, since a token would be read on its way; http:// is for "
                "this machine alone",
                received=parts.hostname,
                remedy=f"Write https://{parts.hostname}, or come through a tunnel to localhost.",
            )
        return cls(parts.scheme, parts.hostname, port, parts.path.rstrip("/"))

    def place(self, path: str) -> str:
        """Where a route of the service is."""
        return f"{self.path}{PREFIX}{path}"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its name alone; no name is looked up.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("127.example.org")
    (True, True, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: object) -> SplitResult:
    if not isinstance(url, str):
        raise _misread(expectation="an address as text", received=type(url).__name__)
    try:
        return urlsplit(url.strip())
    except ValueError:
        raise _misread(expectation="an address that can be read") from None


def _port(parts: SplitResult) -> int | None:
    try:
        return parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return None


def _misread(*, expectation: str, received: object = None) -> InvalidParameter:
    return InvalidParameter(
        code="address_misread",
        expectation=expectation,
        received=received,
        remedy='Write discreet.connect("https://data.example.org", token).',
    )
