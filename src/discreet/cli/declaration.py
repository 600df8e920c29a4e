"""Declarations of columns as short text: ``number:0:120``, ``category:A,B``, ``dates:...``."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime

from discreet.core.errors import DiscreetError, InvalidParameter
from discreet.relational.schema.declarations import (
    Boolean,
    Category,
    Dates,
    Declaration,
    Discovered,
    Integer,
    Number,
    Text,
)
from discreet.relational.types.data_type import DataType

FORMS = (
    "number:LOW:HIGH or number:LOW:HIGH:STEP, integer:LOW:HIGH, boolean, "
    "category:VALUE,VALUE,..., category+null:VALUE,... "
    "where missing values are a group of their own, "
    "dates:FIRST:LAST with days such as 2024-01-31, discovered, text or text:ELEMENTS "
    "where rows hold lists of at most so many, or skip"
)
_EXAMPLE = "For instance age=number:0:120, ward=category:A,B,C, day=dates:2024-01-01:2024-12-31."


def declaration(column: str, text: str, kind: DataType | None) -> Declaration | None:
    """What ``text`` declares about a column stored as ``kind``; None where it is skipped.

    >>> declaration("age", "number:0:120", DataType.TEXT)
    Number(low=0, high=120, step=None)
    >>> declaration("ward", 'category:A,"B, C"', DataType.TEXT)
    Category(values=('A', 'B, C'))
    >>> declaration("ward", "category+null:A,B", DataType.TEXT)
    Category(values=('A', 'B', None))
    """
    word, _, rest = text.strip().partition(":")
    try:
        read = _READ.get(word.strip().lower())
        if read is not None:
            return read(rest, kind)
    except DiscreetError as refusal:
        raise type(refusal)(
            code=refusal.code,
            expectation=f"{refusal.expectation}, for the column {column}",
            received=refusal.received,
            remedy=f"{refusal.remedy} {_EXAMPLE}",
        ) from None
    except (KeyError, TypeError, ValueError):
        pass
    raise InvalidParameter(
        code="declaration_misread",
        expectation=f"for the column {column} one of: {FORMS}",
        received=text,
        remedy=_EXAMPLE,
    )


def split(text: str, columns: Sequence[str]) -> tuple[str, str]:
    """Column and declaration of ``column=declaration``; names of columns may hold ``=``."""
    for name in sorted(columns, key=len, reverse=True):
        if text.startswith(f"{name}="):
            return name, text[len(name) + 1 :]
    name, sign, rest = text.partition("=")
    if not sign:
        raise InvalidParameter(
            code="declaration_misread",
            expectation="COLUMN=DECLARATION",
            received=text,
            remedy=_EXAMPLE,
        )
    return name, rest


def _number(text: str) -> int | float:
    plain = text.strip().replace("_", "")
    try:
        return int(plain)
    except ValueError:
        return float(plain)


def _values(text: str, kind: DataType | None) -> list[object]:
    """The listed values, in the kind that the column is stored in."""
    listed = [value.strip() for value in next(csv.reader([text], skipinitialspace=True), [])]
    if "" in listed:
        raise InvalidParameter(
            code="category_values",
            expectation="a value before, between and after the commas",
            received=text,
            remedy="Remove the spare comma. Missing values are a group of their own with "
            "category+null:A,B; a text that is truly empty is listed in the project file.",
        )
    read = _VALUES.get(kind or DataType.TEXT, str)
    return [read(value) for value in listed]


def _truth(text: str) -> bool:
    return {"true": True, "false": False, "1": True, "0": False}[text.lower()]


_VALUES: Mapping[DataType, Callable[[str], object]] = {
    DataType.INTEGER: int,
    DataType.DOUBLE: float,
    DataType.BOOLEAN: _truth,
    DataType.DATE: date.fromisoformat,
    DataType.TIMESTAMP: datetime.fromisoformat,
}


def _days(text: str) -> tuple[date, date]:
    """Two days, or two moments, with a colon between them; moments hold colons themselves."""
    parts = text.split(":")
    first, last = (
        ":".join(half).strip() for half in (parts[: len(parts) // 2], parts[len(parts) // 2 :])
    )
    if len(first) > len("2024-01-31"):
        return datetime.fromisoformat(first), datetime.fromisoformat(last)
    return date.fromisoformat(first), date.fromisoformat(last)


_READ: dict[str, Callable[[str, DataType | None], Declaration | None]] = {
    "skip": lambda rest, kind: None,
    "": lambda rest, kind: None,
    "number": lambda rest, kind: Number(*map(_number, rest.split(":"))),
    "integer": lambda rest, kind: Integer(*map(int, rest.split(":"))),
    "boolean": lambda rest, kind: Boolean(),
    "category": lambda rest, kind: Category(_values(rest, kind)),
    "category+null": lambda rest, kind: Category([*_values(rest, kind), None]),
    "discovered": lambda rest, kind: Discovered(int(rest or 1)),
    "text": lambda rest, kind: Text(int(rest)) if rest else Text(),
    "dates": lambda rest, kind: Dates(*_days(rest)),
    "date": lambda rest, kind: Dates(*_days(rest)),
}
"""What may be declared, by its word."""
