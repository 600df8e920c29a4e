"""What a ledger asks of the place where its entries lie."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.entry import Entry, EntryKind

_PAGE = 256  # entries read at once


class Store(Protocol):
    """Entries in order, with the look-ups that keep every operation short.

    Contract: look-ups happen inside :meth:`reading` or :meth:`writing`. Writers are alone, across
    threads and processes; what they append is there as a whole and durable once the block is
    left, or not at all if it is left by an exception.
    """

    def reading(self) -> AbstractContextManager[None]:
        """See one state of the ledger throughout the block."""

    def writing(self) -> AbstractContextManager[None]:
        """Be the only writer throughout the block."""

    def append(self, entry: Entry) -> None:
        """Add an entry at the end."""

    def checkpoint(self) -> Checkpoint | None:
        """The checkpoint as noted beside the entries; None for a ledger without any."""

    def at(self, number: int) -> Entry | None:
        """The entry with this number."""

    def find_entry_by_id(self, name: str) -> Entry | None:
        """The entry with this id."""

    def latest(self, kind: EntryKind, subject: str) -> Entry | None:
        """The last entry of this kind about this subject."""

    def every(self, kind: EntryKind, subject: str) -> list[Entry]:
        """All entries of this kind about this subject, oldest first."""

    def released(self, subject: str) -> Entry | None:
        """The last commitment of a reservation about this subject."""

    def after(self, number: int, count: int) -> list[Entry]:
        """Up to ``count`` entries that follow ``number``, oldest first."""

    def inspect(self) -> None:
        """Check the place itself, beyond the entries."""

    def close(self) -> None:
        """Let go of the place."""


def up_to(store: Store, number: int, after: int = 0) -> Iterator[Entry]:
    """Entries that follow ``after``, up to ``number``, inside a block."""
    while after < number:
        page = store.after(after, min(_PAGE, number - after))
        if not page:
            return
        yield from page
        after = page[-1].number
