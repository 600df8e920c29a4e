"""A conversation over SQL questions under one event: sparse vector on the curator's data.

The noise of a hidden threshold is in the ledger, veiled, before the first comparison that uses it,
and each answer before it is seen. So another process goes on with the same threshold: nothing is
drawn again. A mechanism of one's own, which keeps its secrets to itself, lives in its process.

Source: 000a:E1–E4; contract, "Spending" (noise that outlives a call). Proof: ``proofs/pmw.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from discreet.core.errors import Exhausted, InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number, exact
from discreet.curator.payment import Payment
from discreet.mechanisms import GENERAL, MONOTONE
from discreet.mechanisms.sparse_vector.hidden import BEGINNING, HiddenThreshold, Rounds
from discreet.noise.randomness import SYSTEM, integer
from discreet.relational.aggregates.measures import Total
from discreet.relational.bounding.contributions import swaps
from discreet.relational.execute.exact_aggregation import tally
from discreet.relational.plan.query import Question
from discreet.relational.planning.planned_query import Inquiry
from discreet.relational.schema.table import MOST_ROWS


class Watchable(Protocol):
    """A mechanism that opens conversations about numbers of a declared sensitivity."""

    @property
    def event(self) -> Event:
        """What a whole conversation costs."""

    @property
    def sensitivity(self) -> Number:
        """How far one unit may move each number asked about."""

    def open(self, before: Rounds = ..., /) -> Any:
        """Start a conversation, or go on with one."""


class Watch:
    """An open conversation: :meth:`ask` SQL questions with one whole-number cell each."""

    def __init__(
        self,
        mechanism: Watchable,
        question: Callable[[str], Question],
        payment: Payment,
        reservation: str,
    ) -> None:
        """Start the conversation, which was paid for, or go on with it where it was.

        ``question`` says what a text asks.
        """
        self._mechanism = mechanism
        self._question = question
        self._payment = payment
        self._reservation = reservation
        self._notebook = payment.account.session_log(reservation)
        before = _rounds(self._notebook.entries())
        self._kept = before.hidden
        self._session = mechanism.open() if before == BEGINNING else mechanism.open(before)
        self._settled = True
        self._lock = threading.RLock()

    @property
    def id(self) -> str:
        """By which :meth:`Access.reopen` finds it. Random."""
        return self._reservation

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

        with self._lock:
            if not self._settled:
                raise Exhausted(
                    code="conversation_interrupted",
                    expectation="a conversation of which every question was answered or refused",
                    received=self._reservation,
                    remedy="Go on with curator.reopen(id).",
                )
            self._settled = False
            answer = self._answer(text, question, inquiry)
            self._settled = True
        if isinstance(answer, Exhausted):
            raise answer
        return answer

    def _answer(self, text: str, question: Question, inquiry: Inquiry) -> Any:
        """Keep the secret, compare, keep the answer; or say that the conversation is finished."""
        self._keep_hidden()

        def answered() -> Any:
            found = tally(
                question,
                [inquiry.parts[0].measure],
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
        if not isinstance(answer, Exhausted):
            above = answer is not None and answer is not False
            self._notebook.write({"sql": text, "answer": _plain(answer), "above": above})
            # A yes ends the round; the next one's secret may happen to be the same number.
            self._kept = None if above else self._kept
        return answer

    def _keep_hidden(self) -> None:
        """Keep the secret of the next comparison, unless it is kept."""
        hidden = getattr(self._session, "hidden", lambda: None)()
        if hidden is not None and hidden != self._kept:
            self._notebook.keep({"hidden": hidden.steps})
            self._kept = hidden

    def close(self) -> None:
        """End the conversation."""
        self._payment.account.commit(self._reservation, {"closed": True})


def _rounds(entries: Sequence[Mapping[str, Any]]) -> Rounds:
    """How far a notebook says that the conversation came."""
    rounds = BEGINNING
    for entry in entries:
        if "hidden" in entry:
            rounds = Rounds(rounds.yeses, HiddenThreshold(int(entry["hidden"])))
        elif entry["above"]:
            rounds = Rounds(rounds.yeses + 1)
    return rounds


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
