"""Pages of lists, the latest first: from where the last one ended, however much was added since."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, true

from discreet.core.errors import InvalidParameter

MOST = 200
USUAL = 50


@dataclass(frozen=True)
class Cursor:
    """A place in a list by time and id; what follows is earlier."""

    time: int
    id: str

    def __str__(self) -> str:
        """As it stands in an address."""
        return f"{self.time}-{self.id}"


LATEST = Cursor(2**62, "")
"""Before the first entry."""


def cursor_from(text: str | None) -> Cursor:
    """The place that a page ended with, or the beginning."""
    if text is None:
        return LATEST
    found = re.fullmatch(r"([0-9]{1,18})-([0-9a-zA-Z._-]{0,80})", text)
    if found is None:
        raise _misread(text)
    return Cursor(int(found[1]), found[2])


def number_from(text: str | None) -> int:
    """The number that a page of a numbered list ended with, or zero to begin."""
    if text is None:
        return 0
    if re.fullmatch(r"[0-9]{1,18}", text) is None:
        raise _misread(text)
    return int(text)


def _misread(text: str) -> InvalidParameter:
    return InvalidParameter(
        code="page_cursor",
        expectation="a place that an earlier page gave as `next`",
        received=text[:100],
        remedy="Leave `after` out to begin.",
    )


def earlier(time: ColumnElement[int], key: ColumnElement[str], place: Cursor) -> ColumnElement[Any]:
    """What comes after a place, where the latest stands first."""
    if place == LATEST:
        return true()
    return or_(time < place.time, and_(time == place.time, key < place.id))
