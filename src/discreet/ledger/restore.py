"""Bringing a ledger back from a copy, without ever forgetting what was spent.

Where a ledger is still in place, the copy may only add to it. Where none is, nothing here can tell
an old copy from a new one: then the owner says which checkpoint was the last, and answers for it.
If the key file says that the ledger lives elsewhere, the copy must have all its entries too; from
then on it lives here, and what lies there is never added to again.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol, runtime_checkable

from discreet.core.errors import InvalidParameter, LedgerError
from discreet.ledger.chain import Chain
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.durable_files import exists, file_path, give_name
from discreet.ledger.entry import Entry, EntryKind, following
from discreet.ledger.errors import missing, restore_refused
from discreet.ledger.fence import Fence, LedgerPlace, fence_of
from discreet.ledger.keyring import KeyLent, Keyring, keyring
from discreet.ledger.plain_json import compact
from discreet.ledger.sqlite.ledger import SQLite
from discreet.ledger.store import Store, up_to
from discreet.ledger.verify import verify_chain
from discreet.noise.randomness import random_id

_BEYOND_READING = {"ledger_damaged", "not_a_ledger", "ledger_not_opened"}


class ServedStore(Store, Protocol):
    """A store that shares its place with those of other ledgers."""

    def beginning(self) -> AbstractContextManager[None]:
        """Be the only one who starts a ledger there, throughout the block."""

    def blank(self) -> bool:
        """Whether nothing was ever written for this ledger, inside a block."""


@runtime_checkable
class Served(Protocol):
    """A ledger on a server, which is there or not, but is no file that could be moved."""

    keys: Keyring
    place: LedgerPlace
    chain: Chain

    @property
    def store(self) -> ServedStore:
        """Where its entries lie."""

    def exists(self) -> bool:
        """Whether it was started."""


def restore(
    backup_path: str | os.PathLike[str],
    ledger: str | os.PathLike[str] | Served,
    *,
    key: bytes | str | os.PathLike[str] | None = None,
    checkpoint: Checkpoint | str | None = None,
) -> Checkpoint:
    """Bring a ledger up to the back-up; return the checkpoint it then has.

    Args:
        backup_path: A file that :meth:`Ledger.backup` wrote, of a file or of a server.
        ledger: Where the ledger is, was, or is to be: a path, or one on a server.
        key: The owner's key of a file, by default in ``<path>.key``; one on a server has its own.
        checkpoint: The last one the owner kept; the back-up must contain it. Needed where there
            is no ledger to compare with.

    Guarantee: every entry of a ledger in place, of the living one if its file is there, and every
    entry up to the checkpoint, is in the ledger afterwards; otherwise it is refused and nothing is
    changed. Afterwards this ledger lives, and no other under this key file.
    """
    checkpoint = Checkpoint.parse(checkpoint) if isinstance(checkpoint, str) else checkpoint
    source = Path(backup_path).resolve()
    if not exists(source):
        raise missing(source.name)
    if isinstance(ledger, Served):
        if key is not None:
            raise InvalidParameter(
                code="key_twice",
                expectation="one key: a ledger on a server has its own",
                remedy="Leave `key=` out.",
            )
        with _Move.started(ledger.keys, source, ledger.place, checkpoint) as move:
            return _onto_server(move, ledger)
    if not isinstance(ledger, str | os.PathLike):
        raise InvalidParameter(
            code="ledger_expected",
            expectation="the path of a ledger, or a ledger on a server",
            received=type(ledger).__name__,
            remedy="Pass the path; a ledger in a file is closed while it is restored.",
        )
    place = file_path(ledger)
    with _Move.started(keyring(key, place), source, LedgerPlace(str(place)), checkpoint) as move:
        return _into_file(move, place)


class _Move:
    """A back-up that is to live at a place, while nobody writes under its key file."""

    def __init__(
        self,
        keys: Keyring,
        content: bytes | None,
        copy: SQLite,
        place: LedgerPlace,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.lent = KeyLent(keys.existing())
        self.copy = copy
        self._file, self._content = keys.fence, content
        self._fence = None if content is None else fence_of(content)
        self._place, self._checkpoint = place, checkpoint

    @classmethod
    @contextmanager
    def started(
        cls, keys: Keyring, source: Path, place: LedgerPlace, checkpoint: Checkpoint | None
    ) -> Iterator[_Move]:
        """Verify the back-up, and compare it with the ledger that lives elsewhere."""
        with SQLite(source, key=KeyLent(keys.existing())) as copy:
            copy.verify(checkpoint)
            if keys.fence is None:
                yield cls(keys, None, copy, place, checkpoint)
                return
            with keys.fence.alone() as content:
                yield cls(keys, content, copy, place, checkpoint)

    def require_nothing_lost(self, *, in_place: bool) -> None:
        """Refuse a back-up that lacks entries of the living ledger, as far as that can be seen."""
        if self._fence is not None and not self._fence.place.is_also(self._place):
            elsewhere = Path(self._fence.place.text)
            if self._fence.place.file is not None and exists(elsewhere):
                with SQLite(elsewhere, key=self.lent) as living:
                    _verify(living.chain)
                    self.require_contained(living.chain)
                return
            in_place = False
        if not in_place and self._checkpoint is None:
            raise InvalidParameter(
                code="head_needed",
                expectation="the last checkpoint you kept, as there is no ledger to compare with",
                remedy=(
                    "Pass `checkpoint=`. With the one that `backup` returned you state that nothing"
                    " was spent after it; if you cannot, `record` what may have been."
                ),
            )

    def require_contained(self, ledger: Chain) -> None:
        """Refuse a ledger with entries that the back-up does not have."""
        with ledger.reading() as tip, self.copy.chain.reading():
            if self.copy.chain.store.at(tip.number) != tip:
                raise restore_refused(what="a ledger with entries that the back-up does not have")

    def lives(self, ledger: Chain) -> bool:
        """Whether a ledger in place is the living one already."""
        if self._fence is None:
            return True
        with ledger.reading():
            entry = ledger.store.at(self._fence.checkpoint.number)
            contained = entry is not None and entry.checkpoint == self._fence.checkpoint
        return contained and self._fence.place.is_also(self._place)

    def settle(self, checkpoint: Checkpoint, place: LedgerPlace) -> None:
        """Let the fence name an entry that no other copy has: from now on nothing else lives."""
        if self._file is None or self._content is None:
            return
        if not self._file.write_fence(self._content, Fence(checkpoint, place)):
            raise restore_refused(what="a key file that cannot be written, and so not say where")


def _into_file(move: _Move, place: Path) -> Checkpoint:
    if exists(place):
        with SQLite(place, key=move.lent) as ledger:
            return _brought_up(move, ledger.chain, LedgerPlace.of_file(place))
    move.require_nothing_lost(in_place=False)
    _require_no_journal(place)
    draft = place.with_name(f"{place.name}.{random_id()}")
    try:
        move.copy.backup(draft)
        with SQLite(draft, key=move.lent) as ledger, ledger.chain.writing() as last:
            found = _note(ledger.chain, last)
        move.settle(found, LedgerPlace(str(place), LedgerPlace.of_file(draft).file))
        give_name(draft, place)
    except FileExistsError:
        raise restore_refused(what="a ledger that appeared meanwhile") from None
    finally:
        draft.unlink(missing_ok=True)
    return found


def _onto_server(move: _Move, ledger: Served) -> Checkpoint:
    chain = ledger.chain.unfenced()
    if ledger.exists():
        return _brought_up(move, chain, ledger.place)
    move.require_nothing_lost(in_place=False)
    with ledger.store.beginning(), move.copy.chain.reading() as last:
        if not ledger.store.blank():
            raise restore_refused(what="a ledger that appeared meanwhile")
        for entry in up_to(move.copy.chain.store, last.number):
            ledger.store.append(entry)
        found = _note(chain, last)
        move.settle(found, ledger.place)
        return found


def _brought_up(move: _Move, chain: Chain, place: LedgerPlace) -> Checkpoint:
    """Append to the ledger in place what the copy has beyond it."""
    _verify(chain)
    lives = move.lives(chain)
    move.require_nothing_lost(in_place=lives)
    last = move.copy.checkpoint()
    with chain.writing() as tip:
        move.require_contained(chain)
        with move.copy.chain.reading():
            further = move.copy.chain.store.after(tip.number, last.number - tip.number)
        for entry in further:
            chain.store.append(entry)
        if not further and lives:
            return last
        found = _note(chain, further[-1] if further else tip)
        if not lives:
            move.settle(found, place)
        return found


def _verify(chain: Chain) -> None:
    """Refuse a ledger that cannot be compared with."""
    try:
        with chain.reading() as last:
            chain.store.inspect()
        verify_chain(chain.entries(), chain.owner(), last.checkpoint)
    except LedgerError as error:
        if error.code not in _BEYOND_READING:
            raise
        what = "a ledger that cannot be read; move it aside, keep it, and pass `checkpoint=`"
        raise restore_refused(what=what) from error


def _require_no_journal(place: Path) -> None:
    """Refuse a journal of the lost ledger: SQLite would apply it to the restored one."""
    for ending in ("-journal", "-wal"):
        if exists(place.with_name(place.name + ending)):
            what = f"{place.name}{ending}, left by the lost ledger; move it aside too"
            raise restore_refused(what=what)


def _note(chain: Chain, last: Entry) -> Checkpoint:
    """Add an entry that says that everything up to ``last`` came from a back-up."""
    text = compact({"from": str(last.checkpoint)})
    return chain.add(following(last, EntryKind.RESTORED, text=text)).checkpoint
