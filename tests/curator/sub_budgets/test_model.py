"""Whatever is granted and asked, in whatever order, no budget is ever exceeded."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import hypothesis.strategies as st
import polars as pl
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

import discreet as dp
from discreet.accounting.adaptive.steps import STEPS
from discreet.errors import Exhausted
from tests.curator.tables import COLUMNS, visits

TOTAL = Fraction(3)
AMOUNT = st.sampled_from([Fraction(n, 10) for n in (1, 2, 5, 9)])
TABLE = dp.table(
    visits(people=6), unit=dp.Person("patient_id", max_rows=3), columns=COLUMNS, snapshot="one"
)


class Sharing(RuleBasedStateMachine):
    """Sessions beside a model: what each may still spend, in exact fractions."""

    sessions = Bundle("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.book = dp.ledger.Memory()
        self.curator = self.opened()
        self.left: dict[str, Fraction] = {}
        self.account: dict[str, Any] = {}
        self.known: dict[tuple[str, str], tuple[Fraction, str]] = {}
        self.asked = 0

    def opened(self) -> dp.Curator:
        return dp.Curator(visits=TABLE, budget=dp.PureDP(epsilon=TOTAL), ledger=self.book)

    @initialize(target=sessions)
    def start(self) -> str:
        return self.added(self.curator, TOTAL)

    def added(self, session: Any, left: Fraction) -> str:
        name = str(len(self.left))
        self.left[name], self.account[name] = left, session
        return name

    @rule(where=sessions, amount=AMOUNT)
    def ask(self, where: str, amount: Fraction) -> None:
        self.asked += 1
        text, spend = "SELECT COUNT(*) AS n FROM visits", dp.PureDP(epsilon=amount)
        try:
            self.account[where].sql(text, spend=spend, analyst=str(self.asked))
        except Exhausted:
            assert amount > self.left[where]
        else:
            self.left[where] -= amount

    @rule(target=sessions, where=sessions, amount=AMOUNT, name=st.sampled_from("ab"))
    def child(self, where: str, amount: Fraction, name: str) -> str:
        known = self.known.get((where, name))
        if known is not None:
            amount = known[0]
        try:
            made = self.account[where].child(name, budget=dp.PureDP(epsilon=amount))
        except Exhausted:
            assert amount > self.left[where]
            return where
        if known is not None:
            assert made.remaining == self.account[known[1]].remaining
            return known[1]
        self.left[where] -= amount
        found = self.added(made, amount)
        self.known[where, name] = amount, found
        return found

    @rule(
        target=sessions,
        where=sessions,
        amount=AMOUNT,
        k=st.integers(1, 2),
        ward=st.sampled_from("ABC"),
    )
    def part(self, where: str, amount: Fraction, k: int, ward: str) -> str:
        name = f"wards {amount} {k}"
        known = self.known.get((where, name + ward))
        new = (where, name) not in self.known
        try:
            parts = self.account[where].partition(
                "visits", by="ward", budget=dp.PureDP(epsilon=amount), k=k, name=name
            )
        except Exhausted:
            assert k * amount > self.left[where]
            return where
        self.left[where] -= k * amount if new else 0
        self.known[where, name] = amount, ""
        if known is not None:
            return known[1]
        found = self.added(parts[ward], amount)
        self.known[where, name + ward] = amount, found
        return found

    @rule()
    def reopen(self) -> None:
        """Another curator on the same ledger sees the same."""
        assert self.opened().remaining == self.curator.remaining

    @invariant()
    def nothing_is_exceeded(self) -> None:
        for name, left in self.left.items():
            assert left >= 0
            (steps,) = self.account[name].context.account.remaining()
            assert Fraction(steps, STEPS) == left

    def teardown(self) -> None:
        self.book.verify()
        self.curator.close()


TestSharing = Sharing.TestCase
TestSharing.settings = settings(max_examples=12, stateful_step_count=12, deadline=None)


def test_the_table_is_about_people() -> None:
    assert visits(people=6)["patient_id"].n_unique() == 6
    assert isinstance(visits(), pl.DataFrame)
