"""Lists on the wire: a page at a time, each with the place where the next begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict

from discreet.server.state.pagination import MOST, USUAL, Cursor, cursor_from, number_from

Item = TypeVar("Item")


class Body(BaseModel):
    """What a request sends; fields that nobody knows are refused by name."""

    model_config = ConfigDict(extra="forbid")


class Listing(BaseModel):
    """A page: its items, and what to pass as ``after`` for the next; none at the end."""

    items: list[dict[str, Any]]
    next: str | None


class PageRequest:
    """Which page is wanted."""

    def __init__(
        self,
        after: Annotated[str | None, Query(max_length=200)] = None,
        count: Annotated[int, Query(ge=1, le=MOST)] = USUAL,
    ) -> None:
        """From ``after`` on, so many."""
        self.after = after
        self.count = count

    @property
    def cursor(self) -> Cursor:
        """Where it begins, in a list with the latest first."""
        return cursor_from(self.after)

    @property
    def number(self) -> int:
        """Where it begins, in a list that is numbered."""
        return number_from(self.after)

    def by_time(
        self, found: Sequence[Item], time: Callable[[Item], int], show: Callable[[Item], Any]
    ) -> Listing:
        """A page of a list with the latest first."""
        more = len(found) == self.count
        last = str(Cursor(time(found[-1]), found[-1].id)) if more else None  # type: ignore[attr-defined]
        return Listing(items=[show(each) for each in found], next=last)

    def by_name(
        self, found: Sequence[Item], name: Callable[[Item], str], show: Callable[[Item], Any]
    ) -> Listing:
        """A page of a list in the order of names."""
        more = len(found) == self.count
        return Listing(items=[show(each) for each in found], next=name(found[-1]) if more else None)


ThePage = Annotated[PageRequest, Depends()]
