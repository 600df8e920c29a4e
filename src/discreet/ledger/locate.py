"""From what a user writes to a ledger."""

from __future__ import annotations

import os

from discreet.core.errors import InvalidParameter
from discreet.ledger.ledger import Ledger
from discreet.ledger.sqlite.ledger import SQLite

_SERVERS = ("postgresql:", "postgres:")  # as a path it would be a file named after a password


def ledger_at(value: Ledger | str | os.PathLike[str]) -> Ledger:
    """A ledger as it is, or the file at a path.

    >>> ledger_at("visits.ledger").durable
    True
    """
    if isinstance(value, Ledger):
        return value
    if isinstance(value, str) and value.startswith(_SERVERS):
        raise InvalidParameter(
            code="ledger_key_needed",
            expectation="a ledger on a server together with the place of its key",
            received="postgresql://...",
            remedy='Write ledger=dp.ledger.Postgres(url, name="visits", key="vault/visits.key").',
        )
    if isinstance(value, (str, os.PathLike)) and str(value):
        return SQLite(value)
    raise InvalidParameter(
        code="ledger_expected",
        expectation="a path for the ledger, or a ledger",
        received=type(value).__name__,
        remedy='Write ledger="visits.ledger"; `ledger.Memory()` forgets with the process.',
    )
