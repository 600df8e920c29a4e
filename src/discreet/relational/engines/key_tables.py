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

from discreet.relational.types.data_type import DataType

Entries: TypeAlias = Sequence[tuple[object, ...]]
Kinds: TypeAlias = Sequence[DataType]

MAX_TABLES = 64
MAX_ROWS = 1 << 20
"""How much is kept for later questions; what a running question needs comes on top."""


def at_least_one(entries: Entries, kinds: Kinds) -> tuple[Entries, str]:
    """Rows that VALUES can hold, which has none without any, and the condition that drops them."""
    return (entries, "") if entries else ([(None,) * len(kinds)], " WHERE FALSE")


class KeyTables:
    """Keys by their name in the engine. ``make`` builds a table and says its name."""

    def __init__(self, make: Callable[[Entries, Kinds], str], drop: Callable[[str], None]) -> None:
        """Keep nothing yet."""
        self._make, self._drop = make, drop
        self._alone = threading.RLock()
        self._known: OrderedDict[tuple[Entries, Kinds], str] = OrderedDict()
        self._held: Counter[str] = Counter()
        self._here = threading.local()

    def table(self, entries: Entries, kinds: Kinds) -> str:
        """The name of a table of these keys, which stays until the question here ends."""
        wanted = (tuple(entries), tuple(kinds))
        with self._alone:
            if wanted not in self._known:
                self._known[wanted] = self._make(*wanted)
            self._known.move_to_end(wanted)
            name = self._known[wanted]
            holding = getattr(self._here, "names", None)
            if holding is not None and name not in holding:
                holding.add(name)
                self._held[name] += 1
            self._shrink()
        return name

    @contextmanager
    def held(self) -> Iterator[None]:
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
        rows = sum(len(entries) for entries, _ in self._known)
        for wanted, name in list(self._known.items())[:-1]:
            if len(self._known) <= MAX_TABLES and rows <= MAX_ROWS:
                return
            if not self._held[name]:
                del self._known[wanted]
                rows -= len(wanted[0])
                self._drop(name)
