"""What PostgreSQL reports, in words of our own; never in the server's.

Errors of a server may quote rows or connection strings. Only the class of an error is passed on.

Source: PostgreSQL documentation, appendix "PostgreSQL Error Codes".
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Any

from discreet.postgres.address import driver

_LOST = ("08", "57P", "25P03")  # connection exceptions; shutdown, crash, terminated; idle too long
_LAST_WORDS = ("FATAL", "PANIC")
_BUSY = ("55P03", "57014", "40001", "40P01")  # lock, statement, serialisation, deadlock
_DAMAGED = ("XX001", "XX002", "23", "P0001", "42P01", "42703")
_REFUSALS = {
    "42501": "permission denied",
    "25006": "the server takes no writes",
    "53100": "the server's disk is full",
    "53200": "the server is out of memory",
}
_NO_CONNECTION = (
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


class Failure(Enum):
    """What became of a statement that failed."""

    LOST = auto()
    """The connection is gone, so that nobody said how a COMMIT ended."""
    BUSY = auto()
    """Others held a lock for too long."""
    DAMAGED = auto()
    """The tables are not as they were laid out, or their rules were broken."""
    REFUSED = auto()
    """The server does not do it."""


class NoConnection(Exception):
    """A server could not be reached; ``reason`` is in words of our own."""

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


def failure_of(error: Any) -> Failure:
    """What an error of psycopg means for the transaction in which it happened."""
    state = error.sqlstate or ""
    if _is_lost(error, state):
        return Failure.LOST
    if state in _BUSY:
        return Failure.BUSY
    return Failure.DAMAGED if state.startswith(_DAMAGED) else Failure.REFUSED


def refusal(error: Any) -> str:
    """Why a server does not do something: in words where there are some, else the class."""
    state = error.sqlstate or ""
    return _REFUSALS.get(state, f"{type(error).__name__} {state}".strip())


def reason_of(error: Any) -> str:
    """Why there is no connection."""
    text = str(error)
    return next((words for said, words in _NO_CONNECTION if said in text), "no connection")


def _is_lost(error: Any, state: str) -> bool:
    psycopg = driver()
    gone = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and not state
    return gone or state.startswith(_LOST) or error.diag.severity_nonlocalized in _LAST_WORDS
