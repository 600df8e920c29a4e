"""How a ledger reaches its server: an outage is named by what it is, in words of our own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from discreet.ledger.errors import unreachable
from discreet.postgres.address import Address, driver

if TYPE_CHECKING:
    from psycopg import Connection

_SAID = (
    ("password authentication failed", "the server refused user or password"),
    ("no password supplied", "the server asked for a password"),
    ("no pg_hba.conf entry", "the server does not admit this user from here"),
    ("authentication", "the server refused the credentials"),
    ("does not exist", "the server has no such user or database"),
    ("translate host name", "the host name is not known"),
    ("starting up", "the server is starting up"),
    ("shutting down", "the server is shutting down"),
    ("not yet accepting connections", "the server is starting up"),
    ("recovery", "the server is starting up"),
    ("too many clients", "the server has too many clients"),
    ("remaining connection slots", "the server has too many clients"),
    ("refused", "nobody listens there"),
    ("timeout", "no reply in time"),
    ("SSL", "no agreement about encryption"),
)


class Dial:
    """A server and a database, by a connection string or URL as libpq reads it.

    Shown as host, port and database: ``Dial('db.example:5432/ledgers')``.
    """

    def __init__(self, conninfo: str) -> None:
        """Read the string; connect to nothing."""
        self._address = Address(
            conninfo, tcp_user_timeout=30_000, application_name="discreet ledger"
        )

    @property
    def where(self) -> str:
        """Host, port and database."""
        return self._address.where

    def connect(self) -> Connection[Any]:
        """A new connection, or the reason why there is none."""
        reason = "no connection"
        try:
            return self._address.dial()
        except driver().Error as error:
            text = str(error)
            reason = next((words for said, words in _SAID if said in text), reason)
        raise unreachable(self.where, reason=reason)

    def __repr__(self) -> str:
        return f"Dial({self.where!r})"
