"""The way to a PostgreSQL server: its address without secrets, and connections that read only.

What libpq says about a failed connection may repeat parts of the connection string, so none of it
is passed on.

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
    "connect_timeout": 10,
    # A server that fell silent is noticed within about half a minute.
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "application_name": "discreet",
}
_LEAST_VERSION = 140_000
_BEGIN = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    # Only built-in functions and operators are found; temporary tables shadow nothing.
    "SET LOCAL search_path = pg_catalog, pg_temp",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL transform_null_equals = off",
    "SET LOCAL row_security = on",
)
BEGIN = "; ".join(_BEGIN)
"""One state of all tables, nothing written, and every setting that changes the meaning of text.

Settings are local to the transaction, so that they also hold behind a pool of connections.
"""


class Server:
    """A server and a database, by a connection string or URL as libpq reads it."""

    def __init__(self, conninfo: str) -> None:
        """Read the string; connect to nothing."""
        psycopg = driver()
        try:
            parts = psycopg.conninfo.conninfo_to_dict(conninfo)
        except (psycopg.Error, TypeError, AttributeError):
            parts = None
        if parts is None:  # raised out here, where libpq's own error is no longer attached
            raise InvalidParameter(
                code="not_a_conninfo",
                expectation="a connection string or URL of PostgreSQL",
                received=type(conninfo).__name__,
                remedy="Write postgresql://user@host:5432/database, with %40 for an @ inside a "
                "name or password; the password is better kept in ~/.pgpass.",
            )
        self.where = _shown(parts)
        kept = {**_DEFAULTS, **parts, "client_encoding": "UTF8"}
        # In a closure, so that neither vars() nor a debugger's summary shows a password.
        self._dial: Callable[[], Connection[Any]] = lambda: psycopg.connect(
            **kept, autocommit=True, prepare_threshold=None
        )

    def connect(self) -> Connection[Any]:
        """A new connection to a server that suits us."""
        try:
            connection = self._dial()
        except driver().Error:
            connection = None
        if connection is None:
            raise self.unreachable()
        version = connection.info.server_version
        encoding = connection.info.parameter_status("server_encoding")
        if version < _LEAST_VERSION or encoding != "UTF8":
            connection.close()
            raise InvalidParameter(
                code="engine_unsuited",
                expectation="PostgreSQL 14 or later with a database in UTF8",
                received=(version // 10_000, encoding),
                remedy="Upgrade the server, or copy the tables into a database in UTF8.",
            )
        return connection

    def unreachable(self) -> InvalidParameter:
        """That there is no connection; why is for the server's own log."""
        return InvalidParameter(
            code="engine_unreachable",
            expectation="a server that answers, and a user, password and database that it knows",
            received=self.where,
            remedy="Check address and credentials with psql; the server's log says more.",
        )

    def __repr__(self) -> str:
        return f"Server({self.where!r})"


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
