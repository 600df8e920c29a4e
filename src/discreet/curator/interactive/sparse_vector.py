"""A sparse vector session: SQL queries compared with a hidden threshold, under one event.

The noise of a hidden threshold is in the ledger, encrypted, before the first comparison that uses
it, and each answer before it is seen. So another process goes on with the same threshold: nothing
is drawn again. A mechanism of one's own, which keeps its secrets to itself, lives in its process.

Source: 000a:E1–E4; contract, "Spending" (noise that outlives a call). Proof: ``proofs/pmw.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from discreet.core.errors import DiscreetError, Exhausted, InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee, PureDP
from discreet.core.parameters import Number, exact
from discreet.curator.context import Context
from discreet.curator.purchase import Offer, Purchase, Reservation, reserve
from discreet.curator.tags import name_of
from discreet.mechanisms import GENERAL, MONOTONE
from discreet.mechanisms.sparse_vector.hidden import BEGINNING, HiddenThreshold, Rounds
from discreet.mechanisms.sparse_vector.plain import mechanism_from_dict, mechanism_to_dict
from discreet.noise.randomness import SYSTEM, integer
from discreet.relational.aggregates.measures import Total, ValuesTotal
from discreet.relational.bounding.contributions import swaps
from discreet.relational.execute.exact_aggregation import aggregate_exactly
from discreet.relational.plan.query import Query
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.schema.table import MOST_ROWS


class InteractiveMechanism(Protocol):
    """A mechanism that opens sessions about numbers of a declared sensitivity."""

    @property
    def event(self) -> Event:
        """What a whole session costs."""

    @property
    def sensitivity(self) -> Number:
        """How far one unit may move each number asked about."""

    def open(self, before: Rounds = ..., /) -> Any:
        """Start a session, or go on with one."""


def open_sparse_vector(
    context: Context,
    mechanism: InteractiveMechanism,
    *,
    spend: Guarantee,
    analyst: str,
    purpose: str | None,
) -> SparseVectorSession:
    """Pay for a session and start it."""
    plain = mechanism_to_dict(mechanism)

    def offer() -> Offer[Any]:
        live = _opened(mechanism)
        words = {"mechanism": name_of(mechanism), "watch": plain}
        return Offer(live, mechanism.event, words, brings_noise=True)

    purchase = Purchase(
        analyst=analyst, purpose=purpose, spend=spend, reads=(), offer=offer, own=plain is None
    )
    reservation, live = reserve(context, purchase, "conversation")
    return SparseVectorSession(mechanism, live, reservation)


def resume_sparse_vector(reservation: Reservation, paid: Mapping[str, Any]) -> SparseVectorSession:
    """Go on with one that was paid for, with the threshold that its log keeps."""
    context, detail = reservation.context, paid["detail"]
    context.policies.admit_resumed(None, analyst=paid["asker"], purpose=detail.get("purpose"))
    mechanism = mechanism_from_dict(detail["watch"], context.randomness)
    return SparseVectorSession(mechanism, None, reservation)


def _opened(mechanism: InteractiveMechanism) -> Any:
    """A session that nobody asked yet; refused if this is no mechanism that opens one."""
    try:
        fits = isinstance(mechanism.event, Event) and exact(mechanism.sensitivity) > 0
        live = mechanism.open() if fits else None
    except DiscreetError:
        raise
    except (AttributeError, TypeError, ValueError):
        live = None
    if not callable(getattr(live, "ask", None)):
        raise InvalidParameter(
            code="not_an_interactive_mechanism",
            expectation="a mechanism that opens a session of numbers: AboveThreshold, Sparse or "
            "NumericSparse, or one with event, sensitivity and open()",
            received=type(mechanism).__name__,
            remedy="Open AboveThreshold(epsilon=..., threshold=..., sensitivity=1); what answers "
            "once is for curator.sql or curator.release.",
        )
    return live


class SparseVectorSession:
    """An open session: :meth:`ask` SQL queries with one whole-number cell each.

    ``curator.resume(session.id)`` goes on with it in another process, which ends it here.
    """

    def __init__(
        self, mechanism: InteractiveMechanism, live: Any, reservation: Reservation
    ) -> None:
        """Start the session ``live``, which was paid for; or, without one, go on where it was."""
        self._mechanism = mechanism
        self._reservation = reservation
        self._context = reservation.context
        self._log = reservation.log()
        self._kept: HiddenThreshold | None = None
        if live is None:
            before = _rounds(self._log.entries())
            self._kept = before.hidden
            live = mechanism.open() if before == BEGINNING else mechanism.open(before)
        self._session = live
        self._settled = True
        self._lock = threading.RLock()

    @property
    def id(self) -> str:
        """By which ``curator.resume`` finds it. Random."""
        return self._reservation.id

    @property
    def event(self) -> Event:
        """What the whole session cost."""
        return self._mechanism.event

    def ask(self, text: str) -> Any:
        """Answer one question: a count or a sum of a whole column, without GROUP BY."""
        query = self._context.query(text)
        self._context.policies.require_columns(query)
        planned = PlannedQuery(query, PureDP(epsilon=1), MOST_ROWS)
        parts = planned.parts
        if query.keys.cells != 1 or len(parts) != 1 or planned.choices:
            raise InvalidParameter(
                code="not_one_number",
                expectation="one COUNT or SUM without GROUP BY in a conversation",
                remedy="Ask for one number at a time.",
            )
        measure, contributions = parts[0].measure, parts[0].contributions
        if isinstance(measure, Total) and not measure.whole:
            raise InvalidParameter(
                code="not_one_number",
                expectation="a count, or a sum of a whole column",
                remedy="Sum a whole column, or count.",
            )
        bound = measure.steps()
        if contributions.l1(bound) > exact(self._mechanism.sensitivity):
            raise InvalidParameter(
                code="sensitivity_too_small",
                expectation=f"a mechanism with sensitivity of at least {contributions.l1(bound)}",
                received=self._mechanism.sensitivity,
                remedy="Open the conversation with that sensitivity, or ask for less.",
            )
        if getattr(self._mechanism, "scores", GENERAL) is MONOTONE and not _rising(planned):
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
                    received=self.id,
                    remedy="Go on with curator.resume(id).",
                )
            self._context.require_unchanged()  # free: nothing was read
            self._settled = False
            answer = self._answer(text, query, planned)
            self._settled = True
        if isinstance(answer, Exhausted):
            raise answer
        return answer

    def _answer(self, text: str, query: Query, planned: PlannedQuery) -> Any:
        """Keep the secret, compare, keep the answer; or say that the conversation is finished."""
        self._keep_hidden()

        def answered() -> Any:
            found = aggregate_exactly(
                query,
                [planned.parts[0].measure],
                [],
                planned.person,
                self._context.database.engine,
                salt=integer(SYSTEM, 62),
            )
            try:
                return self._session.ask(int(found.linear[0][0]))
            except Exhausted as finished:  # told by earlier answers, so it is public
                return finished

        answer = self._reservation.read_private_data(answered)
        if not isinstance(answer, Exhausted):
            above = answer is not None and answer is not False
            self._log.write({"sql": text, "answer": _plain(answer), "above": above})
            # A yes ends the round; the next one's secret may happen to be the same number.
            self._kept = None if above else self._kept
        return answer

    def _keep_hidden(self) -> None:
        """Keep the secret of the next comparison, unless it is kept."""
        hidden = getattr(self._session, "hidden", lambda: None)()
        if hidden is not None and hidden != self._kept:
            self._log.keep({"hidden": hidden.steps})
            self._kept = hidden

    def close(self) -> None:
        """End the session; it cannot be resumed."""
        self._reservation.commit({"closed": True})


def _rounds(entries: Sequence[Mapping[str, Any]]) -> Rounds:
    """How far a log says that the session came."""
    rounds = BEGINNING
    for entry in entries:
        if "hidden" in entry:
            rounds = Rounds(rounds.yeses, HiddenThreshold(int(entry["hidden"])))
        elif entry["above"]:
            rounds = Rounds(rounds.yeses + 1)
    return rounds


def _rising(planned: PlannedQuery) -> bool:
    """Whether one unit that comes can only raise the number: under add/remove, row by row.

    Rows without an owner of which one unit changes several may come and go at once.
    """
    measure = planned.parts[0].measure
    positive = not isinstance(measure, Total | ValuesTotal) or (
        measure.low >= 0 and measure.centre == 0
    )
    by_rows = planned.person is not None or planned.query.rows.stability == 1
    return swaps(planned.query.unit) == 1 and positive and by_rows


def _plain(answer: Any) -> object:
    return answer if isinstance(answer, bool | int | float | str) else repr(answer)
