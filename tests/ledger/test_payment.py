"""Reserve, compute, commit: in this order, and an answer only where all three were done."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import pytest

from discreet import events
from discreet.core.guarantee import ApproxDP, PureDP
from discreet.core.unit import Row
from discreet.curator.budget import PrivacyBudget
from discreet.curator.context import Context
from discreet.curator.policy.enforcement import Policies
from discreet.curator.purchase import Offer, Purchase, Storage, buy
from discreet.curator.stored_answer import Known
from discreet.errors import EngineFailed, InvalidParameter
from discreet.ledger import EntryKind, Memory
from discreet.noise.randomness import SYSTEM
from discreet.relational.database import Database
from discreet.relational.plan.scope import Scope


class Still:
    """An engine with one state."""

    def snapshot(self) -> AbstractContextManager[None]:
        return nullcontext()


class Tables:
    """Files that change when they are told to."""

    def __init__(self) -> None:
        self.same = True
        self.engine = Still()
        self.closed = False

    def unchanged(self) -> bool:
        return self.same

    def require_process(self) -> None:
        pass


@pytest.fixture
def tables() -> Tables:
    return Tables()


@pytest.fixture
def context(tables: Tables) -> Context:
    budget = PrivacyBudget(ApproxDP(epsilon=3, delta=1e-5), Row())
    ledger = Memory()
    ledger.open(budget.terms)
    return Context(
        cast(Database, tables), ledger, budget, ledger, Scope(), Policies(), randomness=SYSTEM
    )


SPEND = PureDP(epsilon=1)


def ask(context: Context, compute: Callable[[], int]) -> int:
    event = events.Laplace(epsilon=1)
    return buy(
        context,
        Purchase(
            analyst="ann",
            purpose=None,
            spend=SPEND,
            reads=(),
            offer=lambda: Offer(compute, event, {}),
        ),
        Storage(
            known=lambda: Known("count"),
            to_dict=lambda found: {"n": found},
            from_dict=lambda stored: int(stored["n"]),
        ),
    )


def kinds(context: Context) -> list[EntryKind]:
    return [entry.kind for entry in context.account.entries()][1:]


def test_an_answer_is_kept_before_it_is_shown(context: Context) -> None:
    seen: list[Any] = []

    def compute() -> int:
        seen.append(kinds(context))
        return 17

    assert ask(context, compute) == 17
    assert seen == [[EntryKind.RESERVED]]
    assert kinds(context) == [EntryKind.RESERVED, EntryKind.COMMITTED]
    assert context.account.find(analyst="ann", query="count") == {"n": 17}


def test_tables_that_change_during_the_answer_give_none(context: Context, tables: Tables) -> None:
    def compute() -> int:
        tables.same = False
        return 17

    with pytest.raises(EngineFailed):
        ask(context, compute)
    assert kinds(context) == [EntryKind.RESERVED, EntryKind.FAILED]
    assert context.account.spent() == context.budget.charge(SPEND, (events.Laplace(epsilon=1),))


def test_tables_that_changed_before_cost_nothing(context: Context, tables: Tables) -> None:
    tables.same = False
    with pytest.raises(InvalidParameter, match="data_changed"):
        ask(context, lambda: 17)
    assert kinds(context) == []


def test_a_failure_is_on_record_and_says_nothing(context: Context) -> None:
    def broken() -> int:
        message = "row 3"
        raise ValueError(message)

    with pytest.raises(EngineFailed) as failed:
        ask(context, broken)
    assert "row 3" not in str(failed.value)
    assert failed.value.__context__ is None
    assert kinds(context) == [EntryKind.RESERVED, EntryKind.FAILED]


@pytest.mark.parametrize("spend", [PureDP(epsilon=1), ApproxDP(epsilon=1, delta=1e-6)])
def test_a_spend_below_the_event_is_refused(spend: Any) -> None:
    budget = PrivacyBudget(ApproxDP(epsilon=3, delta=1e-5), Row())
    budget.require_covered(spend, events.Laplace(epsilon=1))
    with pytest.raises(InvalidParameter, match="spend_too_small"):
        budget.require_covered(spend, events.Laplace(epsilon=1.01))
