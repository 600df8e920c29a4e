"""Reserve, compute, commit: in this order, and an answer only where all three were done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import pytest

from discreet import events
from discreet.core.guarantee import ApproxDP, PureDP
from discreet.core.unit import Row
from discreet.curator.budget import Purse
from discreet.curator.payment import Payment
from discreet.errors import EngineFailed, InvalidParameter
from discreet.ledger import EntryKind, Memory
from discreet.relational.database import Database
from tests.ledger.examples import terms


class Still:
    """An engine with one state."""

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()


class Tables:
    """Files that change when they are told to."""

    def __init__(self) -> None:
        self.same = True
        self.engine = Still()

    def unchanged(self) -> bool:
        return self.same


@pytest.fixture
def tables() -> Tables:
    return Tables()


@pytest.fixture
def payment(tables: Tables) -> Payment:
    ledger = Memory()
    ledger.open(terms())
    return Payment(ledger, cast(Database, tables))


def ask(payment: Payment, compute: Callable[[], int]) -> int:
    return payment.paid(
        compute,
        lambda found: {"n": found},
        asker="ann",
        question="count",
        charge=(1, 0),
        event=events.Laplace(epsilon=1),
        detail={},
    )


def kinds(payment: Payment) -> list[EntryKind]:
    return [entry.kind for entry in payment.account.entries()][1:]


def test_an_answer_is_kept_before_it_is_shown(payment: Payment) -> None:
    seen: list[Any] = []

    def compute() -> int:
        seen.append(kinds(payment))
        return 17

    assert ask(payment, compute) == 17
    assert seen == [[EntryKind.RESERVED]]
    assert kinds(payment) == [EntryKind.RESERVED, EntryKind.COMMITTED]
    assert payment.account.find(asker="ann", question="count") == {"n": 17}


def test_tables_that_change_during_the_answer_give_none(payment: Payment, tables: Tables) -> None:
    def compute() -> int:
        tables.same = False
        return 17

    with pytest.raises(EngineFailed):
        ask(payment, compute)
    assert kinds(payment) == [EntryKind.RESERVED, EntryKind.FAILED]
    assert payment.account.spent() == (1, 0)


def test_tables_that_changed_before_cost_nothing(payment: Payment, tables: Tables) -> None:
    tables.same = False
    with pytest.raises(InvalidParameter, match="data_changed"):
        ask(payment, lambda: 17)
    assert kinds(payment) == []


def test_a_failure_is_on_record_and_says_nothing(payment: Payment) -> None:
    def broken() -> int:
        message = "row 3"
        raise ValueError(message)

    with pytest.raises(EngineFailed) as failed:
        ask(payment, broken)
    assert "row 3" not in str(failed.value)
    assert failed.value.__context__ is None
    assert kinds(payment) == [EntryKind.RESERVED, EntryKind.FAILED]


@pytest.mark.parametrize("spend", [PureDP(epsilon=1), ApproxDP(epsilon=1, delta=1e-6)])
def test_a_spend_below_the_event_is_refused(spend: Any) -> None:
    purse = Purse(ApproxDP(epsilon=3, delta=1e-5), Row())
    purse.require_covered(spend, events.Laplace(epsilon=1))
    with pytest.raises(InvalidParameter, match="spend_too_small"):
        purse.require_covered(spend, events.Laplace(epsilon=1.01))
