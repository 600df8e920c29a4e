"""Bringing a ledger back from a copy, without ever forgetting what was spent.

Where a ledger is still in place, the copy may only add to it. Where none is, nothing here can tell
an old copy from a new one: then the owner says which head was the last, and answers for it.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

import os
from pathlib import Path

from discreet.core.errors import InvalidParameter, LedgerError
from discreet.curator.ledger.book import Ledger
from discreet.curator.ledger.chain import Chain
from discreet.curator.ledger.copies import up_to
from discreet.curator.ledger.disk import exists, give_name
from discreet.curator.ledger.entry import Entry, Kind, following, random_id
from discreet.curator.ledger.fault import missing, restore_refused
from discreet.curator.ledger.head import Head
from discreet.curator.ledger.plain import compact
from discreet.curator.ledger.postgres import Postgres
from discreet.curator.ledger.sqlite import SQLite

_BEYOND_READING = {"ledger_damaged", "not_a_ledger", "ledger_not_opened"}


def restore(
    backup_path: str | os.PathLike[str],
    ledger: str | os.PathLike[str] | Postgres,
    *,
    key: bytes | str | os.PathLike[str] | None = None,
    head: Head | None = None,
) -> Head:
    """Bring a ledger up to the back-up; return the head it then has.

    Args:
        backup_path: A file that :meth:`Ledger.backup` wrote, of a file or of a server.
        ledger: Where the ledger is, or was: a path, or one on a server.
        key: The owner's key of a file, by default in ``<path>.key``; one on a server has its own.
        head: The last head the owner kept; the back-up must contain it. Needed where there is
            no ledger any more.

    Guarantee: every entry of a ledger in place, and every entry up to the head, is in the ledger
    afterwards; otherwise it is refused and nothing is changed.
    """
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
        return _onto_server(source, ledger, head)
    place = Path(ledger).resolve()
    return _into_file(
        source, place, place.with_name(place.name + ".key") if key is None else key, head
    )


def _into_file(
    source: Path, place: Path, key: bytes | str | os.PathLike[str], head: Head | None
) -> Head:
    with SQLite(source, key=key) as copy:
        copy.verify(head)
        if exists(place):
            with SQLite(place, key=key) as ledger:
                return _brought_up(ledger, copy)
        _require_head(head)
        _require_no_journal(place)
        draft = place.with_name(f"{place.name}.{random_id()}")
        try:
            copy.backup(draft)
            with SQLite(draft, key=key) as ledger, ledger.chain.writing() as last:
                found = _note(ledger.chain, last)
            give_name(draft, place)
        except FileExistsError:
            raise restore_refused(what="a ledger that appeared meanwhile") from None
        finally:
            draft.unlink(missing_ok=True)
        return found


def _onto_server(source: Path, ledger: Postgres, head: Head | None) -> Head:
    with SQLite(source, key=ledger.keys) as copy:
        copy.verify(head)
        if ledger.exists():
            return _brought_up(ledger, copy)
        _require_head(head)
        with ledger.server.beginning(), copy.chain.reading() as last:
            if not ledger.server.blank():
                raise restore_refused(what="a ledger that appeared meanwhile")
            for entry in up_to(copy.chain.store, last.number):
                ledger.server.append(entry)
            return _note(ledger.chain, last)


def _require_head(head: Head | None) -> None:
    """Where nothing is in place, only the owner can say that the copy is not an old one."""
    if head is None:
        raise InvalidParameter(
            code="head_needed",
            expectation="the last head you kept, since there is no ledger to compare with",
            remedy=(
                "Pass `head=`. With the one that `backup` returned you state that nothing was"
                " spent after it; if you cannot, `record` what may have been."
            ),
        )


def _brought_up(ledger: Ledger, copy: SQLite) -> Head:
    """Append to the ledger in place what the copy has beyond it."""
    try:
        ledger.verify()
    except LedgerError as error:
        if error.code not in _BEYOND_READING:
            raise
        what = "a ledger that cannot be read; move it aside, keep it, and pass `head=`"
        raise restore_refused(what=what) from error
    last = copy.head()
    with ledger.chain.writing() as tip:
        with copy.chain.reading():
            if copy.chain.store.at(tip.number) != tip:
                raise restore_refused(what="a ledger with entries that the back-up does not have")
            further = copy.chain.store.after(tip.number, last.number - tip.number)
        for entry in further:
            ledger.chain.store.append(entry)
        return _note(ledger.chain, further[-1]) if further else last


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
