"""What PostgreSQL reports, in the ledger's own words; never in the server's.

Errors of a server may quote rows or connection strings. Only the class of an error is passed on.

Source: PostgreSQL documentation, appendix "PostgreSQL Error Codes".
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.core.errors import LedgerError
from discreet.ledger.errors import busy, damaged, unreachable, unwritable
from discreet.ledger.sqlite import errors as trouble
from discreet.postgres.address import driver

_GONE = ("08", "57P", "25P03")  # connection exceptions; shutdown, crash, terminated; idle too long
_LAST_WORDS = ("FATAL", "PANIC")
_BUSY = ("55P03", "57014", "40001", "40P01")  # lock, statement, serialisation, deadlock
_DAMAGED = ("XX001", "XX002", "23", "P0001", "42P01", "42703")
_WORDS = {
    "42501": "permission denied",
    "25006": "the server takes no writes",
    "53100": "the server's disk is full",
    "53200": "the server is out of memory",
}


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn errors of psycopg into those of the ledger; the original is not shown."""
    try:
        yield
        return
    except driver().Error as error:
        fault = _fault(error, where)
    except UnicodeDecodeError:
        fault = damaged(what="an entry is not text")
    raise fault from None


def is_gone(error: Any) -> bool:
    """Whether the connection is lost with this error, so that nobody said how a COMMIT ended."""
    state = error.sqlstate or ""
    psycopg = driver()
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and not state
    return lost or state.startswith(_GONE) or error.diag.severity_nonlocalized in _LAST_WORDS


def _fault(error: Any, where: str) -> LedgerError:
    state = error.sqlstate or ""
    if is_gone(error):
        return unreachable(where, reason="the connection was lost")
    if state in _BUSY:
        return busy(trouble.PATIENCE)
    if state.startswith(_DAMAGED):
        return damaged(what=f"the server's tables: {type(error).__name__}")
    return unwritable(reason=_WORDS.get(state, f"{type(error).__name__} {state}".strip()))
