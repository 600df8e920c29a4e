"""The chain of entries and the key that seals it: only what is sealed is believed.

A chain remembers the furthest entry it has seen, and refuses a store in which that entry is no
longer there: a program that runs for long notices when its ledger is cut back underneath it.

Proof: ``proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from discreet.core.errors import InvalidParameter
from discreet.ledger.checkpoint import Checkpoint
from discreet.ledger.entry import Entry, EntryKind
from discreet.ledger.errors import damaged, key_wrong, not_opened, rolled_back
from discreet.ledger.fence import UNFENCED, Fence, LiveCopy
from discreet.ledger.key import OwnerKey
from discreet.ledger.store import Store

_PAGE = 256  # entries read at once; between pages writers may write
_LATEST = 8  # entries remembered as sealed


class Chain:
    """Sealed entries in a store."""

    def __init__(
        self, store: Store, find_key: Callable[[], OwnerKey], live_copy: LiveCopy = UNFENCED
    ) -> None:
        """Look at nothing yet."""
        self.store = store
        self._find_key = find_key
        self._live_copy = live_copy
        self._key: OwnerKey | None = None
        self._seen: Checkpoint | None = None
        self._sealed: dict[int, Entry] = {}

    @contextmanager
    def reading(self) -> Iterator[Entry]:
        """See one state of the ledger throughout; yields its last entry."""
        with self.store.reading():
            yield self._tip()

    @contextmanager
    def living(self) -> Iterator[Entry]:
        """The same, refused unless this is the copy that lives."""
        with self._live_copy.hold_fence(self) as fence, self.reading() as last:
            self._require_living(fence)
            yield last

    @contextmanager
    def writing(self) -> Iterator[Entry]:
        """Be the only writer throughout; yields the last entry before the new ones.

        Refused unless this is the copy that lives, from before the block until it is durable.
        """
        with self._live_copy.hold_fence(self) as fence, self.store.writing():
            last = self._tip()
            self._require_living(fence)
            yield last
            noted = self.store.checkpoint()
        if noted is not None:
            self._see(noted)

    def unfenced(self) -> Chain:
        """The same entries, for whoever moves the fence and holds it alone."""
        return Chain(self.store, self._find_key)

    def add(self, entry: Entry) -> Entry:
        """Seal and append; inside :meth:`writing`."""
        sealed = self._remembered(entry.sealed(self.owner()))
        self.store.append(sealed)
        return sealed

    def require_sealed(self, entry: Entry) -> Entry:
        """An entry whose seal is right.

        One that is equal in every field to an entry sealed or checked here lately has its seal.
        """
        if self._sealed.get(entry.number) != entry:
            self._remembered(entry.require_seal(self.owner()))
        return entry

    def _remembered(self, entry: Entry) -> Entry:
        if len(self._sealed) >= _LATEST:
            self._sealed.clear()
        self._sealed[entry.number] = entry
        return entry

    def owner(self) -> OwnerKey:
        """The key, once it is known to be the one the ledger was started with."""
        if self._key is None:
            with self.store.reading():
                first, noted = self.store.at(1), self.store.checkpoint()
            if noted is None:
                raise not_opened()
            if first is None or first.kind is not EntryKind.OPENED:
                raise damaged(what="there is no first entry")
            key = self._find_key()
            if first.body.get("key") != key.identity:
                raise key_wrong()
            first.require_seal(key)
            self._key = key
        return self._key

    def first(self) -> Entry:
        """The first entry, sealed."""
        entry = self.store.at(1)
        if entry is None:
            raise damaged(what="there is no first entry")
        return entry.require_seal(self.owner())

    def reservation(self, name: str) -> Entry:
        """The sealed entry of a reservation."""
        entry = self.store.find_entry_by_id(name)
        if entry is None or entry.kind is not EntryKind.RESERVED:
            raise InvalidParameter(
                code="reservation_unknown",
                expectation="the id that `reserve` returned",
                received=name,
                remedy="Reserve first; nothing is released that was not paid for.",
            )
        return self.require_sealed(entry)

    def unfinished(self, subject: str, query: str) -> list[str]:
        """The reservations for ``query`` under a subject that nothing has concluded."""
        with self.reading():
            key, found = self.owner(), self.store.every(EntryKind.RESERVED, subject)
            asked = [each for each in found if each.require_seal(key).body["question"] == query]
            return [each.id for each in asked if not self._concluded(each.id)]

    def require_new(self, name: str | None) -> None:
        """Refuse an id that an entry has: one id is charged for once."""
        if name is not None and self.store.find_entry_by_id(name) is not None:
            raise InvalidParameter(
                code="reservation_closed",
                expectation="the id of a reservation that was not made before",
                received=name,
                remedy="It is charged, and stays so; its release is found if there is one.",
            )

    def require_open(self, name: str) -> None:
        """Refuse a reservation that does not exist or has been concluded."""
        self.reservation(name)
        if self._concluded(name):
            raise InvalidParameter(
                code="reservation_closed",
                expectation="a reservation that is still open",
                received=name,
                remedy="Reserve again, which is charged again; a release is kept once.",
            )

    def _concluded(self, name: str) -> bool:
        ends = (EntryKind.COMMITTED, EntryKind.FAILED)
        return any(self.store.latest(end, name) is not None for end in ends)

    def require_checkpoint(self, checkpoint: Checkpoint, what: str) -> None:
        """Refuse a ledger that does not contain ``checkpoint``."""
        entry = self.store.at(checkpoint.number)
        if entry is None or entry.mac != checkpoint.mac:
            raise rolled_back(what=f"a ledger without {what}, number {checkpoint.number}")

    def entries(self, after: int = 0) -> Iterator[Entry]:
        """All entries that follow one, as they stand, oldest first, a page at a time."""
        number = after
        while True:
            with self.store.reading():
                page = self.store.after(number, _PAGE)
            yield from page
            if len(page) < _PAGE:
                return
            number = page[-1].number

    def _tip(self) -> Entry:
        """The last entry, sealed, and not older than what was seen here before."""
        noted = self.store.checkpoint()
        if noted is None:
            raise not_opened() if self._seen is None else rolled_back(what="an empty ledger")
        self.owner()
        last = self.store.at(noted.number)
        if last is None or last.mac != noted.mac or self.store.after(noted.number, 1):
            raise damaged(what="the last entry is not the one noted as such")
        self.require_sealed(last)
        if self._seen is not None and self._seen != noted:
            self.require_checkpoint(self._seen, "an entry seen before")
        self._see(noted)
        return last

    def _require_living(self, fence: Fence | None) -> None:
        if fence is not None:
            self.require_checkpoint(fence.checkpoint, "the entry that the owner's key names")

    def _see(self, checkpoint: Checkpoint) -> None:
        if self._seen is None or checkpoint.number > self._seen.number:
            self._seen = checkpoint
