"""An entry as a row of a table, the same in a file and on a server.

All text in a row is ASCII, so it reads back the same under every encoding a database may have.
"""

from __future__ import annotations

import json
from typing import Any

from discreet.ledger.amounts import read, written
from discreet.ledger.entry import Entry, Kind
from discreet.ledger.errors import damaged
from discreet.ledger.plain_json import compact

COLUMNS = "number, id, kind, time, subject, body, spent, ceiling, previous, mac"
"""In the order of :func:`row_of` and :func:`entry_of`."""


def row_of(entry: Entry) -> tuple[Any, ...]:
    """The fields of an entry, amounts as text."""
    return (
        *(entry.number, entry.id, entry.kind.value, entry.time, entry.subject, entry.text),
        *(compact(written(entry.spent)), compact(written(entry.limit))),
        *(entry.previous, entry.mac),
    )


def entry_of(row: tuple[Any, ...]) -> Entry:
    """Read a row; whatever could not have been written is damage."""
    number, name, kind, time, subject, text, spent, limit, previous, mac = row
    if not all(isinstance(part, str) for part in row[1:]):
        raise damaged(what=f"entry {number}")
    try:
        return Entry(
            number=number,
            id=name,
            kind=Kind(kind),
            time=time,
            subject=subject,
            text=text,
            spent=read(json.loads(spent)),
            limit=read(json.loads(limit)),
            previous=previous,
            mac=mac,
        )
    except ValueError:
        raise damaged(what=f"entry {number}") from None
