"""How a ledger reaches its server; credentials stay inside and are never shown.

What libpq says about a failed connection can repeat parts of the connection string (a password
with an unescaped ``@`` becomes part of a host name). So nothing of it is passed on: an outage is
named by what it is, in words of our own.

Source: PostgreSQL documentation, "Database Connection Control Functions".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter
from discreet.curator.ledger.fault import unreachable

if TYPE_CHECKING:
    from psycopg import Connection

_PUBLIC = re.compile(r"[A-Za-z0-9._:/,\[\]-]*")
_DEFAULTS: dict[str, str | int] = {
    # A server that fell silent is noticed within about half a minute.
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "discreet ledger",
}
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
        psycopg = driver()
        try:
            parts = psycopg.conninfo.conninfo_to_dict(conninfo)
        except (psycopg.Error, TypeError, AttributeError):
            parts = None
        if not parts:  # raised out here, where libpq's own error is no longer attached
            raise InvalidParameter(
                code="not_a_conninfo",
                expectation="a connection string or URL of PostgreSQL",
                received=type(conninfo).__name__,
                remedy=(
                    "Write postgresql://user@host:5432/database, with %40 for an @ inside a name"
                    " or password; the password is better kept in ~/.pgpass."
                ),
            )
        self.where = _shown(parts)
        kept = {**_DEFAULTS, **parts, "client_encoding": "UTF8"}
        # In a closure, so that neither vars() nor a debugger's summary shows a password.
        self._dial: Callable[[], Connection[Any]] = lambda: psycopg.connect(
            **kept, autocommit=True, prepare_threshold=None
        )

    def connect(self) -> Connection[Any]:
        """A new connection, or the reason why there is none."""
        reason = "no connection"
        try:
            return self._dial()
        except driver().Error as error:
            text = str(error)
            reason = next((words for said, words in _SAID if said in text), reason)
        raise unreachable(self.where, reason=reason)

    def __repr__(self) -> str:
        return f"Dial({self.where!r})"


def driver() -> Any:
    """psycopg, which is loaded on first use."""
    try:
        import psycopg
        import psycopg.conninfo
    except ModuleNotFoundError:
        raise InvalidParameter(
            code="missing_postgres",
            expectation="psycopg, which talks to PostgreSQL",
            received="psycopg",
            remedy="pip install 'discreet[postgres]'.",
        ) from None
    return psycopg


def _shown(parts: dict[str, Any]) -> str:
    """Host, port and database, as far as they cannot hold anything else."""
    host, port, database = (str(parts.get(part) or "") for part in ("host", "port", "dbname"))
    text = f"{host or 'localhost'}{':' if port else ''}{port}/{database}"
    return text if _PUBLIC.fullmatch(text) else "a server"
