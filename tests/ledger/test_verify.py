"""What a holder of the key should not have written: sealed, in order, and still refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from discreet.ledger import Entry, EntryKind, LedgerError, Memory
from discreet.ledger.entry import following
from discreet.ledger.plain_json import compact
from tests.ledger.examples import LIMIT, released, reserve, terms

Forged = Callable[[Entry], Entry]


@pytest.fixture
def ledger() -> Memory:
    made = Memory()
    made.open(terms())
    return made


def refuses(ledger: Memory, forged: Forged) -> bool:
    """Whether verification refuses the ledger with one more entry, sealed under its key."""
    ledger.verify()
    with ledger.chain.writing() as last:
        ledger.chain.add(forged(last))
    try:
        ledger.verify()
    except LedgerError:
        return True
    return False


def asked(ledger: Memory, charge: str = "0", analyst: str = "ann") -> Forged:
    """A reservation that says it charges so much, and leaves the totals as they are."""
    body = {"asker": analyst, "question": "count", "charge": [charge, "0"], "event": "{}"}
    subject = ledger.chain.owner().tag("question", "ann", "count")
    return lambda last: following(last, EntryKind.RESERVED, text=compact(body), subject=subject)


def test_an_entry_that_follows_the_rules_is_accepted(ledger: Memory) -> None:
    assert not refuses(ledger, asked(ledger))


def test_a_charge_is_in_the_total(ledger: Memory) -> None:
    assert refuses(ledger, asked(ledger, charge="1"))


@pytest.mark.parametrize("spent", [(1, 0), (0, 1)])
def test_a_total_grows_by_charges_alone(ledger: Memory, spent: tuple[int, int]) -> None:
    assert refuses(ledger, lambda last: replace(asked(ledger)(last), spent=spent))


@pytest.mark.parametrize("limit", [(11, 4), (10, 5), (9, 4)])
def test_a_limit_changes_by_amendments_alone(ledger: Memory, limit: tuple[int, int]) -> None:
    assert refuses(ledger, lambda last: replace(asked(ledger)(last), limit=limit))


def test_an_amendment_goes_not_below_the_spent(ledger: Memory) -> None:
    reserve(ledger, LIMIT)

    def amended(limit: tuple[int, int]) -> Forged:
        return lambda last: following(last, EntryKind.AMENDED, text="{}", limit=limit)

    assert not refuses(ledger, amended(LIMIT))
    assert refuses(ledger, amended((LIMIT[0] - 1, LIMIT[1])))


def test_an_id_names_one_entry(ledger: Memory) -> None:
    name = reserve(ledger)
    assert refuses(ledger, lambda last: replace(asked(ledger)(last), id=name))


@pytest.mark.parametrize(
    "kind", [EntryKind.COMMITTED, EntryKind.FAILED, EntryKind.ANSWERED, EntryKind.CLAIMED]
)
def test_nothing_is_released_that_was_not_reserved(ledger: Memory, kind: EntryKind) -> None:
    text = compact({"generation": 1})

    def about(subject: str) -> Forged:
        return lambda last: following(last, kind, text=text, subject=subject)

    if kind is not EntryKind.COMMITTED:  # the store's own index needs its reservation
        assert refuses(ledger, about("0" * 32))
        return
    snapshot = ledger.snapshot("monday")
    assert refuses(ledger, about(snapshot))


@pytest.mark.parametrize(
    "kind", [EntryKind.COMMITTED, EntryKind.FAILED, EntryKind.ANSWERED, EntryKind.CLAIMED]
)
def test_nothing_follows_the_end_of_a_reservation(ledger: Memory, kind: EntryKind) -> None:
    name = released(ledger, 17)
    text = compact({"generation": 1})
    assert refuses(ledger, lambda last: following(last, kind, text=text, subject=name))


def test_a_reservation_is_found_by_what_it_says(ledger: Memory) -> None:
    assert refuses(ledger, asked(ledger, analyst="bob"))


def test_a_number_is_one_more_than_the_last(ledger: Memory) -> None:
    assert refuses(ledger, lambda last: replace(asked(ledger)(last), number=last.number + 2))


def test_an_entry_names_the_seal_before_it(ledger: Memory) -> None:
    assert refuses(ledger, lambda last: replace(asked(ledger)(last), previous=""))


def test_a_ledger_begins_once(ledger: Memory) -> None:
    with ledger.chain.reading():
        text = ledger.chain.first().text
    assert refuses(ledger, lambda last: following(last, EntryKind.OPENED, text=text))
