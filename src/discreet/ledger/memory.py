"""A ledger that lasts as long as the process: for notebooks, tests and data of no consequence."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from discreet.core.errors import InvalidParameter
from discreet.ledger.chain import Chain
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.entry import Entry, EntryKind, first
from discreet.ledger.errors import closed, not_copied
from discreet.ledger.key import OwnerKey, fresh_secret
from discreet.ledger.ledger import Ledger
from discreet.ledger.terms import LedgerTerms


class Memory(Ledger):
    """A ledger in memory. What is spent is forgotten with the process, so choose it knowingly.

    >>> ledger = Memory()
    >>> terms = LedgerTerms(
    ...     unit="Row()", budget={}, filter="epsilon", limit=(10,), identities="question/1"
    ... )
    >>> ledger.open(terms) == terms
    True
    >>> name = ledger.reserve(analyst="ann", query="count", charge=(4,), event="{}", detail={})
    >>> ledger.commit(name, {"n": 17})
    >>> ledger.find(analyst="ann", query="count"), ledger.remaining()
    ({'n': 17}, (6,))
    """

    durable = False

    def __init__(self) -> None:
        """Start empty, with a key of its own."""
        key = OwnerKey(fresh_secret())
        self._own_key = key
        super().__init__(Chain(MemoryStore(), lambda: key))

    def _begin(self, terms: LedgerTerms) -> None:
        with self.chain.store.writing():
            if self.chain.store.checkpoint() is None:
                entry = first(text=terms.text(self._own_key.identity), limit=terms.limit)
                self.chain.store.append(entry.sealed(self._own_key))

    def backup(self, path: str | os.PathLike[str]) -> Checkpoint:
        """Refused: there is nothing on disk to go on from."""
        raise InvalidParameter(
            code="ledger_not_durable",
            expectation="a ledger on disk",
            received=type(path).__name__,
            remedy="Open the curator with a path for its ledger.",
        )

    def __repr__(self) -> str:
        return "Memory()"


class MemoryStore:
    """Entries in a list, with indices; of one process, since a fork would spend twice."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._closed = False
        self._entries: list[Entry] = []
        self._names: dict[str, Entry] = {}
        self._about: dict[tuple[EntryKind, str], list[Entry]] = {}
        self._released: dict[str, Entry] = {}

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._process != os.getpid():
            raise not_copied()
        with self._lock:
            if self._closed:
                raise closed()
            yield

    writing = reading  # appends, the last acts of a block, need no way back: the charge comes first

    def append(self, entry: Entry) -> None:
        """At the end, and into the indices."""
        self._entries.append(entry)
        self._names[entry.id] = entry
        self._about.setdefault((entry.kind, entry.subject), []).append(entry)
        if entry.kind is EntryKind.COMMITTED:
            self._released[self._names[entry.subject].subject] = entry

    def checkpoint(self) -> Checkpoint | None:
        """Of the last entry."""
        return self._entries[-1].checkpoint if self._entries else None

    def at(self, number: int) -> Entry | None:
        return self._entries[number - 1] if 1 <= number <= len(self._entries) else None

    def find_entry_by_id(self, name: str) -> Entry | None:
        return self._names.get(name)

    def latest(self, kind: EntryKind, subject: str) -> Entry | None:
        found = self._about.get((kind, subject))
        return found[-1] if found else None

    def every(self, kind: EntryKind, subject: str) -> list[Entry]:
        return list(self._about.get((kind, subject), ()))

    def released(self, subject: str) -> Entry | None:
        return self._released.get(subject)

    def after(self, number: int, count: int) -> list[Entry]:
        return self._entries[number : number + count]

    def inspect(self) -> None:
        """Nothing beyond the entries."""

    def close(self) -> None:
        self._closed = True
