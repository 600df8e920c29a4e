"""What was computed from an object that does not change, for when the same object comes again.

By the very object, not by what it equals: equality may take as long as the computation, and equal
objects may be written differently, as 1 and True are. The object is kept beside, so that no other
can have its place in memory meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Sized
from typing import Generic, TypeVar

Made = TypeVar("Made")


MANY = 1_000
"""From so many parts on a list takes long to look through."""


class ByObject(Generic[Made]):
    """What was made of at most so many objects; then all is forgotten.

    >>> lengths, word = ByObject[int](2), "word"
    >>> lengths.of(word, len), len(lengths)
    (4, 1)
    """

    def __init__(self, most: int) -> None:
        """Nothing yet."""
        self._most = most
        self._made: dict[int, tuple[object, Made]] = {}

    def of_long(self, value: Sized, make: Callable[..., Made]) -> Made:
        """The same for what has many parts; what is made of others is not kept."""
        return make(value) if len(value) < MANY else self.of(value, make)

    def of(self, value: object, make: Callable[..., Made]) -> Made:
        """What ``make`` gives for a value, or gave before."""
        kept = self._made.get(id(value))
        if kept is not None and kept[0] is value:
            return kept[1]
        made = make(value)
        if len(self._made) >= self._most:
            self._made.clear()
        self._made[id(value)] = value, made
        return made

    def __len__(self) -> int:
        return len(self._made)
