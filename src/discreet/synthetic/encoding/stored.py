"""Columns as plain JSON, and back. The names of kinds never change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from discreet.synthetic.encoding.category_column import CategoryColumn
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.encoded_column import EncodedColumn
from discreet.synthetic.encoding.identifier_column import IdentifierColumn
from discreet.synthetic.encoding.number_column import NumberColumn

_KINDS: dict[str, Callable[[Mapping[str, Any]], EncodedColumn]] = {
    "category": CategoryColumn.from_dict,
    "number": NumberColumn.from_dict,
    "day": DayColumn.from_dict,
    "identifier": IdentifierColumn.from_dict,
}


def column_from_dict(plain: Mapping[str, Any]) -> EncodedColumn:
    """The column that its ``to_dict`` wrote."""
    return _KINDS[plain["column"]](plain)
