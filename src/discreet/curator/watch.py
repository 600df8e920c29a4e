"""A conversation over SQL questions under one event: sparse vector on the curator's data.

Each answer is in the ledger before it is seen. A conversation lives in its process and is not
resumed: its hidden threshold is never written down, and never drawn again.

Source: 000a:E1–E5; contract, "Spending" (noise that outlives a call).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from discreet.core.errors import Exhausted, InvalidParameter
from discreet.core.event import Event
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number, exact
from discreet.curator.payment import Payment
from discreet.mechanisms import GENERAL, MONOTONE
from discreet.noise.randomness import SYSTEM, integer
from discreet.relational.inquiry import Inquiry
from discreet.relational.measures import Total
from discreet.relational.question import Question
from discreet.relational.reach import swaps
from discreet.relational.table import MOST_ROWS
from discreet.relational.tally import tally


class Watchable(Protocol):
    """A mechanism that opens conversations about numbers of a declared sensitivity."""

    @property
    def event(self) -> Event:
        """What a whole conversation costs."""

    @property
    def sensitivity(self) -> Number:
        """How far one unit may move each number asked about."""

    def open(self) -> Any:
        """Start a conversation."""


class Watch:
    """An open conversation: :meth:`ask` SQL questions with one whole-number cell each."""

    def __init__(
        self,
        mechanism: Watchable,
        question: Callable[[str], Question],
        payment: Payment,
        reservation: str,
    ) -> None:
        """Start the conversation, which was paid for; ``question`` says what a text asks."""
        self._mechanism = mechanism
        self._session = mechanism.open()
        self._question = question
        self._payment = payment
        self._reservation = reservation

    @property
    def event(self) -> Event:
        """What the whole conversation cost."""
        return self._mechanism.event

    def ask(self, text: str) -> Any:
        """Answer one question: a count or a sum of a whole column, without GROUP BY."""
        question = self._question(text)
        inquiry = Inquiry(question, PureDP(epsilon=1), MOST_ROWS)
        parts = inquiry.parts
        if question.keys.cells != 1 or len(parts) != 1 or inquiry.choices:
            raise InvalidParameter(
                code="not_one_number",
                expectation="one COUNT or SUM without GROUP BY in a conversation",
                remedy="Ask for one number at a time.",
            )
        measure, reach = parts[0].measure, parts[0].reach
        if isinstance(measure, Total) and not measure.whole:
            raise InvalidParameter(
                code="not_one_number",
                expectation="a count, or a sum of a whole column",
                remedy="Sum a whole column, or count.",
            )
        bound = measure.steps() if isinstance(measure, Total) else 1
        if reach.l1(bound) > exact(self._mechanism.sensitivity):
            raise InvalidParameter(
                code="sensitivity_too_small",
                expectation=f"a mechanism with sensitivity of at least {reach.l1(bound)}",
                received=self._mechanism.sensitivity,
                remedy="Open the conversation with that sensitivity, or ask for less.",
            )
        if getattr(self._mechanism, "scores", GENERAL) is MONOTONE and not _rising(inquiry):
            raise InvalidParameter(
                code="scores_not_monotone",
                expectation="numbers that one unit can only raise, where scores are MONOTONE",
                remedy="Open the conversation with scores=GENERAL; or ask for counts, or sums of "
                "columns that are never negative, under add/remove.",
            )

        def answered() -> Any:
            found = tally(
                question,
                [measure],
                [],
                inquiry.person,
                self._payment.database.engine,
                salt=integer(SYSTEM, 62),
            )
            try:
                return self._session.ask(int(found.linear[0][0]))
            except Exhausted as finished:  # told by earlier answers, so it is public
                return finished

        answer = self._payment.guarded(self._reservation, answered)
        if isinstance(answer, Exhausted):
            raise answer
        self._payment.account.answer(self._reservation, {"sql": text, "answer": _plain(answer)})
        return answer

    def close(self) -> None:
        """End the conversation."""
        self._payment.account.commit(self._reservation, {"closed": True})


def _rising(inquiry: Inquiry) -> bool:
    """Whether one unit that comes can only raise the number: under add/remove, row by row.

    Rows without an owner of which one unit changes several may come and go at once.
    """
    measure = inquiry.parts[0].measure
    positive = not isinstance(measure, Total) or (measure.low >= 0 and measure.centre == 0)
    by_rows = inquiry.person is not None or inquiry.question.rows.changed == 1
    return swaps(inquiry.question.unit) == 1 and positive and by_rows


def _plain(answer: Any) -> object:
    return answer if isinstance(answer, bool | int | float | str) else repr(answer)
