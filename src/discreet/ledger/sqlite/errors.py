"""What SQLite reports, in the ledger's own words, and waiting while others hold the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from discreet.core.errors import LedgerError
from discreet.ledger import waiting
from discreet.ledger.errors import busy, closed, damaged, foreign, missing, unwritable

_SHORTEST_NAP, _LONGEST_NAP = 0.0005, 0.004  # SQLite's own naps grow to a hundred times a write

Result = TypeVar("Result")

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_UNWRITABLE = {
    *(sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_PERM),
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_NOLFS),
}


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn errors of SQLite into those of the ledger at ``path``."""
    try:
        yield
    except sqlite3.Error as error:
        raise _ledger_error(error, path) from error


def patiently(act: Callable[[], Result]) -> Result:
    """Try again while others hold the file, for as long as there is patience."""
    return waiting.patiently(act, passes=_is_busy, nap=_SHORTEST_NAP, longest_nap=_LONGEST_NAP)


def _is_busy(error: Exception) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY


def _ledger_error(error: sqlite3.Error, path: Path) -> LedgerError:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # raised by Python's module itself: the connection is gone
        return closed()
    primary = code & 0xFF
    if _is_busy(error):
        return busy(waiting.PATIENCE)
    if primary == sqlite3.SQLITE_CANTOPEN and not path.exists():
        return missing(path.name)
    if primary in _UNWRITABLE:
        return unwritable(reason=str(error))
    if primary == sqlite3.SQLITE_NOTADB:
        return foreign(path.name)
    return damaged(what=error.sqlite_errorname)
