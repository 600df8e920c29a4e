"""Tables of public keys that an engine keeps between questions: as many as fit, the latest ones.

A question names its keys in every statement, and the next one often has the same, so they are
built once. The least recently used are dropped, but never those of a question that still runs.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from discreet.core.by_object import ByObject
from discreet.relational.types.data_type import DataType

Entries: TypeAlias = Sequence[tuple[object, ...]]
Kinds: TypeAlias = Sequence[DataType]

MAX_TABLES = 64
MAX_ROWS = 1 << 20
"""How much is kept for later questions; what a running question needs comes on top."""


def at_least_one(entries: Entries, kinds: Kinds) -> tuple[Entries, str]:
    """Rows that VALUES can hold, which has none without any, and the condition that drops them."""
    return (entries, "") if entries else ([(None,) * len(kinds)], " WHERE FALSE")


class _Wanted:
    """Keys and their kinds, with their hash: to hash many keys takes as long as to use them."""

    __slots__ = ("_hash", "entries", "kinds")

    def __init__(self, entries: Entries, kinds: Kinds) -> None:
        self.entries, self.kinds = tuple(entries), tuple(kinds)
        self._hash = hash((self.entries, self.kinds))

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Wanted):
            return NotImplemented
        return self is other or (
            self._hash == other._hash and (self.entries, self.kinds) == (other.entries, other.kinds)
        )


class KeyTables:
    """Keys by their name in the engine. ``make`` builds a table and says its name."""

    def __init__(self, make: Callable[[Entries, Kinds], str], drop: Callable[[str], None]) -> None:
        """Keep nothing yet."""
        self._make, self._drop = make, drop
        self._alone = threading.RLock()
        self._known: OrderedDict[_Wanted, str] = OrderedDict()
        self._lately = ByObject[dict[tuple[DataType, ...], _Wanted]](16)
        self._held: Counter[str] = Counter()
        self._here = threading.local()

    def table(self, entries: Entries, kinds: Kinds) -> str:
        """The name of a table of these keys, which stays until the question here ends."""
        with self._alone:
            wanted = self._wanted(entries, tuple(kinds))
            if wanted not in self._known:
                self._known[wanted] = self._make(wanted.entries, wanted.kinds)
            self._known.move_to_end(wanted)
            name = self._known[wanted]
            holding = getattr(self._here, "names", None)
            if holding is not None and name not in holding:
                holding.add(name)
                self._held[name] += 1
            self._shrink()
        return name

    def _wanted(self, entries: Entries, kinds: tuple[DataType, ...]) -> _Wanted:
        """These keys; the same object as before, where they are the same object."""
        before: dict[tuple[DataType, ...], _Wanted] = {}
        if isinstance(entries, tuple):
            before = self._lately.of_long(entries, lambda _: {})
        if kinds not in before:
            before[kinds] = _Wanted(entries, kinds)
        return before[kinds]

    @contextmanager
    def hold_keys(self) -> Iterator[None]:
        """Keys named inside, by this thread, are not dropped before the end."""
        if getattr(self._here, "names", None) is not None:
            yield
            return
        self._here.names = set[str]()
        try:
            yield
        finally:
            with self._alone:
                self._held -= Counter(self._here.names)
                self._here.names = None
                self._shrink()

    def clear(self) -> None:
        """Forget all, where the engine lets go of them by itself."""
        with self._alone:
            self._known.clear()
            self._held.clear()

    def __len__(self) -> int:
        """How many tables there are."""
        return len(self._known)

    def _shrink(self) -> None:
        """Drop the oldest that nobody uses, but not the newest of all."""
        if len(self._known) <= 1:
            return
        rows = sum(len(wanted.entries) for wanted in self._known)
        for wanted, name in list(self._known.items())[:-1]:
            if len(self._known) <= MAX_TABLES and rows <= MAX_ROWS:
                return
            if not self._held[name]:
                del self._known[wanted]
                rows -= len(wanted.entries)
                self._drop(name)
