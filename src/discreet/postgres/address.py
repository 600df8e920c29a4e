"""The address of a PostgreSQL server; credentials stay inside and are never shown.

What libpq says about a failed connection can repeat parts of the connection string (a password
with an unescaped ``@`` becomes part of a host name). So whoever dials passes none of it on.

Source: PostgreSQL documentation, "Database Connection Control Functions".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from psycopg import Connection

_PUBLIC = re.compile(r"[A-Za-z0-9._:/,\[\]-]*")
_DEFAULTS: dict[str, str | int] = {
    # A server that fell silent is noticed within about half a minute.
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}


class Address:
    """A server and a database, by a connection string or URL as libpq reads it.

    ``settings`` are libpq's, where the string says nothing else. Shown as host, port and database.
    """

    def __init__(self, conninfo: str, **settings: str | int) -> None:
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
                remedy="Write postgresql://user@host:5432/database, with %40 for an @ inside a "
                "name or password; the password is better kept in ~/.pgpass.",
            )
        self.where = _format_public_address(parts)
        kept = {**_DEFAULTS, **settings, **parts, "client_encoding": "UTF8"}
        # In a closure, so that neither vars() nor a debugger's summary shows a password.
        self.dial: Callable[[], Connection[Any]] = lambda: psycopg.connect(
            **kept, autocommit=True, prepare_threshold=None
        )

    def __repr__(self) -> str:
        return f"Address({self.where!r})"


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


def _format_public_address(parts: dict[str, Any]) -> str:
    """Host, port and database, as far as they cannot hold anything else."""
    host, port, database = (str(parts.get(part) or "") for part in ("host", "port", "dbname"))
    text = f"{host or 'localhost'}{':' if port else ''}{port}/{database}"
    return text if _PUBLIC.fullmatch(text) else "a server"
