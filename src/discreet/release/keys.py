"""Key columns: public values of one kind each, and their place in JSON."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import date, datetime
from typing import Any, TypeAlias

from discreet.core.by_object import ByObject
from discreet.core.errors import InvalidParameter

Key: TypeAlias = str | int | float | bool | date | datetime | None
KeyColumn: TypeAlias = tuple[Key, ...]

_KINDS: dict[type, str] = {
    str: "text",
    int: "whole",
    float: "real",
    bool: "truth",
    date: "date",
    datetime: "time",
}
_READERS: dict[str, Callable[[str], Key]] = {
    "date": date.fromisoformat,
    "time": datetime.fromisoformat,
}


_KINDS_OF = ByObject[str](16)
_AS_JSON = ByObject[list[Any]](16)
"""Long columns of keys are those of a public table, and come again."""


def kind_of(name: str, column: KeyColumn) -> str:
    """The one kind of the values of a key column, None aside; text if there is nothing else.

    >>> kind_of("day", (date(2024, 2, 29), None)), kind_of("ward", ("A", "B"))
    ('date', 'text')
    """
    return _KINDS_OF.of_long(column, lambda _: _kind_of(name, column))


def _kind_of(name: str, column: KeyColumn) -> str:
    kinds = set(map(type, column)) - {type(None)}
    if not kinds:
        return "text"
    kind = _KINDS.get(next(iter(kinds))) if len(kinds) == 1 else None
    if kind is None or not _is_one_kind(kind, column):
        raise InvalidParameter(
            code="key_kind",
            expectation=f"one kind in {name!r}: text, int, finite float, bool, date or datetime",
            received=sorted(kind.__name__ for kind in kinds),
            remedy="Convert the column to one of these kinds; None stands for what is missing.",
        )
    return kind


def _is_one_kind(kind: str, column: tuple[Any, ...]) -> bool:
    """Whether reals are finite, and times all have a zone or all have none."""
    if kind == "real":
        return all(value is None or math.isfinite(value) for value in column)
    if kind == "time":
        zones = {value.tzinfo for value in column if value is not None}
        if zones == {None}:
            return True
        return len({value.utcoffset() is None for value in column if value is not None}) == 1
    return True


def column_to_json(kind: str, column: KeyColumn) -> list[Any]:
    """The values as JSON knows them; not to be changed."""
    if kind not in _READERS:
        return list(column)
    return _AS_JSON.of_long(column, _convert_to_iso_texts)


def _convert_to_iso_texts(column: tuple[Any, ...]) -> list[Any]:
    return [None if value is None else value.isoformat() for value in column]


def column_from_json(kind: str, values: list[Any]) -> KeyColumn:
    """The values that :func:`column_to_json` wrote."""
    read = _READERS.get(kind)
    if read is None:
        return tuple(values)
    return tuple(None if value is None else read(value) for value in values)
