"""Answers to one question on several snapshots are found together; the very same one first."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from discreet.ledger import EntryKind, Ledger, LedgerAccount, LedgerError, Memory
from discreet.ledger.entry import following
from discreet.ledger.plain_json import compact
from tests.ledger.examples import terms
from tests.ledger.test_sub_account import granted


def paid(account: LedgerAccount, query: str, value: int | None, **changes: Any) -> str:
    """A reservation; with a value, also its release."""
    asked: dict[str, Any] = {"analyst": "ann", "any_snapshot": "count", **changes}
    name = account.reserve(query=query, charge=(0, 0), event="{}", detail={"of": query}, **asked)
    if value is not None:
        account.commit(name, {"value": value})
    return name


def found(account: LedgerAccount, query: str, analyst: str = "ann") -> object:
    answer = account.find_paid(analyst=analyst, any_snapshot="count", query=query)
    return None if answer is None else (answer.query, answer.release["value"])


def accounts(ledger: Ledger) -> tuple[LedgerAccount, ...]:
    return ledger, granted(ledger, charge=(1, 0), limit=(1, 0))


@pytest.mark.parametrize("which", [0, 1], ids=["whole", "sub-account"])
def test_the_very_question_comes_first_then_the_latest(ledger: Ledger, which: int) -> None:
    account = accounts(ledger)[which]
    assert found(account, "count july") is None
    paid(account, "count july", None)  # unfinished
    assert found(account, "count july") is None
    paid(account, "count july", 1)
    paid(account, "count august", 2)
    paid(account, "count september", None)
    assert found(account, "count july") == ("count july", 1)
    assert found(account, "count september") == ("count august", 2)
    paid(account, "count july", 3)
    assert found(account, "count july") == ("count july", 3)
    ledger.verify()


@pytest.mark.parametrize("which", [0, 1], ids=["whole", "sub-account"])
def test_what_others_paid_for_is_not_found(ledger: Ledger, which: int) -> None:
    both = accounts(ledger)
    paid(both[which], "count july", 1)
    assert found(both[which], "count july", analyst="bob") is None
    assert found(both[1 - which], "count july") is None
    assert both[which].find(analyst="ann", query="count july") is None  # found by the one way


def test_a_question_without_it_is_found_as_ever(ledger: Ledger) -> None:
    paid(ledger, "count july", 1, any_snapshot=None)
    assert ledger.find(analyst="ann", query="count july") == {"value": 1}
    assert found(ledger, "count july") is None
    ledger.verify()


@pytest.mark.parametrize(
    "other",
    [{"any_snapshot": "sum"}, {"any_snapshot": None}, {"asker": "bob"}, {"account": "other"}],
)
def test_an_entry_filed_under_another_question_is_damage(other: dict[str, Any]) -> None:
    ledger = Memory()
    ledger.open(terms())
    paid(ledger, "count july", 1)
    chain = ledger.chain
    entry = next(e for e in ledger.entries() if e.kind is EntryKind.RESERVED)
    body = {name: part for name, part in {**entry.body, **other}.items() if part is not None}
    with chain.writing() as last:
        forged = following(last, EntryKind.RESERVED, text=compact(body), subject=entry.subject)
        chain.add(replace(forged, spent=last.spent))
    with pytest.raises(LedgerError, match="ledger_damaged"):
        found(ledger, "count july")
    with pytest.raises(LedgerError, match="ledger_damaged"):
        ledger.verify()


def test_versions_that_the_owner_found_the_same_are_one(ledger: Ledger) -> None:
    assert ledger.known_version("visits", "two") == "two"
    ledger.same_version("visits", "two", "one")
    ledger.same_version("visits", "two", "one")
    ledger.same_version("visits", "two", "other")  # the first word stands
    assert ledger.known_version("visits", "two") == "one"
    assert ledger.known_version("wards", "two") == "two"
    assert "one" not in "".join(entry.text for entry in ledger.entries())
    ledger.verify()
