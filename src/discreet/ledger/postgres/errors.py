"""What PostgreSQL reports, in the ledger's own errors; never in the server's words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from discreet.core.errors import LedgerError
from discreet.ledger import waiting
from discreet.ledger.errors import busy, damaged, unreachable, unwritable
from discreet.postgres.address import driver
from discreet.postgres.errors import Failure, NoConnection, failure_of, refusal


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn errors of psycopg into those of the ledger; the original is not shown."""
    try:
        yield
        return
    except driver().Error as error:
        found = _ledger_error(error, where)
    except NoConnection as error:
        found = unreachable(where, reason=error.reason)
    except UnicodeDecodeError:
        found = damaged(what="an entry is not text")
    raise found from None


def is_unreachable(error: BaseException) -> bool:
    """Whether the server could not be asked, so that trying again may help."""
    return isinstance(error, LedgerError) and error.code == "ledger_unreachable"


def _ledger_error(error: Any, where: str) -> LedgerError:
    match failure_of(error):
        case Failure.LOST:
            return unreachable(where, reason="the connection was lost")
        case Failure.BUSY:
            return busy(waiting.PATIENCE)
        case Failure.DAMAGED:
            return damaged(what=f"the server's tables: {type(error).__name__}")
        case Failure.REFUSED:
            return unwritable(reason=refusal(error))
