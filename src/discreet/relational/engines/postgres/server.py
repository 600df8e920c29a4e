"""The way to a PostgreSQL server for reading: what suits us, and what is pinned for a question."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter
from discreet.postgres.address import Address, driver
from discreet.postgres.connection import connect
from discreet.postgres.errors import NoConnection

if TYPE_CHECKING:
    from psycopg import Connection

_MIN_VERSION = 140_000
_BEGIN = (
    "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    # Only built-in functions and operators are found; temporary tables shadow nothing.
    "SET LOCAL search_path = pg_catalog, pg_temp",
    "SET LOCAL TimeZone = 'UTC'",
    "SET LOCAL DateStyle = 'ISO, YMD'",
    "SET LOCAL extra_float_digits = 1",
    "SET LOCAL standard_conforming_strings = on",
    "SET LOCAL transform_null_equals = off",
    "SET LOCAL array_nulls = on",
    "SET LOCAL row_security = on",
    # A question that takes too long, or waits, ends by its own limits and not by those of a role:
    # whether it ended would tell how many rows somebody has.
    "SET LOCAL statement_timeout = 0",
    "SET LOCAL lock_timeout = 0",
    "SET LOCAL idle_in_transaction_session_timeout = 0",
)
_LATER = {170_000: "SET LOCAL transaction_timeout = 0"}


def begin(version: int) -> str:
    """One state of all tables, nothing written, and every setting that changes what text means.

    Settings are local to the transaction, so that they also hold behind a pool of connections.
    """
    later = (text for since, text in _LATER.items() if version >= since)
    return "; ".join((*_BEGIN, *later))


class PostgresServer:
    """A server and a database, by a connection string or URL as libpq reads it."""

    def __init__(self, conninfo: str) -> None:
        """Read the string; connect to nothing."""
        self._address = Address(conninfo, application_name="discreet")

    @property
    def where(self) -> str:
        """Host, port and database."""
        return self._address.where

    def connect(self) -> Connection[Any]:
        """A new connection to a server that suits us."""
        try:
            connection = connect(self._address)
        except NoConnection:
            connection = None
        if connection is None:
            raise self.unreachable()
        version = connection.info.server_version
        encoding = connection.info.parameter_status("server_encoding")
        if version < _MIN_VERSION or encoding != "UTF8":
            connection.close()
            raise InvalidParameter(
                code="engine_unsuited",
                expectation="PostgreSQL 14 or later with a database in UTF8",
                received=(version // 10_000, encoding),
                remedy="Upgrade the server, or copy the tables into a database in UTF8.",
            )
        self._require_room(connection)
        return connection

    def _require_room(self, connection: Connection[Any]) -> None:
        """Refuse a role whose sorts fail where they grow large; only a superuser can set that."""
        limit = None
        with suppress(driver().Error):
            found = connection.execute(
                "SELECT pg_catalog.current_setting('temp_file_limit')"
            ).fetchone()
            limit = found[0] if found else None
        if limit == "-1":
            return
        connection.close()
        if limit is None:
            raise self.unreachable()
        raise InvalidParameter(
            code="engine_unsuited",
            expectation="a role without a limit on temporary files (temp_file_limit = -1)",
            received=limit,
            remedy="As a superuser: ALTER ROLE curator SET temp_file_limit = -1. With a limit, "
            "whether a question fails would depend on private rows.",
        )

    def unreachable(self) -> InvalidParameter:
        """That there is no connection; why is for the server's own log."""
        return InvalidParameter(
            code="engine_unreachable",
            expectation="a server that answers, and a user, password and database that it knows",
            received=self.where,
            remedy="Check address and credentials with psql; the server's log says more.",
        )

    def __repr__(self) -> str:
        return f"PostgresServer({self.where!r})"
