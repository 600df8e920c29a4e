"""The PostgreSQL door of a running service, for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from discreet.server.settings import Certificate, WireSettings
from discreet.server.wire.server import WireServer
from tests.server.running_service import ApiUser, RunningService
from tests.server.wire.raw_client import RawClient

PRICED = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=.5)"
BY_WARD = f"{PRICED} ward, COUNT(*) AS n, AVG(age) AS mean FROM visits GROUP BY ward"


@dataclass(frozen=True)
class OpenedWire:
    """Where it listens, and whom it serves."""

    service: RunningService
    server: WireServer

    @property
    def port(self) -> int:
        return self.server.port

    def dsn(self, user: ApiUser, **more: str) -> str:
        parts = {
            "host": "127.0.0.1",
            "port": str(self.port),
            "user": user.person.name,
            "password": user.token,
            "dbname": "discreet",
            **more,
        }
        return " ".join(f"{name}='{value}'" for name, value in parts.items())

    def entered(self, user: ApiUser, **more: str) -> RawClient:
        client = RawClient(self.port)
        client.enter(user.person.name, user.token, **more)
        return client


@contextmanager
def opened_wire(
    service: RunningService, wire: WireSettings, certificate: Certificate | None = None
) -> Iterator[OpenedWire]:
    server = WireServer(service.service, wire, host="127.0.0.1", certificate=certificate)
    service.call(server.open())
    try:
        yield OpenedWire(service, server)
    finally:
        service.call(server.close())


def spent(user: ApiUser) -> float:
    """What is spent of somebody's one budget."""
    (account,) = user.get("account").json()["accounts"]
    return float(account["spent"]["epsilon"])
