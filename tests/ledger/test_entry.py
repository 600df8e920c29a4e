"""Flip any byte or field of any entry: verification fails, and nothing is read that was changed.

Exhaustive over one small ledger that holds an entry of every kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any

import pytest

from discreet.accounting.adaptive.steps import STEPS
from discreet.core.errors import DiscreetError
from discreet.curator.rounds.analyst_spending import analyst_spending
from discreet.ledger import (
    Entry,
    EntryKind,
    LedgerAccount,
    LedgerError,
    Memory,
    Role,
    SubAccount,
    SubAccountGrant,
)
from discreet.ledger.entry import entry_of, following, row_of
from discreet.ledger.key import OwnerKey
from discreet.ledger.plain_json import compact
from discreet.ledger.session_log import SessionLog
from discreet.ledger.verify import verify_chain
from tests.ledger.examples import released, reserve, terms

ROUND = {"plan": {"protects": "OneAnalyst", "cost": ["1/2", "1/1000000"]}}


ONE = (STEPS, 0)  # whole units are short texts


def grant(
    name: str, role: Role = Role.CHILD, charge: tuple[int, int] = (2 * STEPS, 0)
) -> SubAccountGrant:
    return SubAccountGrant(
        name=name,
        role=role,
        charge=charge,
        limit=(2 * STEPS, 0),
        filter="epsilon+delta",
        budget={},
        detail={},
    )


TERMS = terms(limit=(10 * STEPS, 4 * STEPS))


class Small:
    """A ledger with an entry of every kind, and all that can be read from it."""

    def __init__(self) -> None:
        self.ledger = ledger = Memory()
        ledger.open(TERMS)
        released(ledger, 17, charge=(STEPS, STEPS))
        released(ledger, 18, charge=ONE, analyst="bob")
        ledger.fail(reserve(ledger, ONE, query="broken"), "engine_failed")
        ledger.record(charge=ONE, event="{}", detail={"reason": "elsewhere"})
        ledger.amend(limit=(30 * STEPS, 4 * STEPS), budget={"epsilon": "3"}, reason="more")
        ledger.snapshot("monday")
        self.talk = ledger.reserve(
            analyst="ann", query="round", charge=ONE, event="{}", detail={"round": ROUND}
        )
        session_log = ledger.session_log(self.talk)
        session_log.keep({"noise": 5})
        session_log.write({"above": True, "n": 7})
        self.child = SubAccount.opened(ledger, "", grant("team"))
        name = reserve(self.child, ONE)
        self.child.commit(name, {"value": 3})
        for account, value in ((ledger, 4), (self.child, 5)):
            released(account, value, query="july", charge=(0, 0), any_snapshot="any")
        ledger.same_version("visits", "two", "one")
        reserve(self.child, ONE, query="more")
        self.whole = SubAccount.opened(ledger, "", grant("wards", Role.PARTITION))
        part = grant("A", Role.PART, (0, 0))
        self.part = SubAccount.opened(ledger, self.whole.account, part)
        with ledger.chain.writing() as last:
            text = compact({"from": str(last.checkpoint)})
            ledger.chain.add(following(last, EntryKind.RESTORED, text=text))

    @property
    def key(self) -> OwnerKey:
        return self.ledger.chain.owner()

    def readings(self) -> Mapping[str, Callable[[], object]]:
        """Whatever a curator asks of a ledger."""
        ledger = self.ledger

        def opened() -> SubAccount:
            return SubAccount.opened(ledger, "", grant("team"))

        return {
            "open": lambda: ledger.open(TERMS),
            "spent": ledger.spent,
            "limit": ledger.limit,
            "remaining": ledger.remaining,
            "head": ledger.checkpoint,
            "find": lambda: ledger.find(analyst="ann", query="count"),
            "find bob": lambda: ledger.find(analyst="bob", query="count"),
            "paid": lambda: ledger.read_reservation(self.talk),
            "answers": lambda: ledger.answers(self.talk),
            "session_log": lambda: SessionLog(ledger, self.talk, 1).entries(),
            "snapshot": lambda: ledger.snapshot("monday"),
            "find paid": lambda: _paid(ledger, "july"),
            "find paid on another snapshot": lambda: _paid(ledger, "august"),
            "known version": lambda: ledger.known_version("visits", "two"),
            "child": lambda: (opened().account, opened().limit()),
            "child spent": lambda: opened().spent(),
            "child left": lambda: opened().remaining(),
            "child find": lambda: self.child.find(analyst="ann", query="count"),
            "child find paid": lambda: _paid(self.child, "july"),
            "analysts": lambda: analyst_spending(ledger),
        }


def _paid(account: LedgerAccount, query: str) -> object:
    found = account.find_paid(analyst="ann", any_snapshot="any", query=query)
    return found and (found.query, found.release, found.detail)


def put(ledger: Memory, number: int, changed: Entry) -> None:
    """Let the store hold another entry under a number, and know nothing of it."""
    store: Any = ledger.chain.store
    old = store._entries[number - 1]
    store._entries[number - 1] = changed
    for index in (store._names, store._released):
        index.update({name: changed for name, entry in index.items() if entry == old})
    for listed in store._about.values():
        listed[:] = [changed if entry == old else entry for entry in listed]


@pytest.fixture
def small() -> Small:
    return Small()


def other(value: object) -> Iterator[Any]:
    """Values like this one, and not this one."""
    match value:
        case EntryKind():
            yield from (kind for kind in EntryKind if kind is not value)
        case int():
            yield from (value + 1, value - 1)
        case str():
            yield value + " "
            yield from ([value[1:], ""] if value else [])
        case tuple():
            for place, amount in enumerate(value):
                yield (*value[:place], amount + 1, *value[place + 1 :])
                if amount:
                    yield (*value[:place], amount - 1, *value[place + 1 :])
            yield (*value, 0)


def changes(entry: Entry) -> Iterator[tuple[str, Entry]]:
    """The entry with one field changed, and with single digits of its body changed."""
    for field in fields(Entry):
        for value in other(getattr(entry, field.name)):
            yield field.name, replace(entry, **{field.name: value})
    digits = [place for place, sign in enumerate(entry.text) if sign.isdigit()]
    for place in digits[:12]:
        digit = str((int(entry.text[place]) + 1) % 10)
        text = entry.text[:place] + digit + entry.text[place + 1 :]
        yield "text", replace(entry, text=text)


def test_the_ledger_has_every_kind(small: Small) -> None:
    assert {entry.kind for entry in small.ledger.entries()} == set(EntryKind)
    small.ledger.verify()
    for read in small.readings().values():
        read()


def test_a_seal_covers_every_field(small: Small) -> None:
    for entry in small.ledger.entries():
        entry.require_seal(small.key)
        for _, changed in changes(entry):
            with pytest.raises(LedgerError, match="was changed"):
                changed.require_seal(small.key)


def test_with_any_byte_of_any_stored_field_changed_verification_fails(small: Small) -> None:
    """One bit of every byte, as it lies in a file or on a server."""
    entries = list(small.ledger.entries())
    checkpoint, tried = entries[-1].checkpoint, 0
    for place, entry in enumerate(entries):
        row = row_of(entry)
        for column, value in enumerate(row):
            if not isinstance(value, str):
                continue
            for at in range(len(value)):
                byte = chr(ord(value[at]) ^ 1 << (at + column) % 6)
                flipped = (*row[:column], value[:at] + byte + value[at + 1 :], *row[column + 1 :])
                tried += 1
                assert not _stands(entries, place, flipped, small.key, checkpoint), (entry, column)
    assert tried > 5_000


def _stands(
    entries: list[Entry], place: int, row: tuple[Any, ...], key: OwnerKey, checkpoint: object
) -> bool:
    """Whether the changed row is believed, by its seal or by the chain around it."""
    try:
        entry_of(row).require_seal(key)
    except LedgerError:
        return False
    changed = [*entries[:place], entry_of(row), *entries[place + 1 :]]
    try:
        verify_chain(changed, key, checkpoint)  # type: ignore[arg-type]
    except LedgerError:
        return False
    return True


def test_entries_dropped_doubled_or_exchanged_are_noticed(small: Small) -> None:
    entries = list(small.ledger.entries())
    checkpoint = entries[-1].checkpoint
    for place in range(len(entries)):
        dropped = entries[:place] + entries[place + 1 :]
        doubled = entries[: place + 1] + entries[place:]
        for wrong in (dropped, doubled, entries[:place]):
            with pytest.raises(LedgerError):
                verify_chain(wrong, small.key, checkpoint)
        for later in range(place + 1, len(entries)):
            exchanged = list(entries)
            exchanged[place], exchanged[later] = exchanged[later], exchanged[place]
            with pytest.raises(LedgerError):
                verify_chain(exchanged, small.key, checkpoint)


def test_an_entry_of_another_ledger_under_the_same_key_does_not_fit() -> None:
    """With all its fields in order, but for the seal of the entry before it."""
    one, two = Small(), Small()
    two.ledger._own_key = one.key
    entries, theirs = list(one.ledger.entries()), list(two.ledger.entries())
    for place in range(1, len(entries)):
        foreign = replace(theirs[place], mac="").sealed(one.key)
        spliced = replace(foreign, previous=entries[place - 1].mac)
        with pytest.raises(LedgerError):
            spliced.require_seal(one.key)
        with pytest.raises(LedgerError):
            verify_chain([*entries[:place], foreign], one.key, foreign.checkpoint)


def test_whatever_is_changed_is_not_read(small: Small) -> None:
    """Each reading gives what it gave before, or refuses: without anybody verifying the whole."""
    before = {name: read() for name, read in small.readings().items()}
    refused: set[str] = set()
    for entry in list(small.ledger.entries()):
        for field, changed in changes(entry):
            put(small.ledger, entry.number, changed)
            for name, read in small.readings().items():
                try:
                    found = read()
                except DiscreetError:
                    refused.add(name)
                else:
                    assert found == before[name], (name, entry.kind, field)
            put(small.ledger, entry.number, entry)
    assert refused == set(before)
    small.ledger.verify()


@pytest.mark.parametrize("below", [False, True], ids=["ledger", "allotment"])
def test_an_index_that_leads_to_another_answer_is_noticed(small: Small, *, below: bool) -> None:
    """All entries are whole; only the way to them is wrong."""
    account: LedgerAccount = small.child if below else small.ledger
    store: Any = small.ledger.chain.store
    right, analysts = store._released, ("ann", "bob")
    before = [account.find(analyst=analyst, query="count") for analyst in analysts]
    for wrong in set(right.values()):
        store._released = dict.fromkeys(right, wrong)
        for analyst, answer in zip(analysts, before, strict=True):
            if answer is None or answer == wrong.body:
                continue
            with pytest.raises(LedgerError, match="answers another"):
                account.find(analyst=analyst, query="count")


def test_nothing_is_drawn_under_a_changed_grant_or_after_a_changed_drawing(small: Small) -> None:
    ledger, about = small.ledger, {small.child.account}
    relevant = [e for e in ledger.entries() if e.id in about or e.subject in about]
    assert [entry.kind for entry in relevant] == [
        EntryKind.GRANTED,
        EntryKind.DRAWN,
        EntryKind.DRAWN,
        EntryKind.DRAWN,
    ]
    for entry in (relevant[0], relevant[-1]):
        for _, changed in changes(entry):
            put(ledger, entry.number, changed)
            with pytest.raises(DiscreetError):
                reserve(small.child, (0, 0), query="further")
            put(ledger, entry.number, entry)
    reserve(small.child, (0, 0), query="further")


@pytest.mark.parametrize("kind", [EntryKind.RESTORED, EntryKind.RESERVED, EntryKind.CLAIMED])
def test_nothing_is_said_under_a_changed_claim_reservation_or_restoration(kind: EntryKind) -> None:
    ledger = Memory()
    ledger.open(TERMS)
    with ledger.chain.writing() as last:
        ledger.chain.add(
            following(last, EntryKind.RESTORED, text=compact({"from": str(last.checkpoint)}))
        )
    session_log = ledger.session_log(reserve(ledger, ONE))
    ledger.snapshot("monday")  # what was changed is not the last
    (entry,) = [each for each in ledger.entries() if each.kind is kind]
    for _, changed in changes(entry):
        put(ledger, entry.number, changed)
        with pytest.raises(DiscreetError):
            session_log.write({"above": True})
        put(ledger, entry.number, entry)
    session_log.write({"above": True})
