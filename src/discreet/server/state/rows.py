"""From rows to frozen objects: each field from the column of its name."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Row

Entry = TypeVar("Entry")


def read_row(kind: type[Entry], row: Row[Any]) -> Entry:
    """An object of a dataclass; columns that it has no field for are left out."""
    found = row._mapping
    return kind(**{each.name: found[each.name] for each in fields(kind)})  # type: ignore[arg-type]
