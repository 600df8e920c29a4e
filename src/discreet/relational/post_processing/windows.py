"""Windows over released rows: ranks, neighbours, running and partial sums.

Order and partitions follow the released values. A sum over a window has the noise of all its
rows, so a share of a total knows that its numerator is part of the denominator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.relational.limits.public_work import require_computed
from discreet.relational.post_processing.compute import compute
from discreet.relational.post_processing.outer_aggregates import NAMES, aggregated
from discreet.relational.post_processing.uncertain import Value, point
from discreet.relational.types.expression import Expression

Row = Mapping[str, Value]

RANKS = ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE")
NEIGHBOURS = ("LAG", "LEAD", "FIRST_VALUE", "LAST_VALUE")
_LOOKED_AT = 4
"""How many rows of a frame are looked at in the time in which a row is computed."""


@dataclass(frozen=True)
class WindowFrame:
    """Which rows around a row: from ``first`` to ``last``, counted from it; None is no end.

    ``peers`` says that rows equal in the order stand and fall together.
    """

    first: int | None
    last: int | None
    peers: bool


@dataclass(frozen=True)
class AnswerOrder:
    """One term of the order within a window."""

    expression: Expression
    sign: int
    nulls_first: bool


@dataclass(frozen=True)
class Window:
    """A function by name over the rows of a partition, in an order."""

    name: str
    arguments: tuple[Expression, ...]
    condition: Expression | None
    partition: tuple[Expression, ...]
    order: tuple[AnswerOrder, ...]
    frame: WindowFrame

    @property
    def has_frames(self) -> bool:
        """Whether it goes through the rows of a frame, in place of single ones."""
        return self.name in NAMES

    def longest(self, size: int) -> int:
        """The most rows of one frame in a partition of so many."""
        first, last = self.frame.first, self.frame.last
        if self.name == "COUNT":
            return 1  # a number of rows has no noise
        if first is None or last is None or self.frame.peers:
            return size
        return min(size, max(1, last - first + 1))

    def in_frames(self, size: int) -> int:
        """The most rows of all frames in a partition of so many; equal frames count once."""
        first, last = self.frame.first, self.frame.last
        if (first is None and last is None) or (self.frame.peers and not self.order):
            return size
        if first is None or last is None:
            beyond = max(0, last or 0) + max(0, -(first or 0))
            return min(size * size, size * (size + 1) // 2 + size * beyond)
        return size * min(size, max(0, last - first + 1))


def sort_key(terms: Sequence[tuple[object, int, bool]]) -> list[Any]:
    """A key that sorts values each in its own direction, NULL at one end."""
    return [_Placed(value, sign, nulls_first) for value, sign, nulls_first in terms]


class _Placed:
    """A value in an order: NULL first or last, whichever way the others run."""

    def __init__(self, value: object, sign: int, nulls_first: bool) -> None:  # noqa: FBT001
        self.place = 0 if value is not None else (-1 if nulls_first else 1)
        self.value: Any = value
        self.sign = sign

    def __lt__(self, other: _Placed) -> bool:
        if self.place != other.place:
            return self.place < other.place
        if self.value is None or self.value == other.value:
            return False
        return bool(self.value < other.value) is (self.sign > 0)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Placed) and (self.place, self.value) == (other.place, other.value)

    __hash__ = None  # type: ignore[assignment]


def windowed(window: Window, rows: Sequence[Row]) -> list[Value]:
    """The value of a window function in each of the rows."""
    parts: dict[tuple[object, ...], list[int]] = {}
    for number, row in enumerate(rows):
        key = tuple(point(compute(each, row)) for each in window.partition)
        parts.setdefault(key, []).append(number)
    found: list[Value] = [None] * len(rows)
    for members in parts.values():
        keys = {
            number: sort_key(
                [
                    (point(compute(term.expression, rows[number])), term.sign, term.nulls_first)
                    for term in window.order
                ]
            )
            for number in members
        }
        members.sort(key=lambda number: keys[number])
        part = _Part([rows[number] for number in members], [keys[number] for number in members])
        for number, value in zip(members, part.values(window), strict=True):
            found[number] = value
    return found


@dataclass(frozen=True)
class _Part:
    """The rows of one partition, in their order, with the keys of that order."""

    rows: list[Row]
    keys: list[list[Any]]

    def values(self, window: Window) -> list[Value]:
        if window.name in RANKS:
            return self._ranks(window)
        if window.name in ("LAG", "LEAD"):
            return self._neighbours(window)
        return self._over_frames(window)

    def _peers(self) -> list[tuple[int, int]]:
        """For each row the first and the last that are equal to it in the order."""
        found: list[tuple[int, int]] = []
        start = 0
        for place in range(1, len(self.rows) + 1):
            if place == len(self.rows) or self.keys[place] != self.keys[start]:
                found += [(start, place - 1)] * (place - start)
                start = place
        return found

    def _ranks(self, window: Window) -> list[Value]:
        count, peers = len(self.rows), self._peers()
        ranks = {first: n for n, first in enumerate(sorted({first for first, _ in peers}), 1)}
        buckets = _whole(window.arguments[0], self.rows[0]) if window.arguments else 1
        made: dict[str, Callable[[int], Value]] = {
            "ROW_NUMBER": lambda place: place + 1,
            "RANK": lambda place: peers[place][0] + 1,
            "DENSE_RANK": lambda place: ranks[peers[place][0]],
            "PERCENT_RANK": lambda place: peers[place][0] / (count - 1) if count > 1 else 0.0,
            "CUME_DIST": lambda place: (peers[place][1] + 1) / count,
            "NTILE": lambda place: _bucket(place, count, buckets),
        }
        return [made[window.name](place) for place in range(count)]

    def _neighbours(self, window: Window) -> list[Value]:
        value, *more = window.arguments
        found: list[Value] = []
        for place, row in enumerate(self.rows):
            step = _whole(more[0], row) if more else 1
            other = place - step if window.name == "LAG" else place + step
            if 0 <= other < len(self.rows):
                found.append(compute(value, self.rows[other]))
            else:
                found.append(compute(more[1], row) if len(more) > 1 else None)
        return found

    def _over_frames(self, window: Window) -> list[Value]:
        argument = window.arguments[0] if window.arguments else None
        values: list[Value] = [
            1 if argument is None else compute(argument, row) for row in self.rows
        ]
        if window.condition is not None:
            chosen = [compute(window.condition, row) is True for row in self.rows]
            values = [value if kept else None for value, kept in zip(values, chosen, strict=True)]
        known: dict[tuple[int, int], Value] = {}
        found, frames = [], self._frames(window.frame)
        require_computed(sum(last - first + 1 for first, last in set(frames)) // _LOOKED_AT)
        for ends in frames:
            if ends not in known:
                known[ends] = _of(window.name, values, ends)
            found.append(known[ends])
        return found

    def _frames(self, frame: WindowFrame) -> list[tuple[int, int]]:
        """The first and the last row of each row's frame; the last before the first if empty."""
        last, peers = len(self.rows) - 1, self._peers()
        found = []
        for place in range(len(self.rows)):
            start = 0 if frame.first is None else max(place + frame.first, 0)
            end = last if frame.last is None else min(place + frame.last, last)
            if frame.peers:
                start = peers[place][0] if frame.first == 0 else start
                end = peers[place][1] if frame.last == 0 else end
            found.append((start, end))
        return found


def _of(name: str, values: Sequence[Value], ends: tuple[int, int]) -> Value:
    first, last = ends
    if name in NAMES:
        return aggregated(name, values[first : max(first, last + 1)])
    if first >= len(values) or last < first:
        return None
    return values[first] if name == "FIRST_VALUE" else values[last]


def _whole(expression: Expression, row: Row) -> int:
    value = point(compute(expression, row))
    return value if isinstance(value, int) else 1


def _bucket(place: int, count: int, buckets: int) -> int:
    size, larger = divmod(count, buckets)
    if place < larger * (size + 1):
        return place // (size + 1) + 1
    return larger + (place - larger * (size + 1)) // max(size, 1) + 1
