"""Copies of a ledger in a file of its own: whole, flushed, and never over anything else."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.core.errors import InvalidParameter
from discreet.ledger.durable_files import sync_file, sync_folder, write_new
from discreet.ledger.entry import Entry
from discreet.ledger.sqlite.store import File
from discreet.ledger.store import Store

_PAGE = 256


@contextmanager
def new_file(target: Path) -> Iterator[None]:
    """An empty file that stays if the block succeeds, and is removed if it does not."""
    try:
        write_new(target, b"")
    except FileExistsError:
        raise InvalidParameter(
            code="backup_exists",
            expectation="a place for the back-up where nothing is yet",
            received=target.name,
            remedy="Choose another name; a back-up never overwrites anything.",
        ) from None
    try:
        yield
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def copied(store: Store, last: Entry, target: Path) -> None:
    """Write the entries up to ``last`` into a new file, inside a block of reading."""
    with new_file(target):
        copy = File(target)
        try:
            with copy.writing():
                copy.lay_out()
                for entry in up_to(store, last.number):
                    copy.append(entry)
        finally:
            copy.close()
        sync_file(target)
        sync_folder(target.parent)


def up_to(store: Store, number: int, after: int = 0) -> Iterator[Entry]:
    """Entries that follow ``after``, up to ``number``, inside a block."""
    while after < number:
        page = store.after(after, min(_PAGE, number - after))
        if not page:
            return
        yield from page
        after = page[-1].number
