"""Connections with our pinned settings, and how they and their transactions end."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from discreet.postgres.address import Address, driver
from discreet.postgres.errors import NoConnection, reason_of

if TYPE_CHECKING:
    from psycopg import Connection


def connect(address: Address) -> Connection[Any]:
    """A new connection, or :class:`NoConnection`, to which no word of the server is attached.

    Guarantee: statements are committed one by one unless a transaction was started; text is UTF-8;
    nothing is prepared on the server, so that it also works behind a pool of connections.
    """
    try:
        return address.dial()
    except driver().Error as error:
        reason = reason_of(error)
    raise NoConnection(reason)


def roll_back(connection: Connection[Any]) -> bool:
    """End a transaction, if there is one; whether the connection is of further use."""
    try:
        if connection.info.transaction_status != driver().pq.TransactionStatus.IDLE:
            connection.execute("ROLLBACK")
    except driver().Error:
        return False
    return not connection.closed


def hang_up(connection: Connection[Any] | None) -> None:
    """Close a connection, in whatever state it is."""
    if connection is not None:
        with suppress(driver().Error):
            connection.close()
