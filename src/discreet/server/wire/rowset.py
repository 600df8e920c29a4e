"""What a statement gives: columns, rows, and the word with which it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.server.wire import messages
from discreet.server.wire.messages import FieldForm
from discreet.server.wire.types import TEXT, WireType, require_form


@dataclass(frozen=True)
class WireColumn:
    """A column by name and type."""

    name: str
    form: WireType


Columns = tuple[WireColumn, ...]


@dataclass(frozen=True)
class RowSet:
    """Rows under columns; no columns where a statement has no rows to give.

    ``notices`` are what readers must know beside the rows.
    """

    columns: Columns | None
    rows: Sequence[Sequence[Any]] = ()
    tag: str = ""
    notices: Sequence[str] = ()

    def complete(self, sent: int) -> bytes:
        """The message at the end, after so many rows."""
        return messages.command_complete(self.tag or f"SELECT {sent}")


def done(tag: str) -> RowSet:
    """A statement without rows."""
    return RowSet(None, (), tag)


def texts(name: str, lines: Sequence[str], tag: str) -> RowSet:
    """One column of text."""
    return RowSet((WireColumn(name, TEXT),), [(line,) for line in lines], tag)


def forms(columns: Columns, binary: Sequence[int]) -> list[FieldForm]:
    """How columns travel, for the formats asked for: none, one for all, or one for each."""
    if len(binary) not in (0, 1, len(columns)):
        raise InvalidParameter(
            code="wire_formats",
            expectation=f"no format, one for all columns, or one for each of {len(columns)}",
            received=len(binary),
            remedy="Bind the statement again.",
        )
    each = list(binary) if len(binary) == len(columns) else [*(binary or (0,))] * len(columns)
    for column, wanted in zip(columns, each, strict=True):
        require_form(column.form, binary=bool(wanted))
    return [
        FieldForm(column.name, column.form.oid, column.form.size, bool(wanted))
        for column, wanted in zip(columns, each, strict=True)
    ]


def row_message(row: Sequence[Any], columns: Columns, fields: Sequence[FieldForm]) -> bytes:
    """One row as it travels."""
    return messages.data_row(
        [
            column.form.encoded(value, binary=field.binary)
            for value, column, field in zip(row, columns, fields, strict=True)
        ]
    )
