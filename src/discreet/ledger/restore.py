"""Bringing a ledger back from a copy, without ever forgetting what was spent.

Where a ledger is still in place, the copy may only add to it. Where none is, nothing here can tell
an old copy from a new one: then the owner says which head was the last, and answers for it. If the
key file says that the ledger lives elsewhere, the copy must have all its entries too; from then on
it lives here, and what lies there is never added to again.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.core.errors import InvalidParameter, LedgerError
from discreet.ledger.backup import up_to
from discreet.ledger.chain import Chain
from discreet.ledger.checkpoint import Head
from discreet.ledger.durable_files import exists, give_name
from discreet.ledger.entry import Entry, Kind, following, random_id
from discreet.ledger.errors import missing, restore_refused
from discreet.ledger.fence import Fence, Place, fence_of
from discreet.ledger.keyring import KeyLent, Keyring, keyring
from discreet.ledger.plain_json import compact
from discreet.ledger.postgres.ledger import Postgres
from discreet.ledger.sqlite.ledger import SQLite
from discreet.ledger.verify import verify_chain

_BEYOND_READING = {"ledger_damaged", "not_a_ledger", "ledger_not_opened"}


def restore(
    backup_path: str | os.PathLike[str],
    ledger: str | os.PathLike[str] | Postgres,
    *,
    key: bytes | str | os.PathLike[str] | None = None,
    head: Head | str | None = None,
) -> Head:
    """Bring a ledger up to the back-up; return the head it then has.

    Args:
        backup_path: A file that :meth:`Ledger.backup` wrote, of a file or of a server.
        ledger: Where the ledger is, was, or is to be: a path, or one on a server.
        key: The owner's key of a file, by default in ``<path>.key``; one on a server has its own.
        head: The last head the owner kept; the back-up must contain it. Needed where there is
            no ledger to compare with.

    Guarantee: every entry of a ledger in place, of the living one if its file is there, and every
    entry up to the head, is in the ledger afterwards; otherwise it is refused and nothing is
    changed. Afterwards this ledger lives, and no other under this key file.
    """
    head = Head.parse(head) if isinstance(head, str) else head
    source = Path(backup_path).resolve()
    if not exists(source):
        raise missing(source.name)
    if isinstance(ledger, Postgres):
        if key is not None:
            raise InvalidParameter(
                code="key_twice",
                expectation="one key: a ledger on a server has its own",
                remedy="Leave `key=` out.",
            )
        with _Move.begun(ledger.keys, source, ledger.place, head) as move:
            return _onto_server(move, ledger)
    place = Path(ledger).resolve()
    with _Move.begun(keyring(key, place), source, Place(str(place)), head) as move:
        return _into_file(move, place)


class _Move:
    """A back-up that is to live at a place, while nobody writes under its key file."""

    def __init__(
        self, keys: Keyring, content: bytes | None, copy: SQLite, place: Place, head: Head | None
    ) -> None:
        self.lent = KeyLent(keys.existing())
        self.copy = copy
        self._file, self._content = keys.fence, content
        self._fence = None if content is None else fence_of(content)
        self._place, self._head = place, head

    @classmethod
    @contextmanager
    def begun(cls, keys: Keyring, source: Path, place: Place, head: Head | None) -> Iterator[_Move]:
        """Verify the back-up, and compare it with the ledger that lives elsewhere."""
        with SQLite(source, key=KeyLent(keys.existing())) as copy:
            copy.verify(head)
            if keys.fence is None:
                yield cls(keys, None, copy, place, head)
                return
            with keys.fence.alone() as content:
                yield cls(keys, content, copy, place, head)

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
        if not in_place and self._head is None:
            raise InvalidParameter(
                code="head_needed",
                expectation="the last head you kept, since there is no ledger to compare with",
                remedy=(
                    "Pass `head=`. With the one that `backup` returned you state that nothing was"
                    " spent after it; if you cannot, `record` what may have been."
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
            entry = ledger.store.at(self._fence.head.number)
            contained = entry is not None and entry.head == self._fence.head
        return contained and self._fence.place.is_also(self._place)

    def settle(self, head: Head, place: Place) -> None:
        """Let the fence name an entry that no other copy has: from now on nothing else lives."""
        if self._file is None or self._content is None:
            return
        if not self._file.put(self._content, Fence(head, place)):
            raise restore_refused(what="a key file that cannot be written, and so not say where")


def _into_file(move: _Move, place: Path) -> Head:
    if exists(place):
        with SQLite(place, key=move.lent) as ledger:
            return _brought_up(move, ledger.chain, Place.of_file(place))
    move.require_nothing_lost(in_place=False)
    _require_no_journal(place)
    draft = place.with_name(f"{place.name}.{random_id()}")
    try:
        move.copy.backup(draft)
        with SQLite(draft, key=move.lent) as ledger, ledger.chain.writing() as last:
            found = _note(ledger.chain, last)
        move.settle(found, Place(str(place), Place.of_file(draft).file))
        give_name(draft, place)
    except FileExistsError:
        raise restore_refused(what="a ledger that appeared meanwhile") from None
    finally:
        draft.unlink(missing_ok=True)
    return found


def _onto_server(move: _Move, ledger: Postgres) -> Head:
    chain = ledger.chain.unfenced()
    if ledger.exists():
        return _brought_up(move, chain, ledger.place)
    move.require_nothing_lost(in_place=False)
    with ledger.server.beginning(), move.copy.chain.reading() as last:
        if not ledger.server.blank():
            raise restore_refused(what="a ledger that appeared meanwhile")
        for entry in up_to(move.copy.chain.store, last.number):
            ledger.server.append(entry)
        found = _note(chain, last)
        move.settle(found, ledger.place)
        return found


def _brought_up(move: _Move, chain: Chain, place: Place) -> Head:
    """Append to the ledger in place what the copy has beyond it."""
    _verify(chain)
    lives = move.lives(chain)
    move.require_nothing_lost(in_place=lives)
    last = move.copy.head()
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
        verify_chain(chain.entries(), chain.owner(), last.head)
    except LedgerError as error:
        if error.code not in _BEYOND_READING:
            raise
        what = "a ledger that cannot be read; move it aside, keep it, and pass `head=`"
        raise restore_refused(what=what) from error


def _require_no_journal(place: Path) -> None:
    """Refuse a journal of the lost ledger: SQLite would apply it to the restored one."""
    for ending in ("-journal", "-wal"):
        if exists(place.with_name(place.name + ending)):
            what = f"{place.name}{ending}, left by the lost ledger; move it aside too"
            raise restore_refused(what=what)


def _note(chain: Chain, last: Entry) -> Head:
    """Add an entry that says that everything up to ``last`` came from a back-up."""
    text = compact({"from": str(last.head)})
    return chain.add(following(last, Kind.RESTORED, text=text)).head
