"""A long conversation about a universe: each answer from an estimate, or from the data.

It was paid for as a whole when it was opened. Every answer that the data had a part in, also one
that only says that the estimate will do, is in the ledger before it is seen; so whether writing it
fails tells nothing about it: neither by the error, nor by its traceback, nor by what is left
afterwards. The estimate is public; once no updates are left it answers alone.

Source: contract, "Spending" (noise that outlives a call). Proof: ``proofs/pmw.md``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.core.errors import Exhausted, InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.curator.purchase import OWNER
from discreet.curator.synopsis.release import SynopsisRelease
from discreet.queries.online.construction import OnlineSession
from discreet.queries.online.journal import Entry, Journal, answered, estimated
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.conditions import query_where
from discreet.queries.workload.linear_query import LinearQuery, query_of
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.release.reply import Origin, Reply

if TYPE_CHECKING:
    import altair as alt

_MOST_AT_ONCE = 5000

Query = LinearQuery | Mapping[str, object]
"""A linear query, or conditions on attributes that records must meet."""


@dataclass(frozen=True)
class Plan:
    """What was agreed when a conversation was opened; all of it public.

    ``within`` is stated for the first ``questions`` answers at ``confidence``; ``facts`` are those
    of the privacy statement.
    """

    universe: Universe
    guarantee: Guarantee
    questions: int
    confidence: float
    within: float
    facts: Mapping[str, Any]


class Conversation:
    """Asks about a universe under one event. Threads may share it; a process may not be copied.

    ``curator.resume(conversation.id)`` goes on with it in another process, which ends it here.
    """

    def __init__(
        self,
        name: str,
        plan: Plan,
        session: OnlineSession,
        journal: Journal,
        close: Callable[[], None],
        *,
        asked: int,
    ) -> None:
        """Hold what was opened, or resumed after ``asked`` questions."""
        self._name = name
        self._plan = plan
        self._session = session
        self._journal = journal
        self._close = close
        self._asked = asked
        self._left = session.updates_left
        self._settled = True
        self._lock = threading.RLock()

    @property
    def id(self) -> str:
        """By which ``curator.resume`` finds it. Random."""
        return self._name

    @property
    def universe(self) -> Universe:
        """What it is about."""
        return self._plan.universe

    @property
    def guarantee(self) -> Guarantee:
        """What the whole of it keeps, and was charged."""
        return self._plan.guarantee

    @property
    def event(self) -> Event:
        """What the whole of it costs."""
        return self._session.event

    @property
    def updates_left(self) -> int:
        """Updates that are still paid for; with none left, answers are free and may be far off.

        As of the last answer that was kept: what a question that was cut short would have used
        up is not told.
        """
        return self._left

    @property
    def questions_asked(self) -> int:
        """Questions that were answered with a part of the data, resumed ones included."""
        return self._asked

    @property
    def records(self) -> float:
        """The noisy number of records that was bought, or the public one."""
        return self._session.total

    def ask(self, query: Query | str, condition: object = None) -> Reply:
        """Answer one question: how many records meet some conditions.

        ``{"sex": "f", "age": [3, 4]}``, or ``"age", [3, 4]`` for one attribute, or a linear query.
        """
        asked = {query: condition} if isinstance(query, str) else query
        return self.ask_all([asked])[0]

    def ask_all(self, questions: Iterable[Query] | Workload) -> list[Reply]:
        """Answer questions in order, and write the answers of the estimate down together.

        Much faster than one by one, where writing to the ledger is what takes long. A workload
        over the same universe stands for all its queries.
        """
        queries = [self._query(query) for query in self._list_questions(questions)]
        with self._lock:
            self._require_settled()
            self._settled = False
            before = self._asked
            try:
                told = self._answer_queries_durably(queries)
            except BaseException as error:
                OWNER.exception("conversation %s: an answer was not kept", self._name)
                failed, self._asked = error, before
            else:
                self._left = self._session.updates_left
                self._settled = True
                return told
        # Out here, without its traceback, which would tell who was about to answer.
        raise failed.with_traceback(None) from None

    def _answer_queries_durably(self, queries: list[LinearQuery]) -> list[Reply]:
        """Answers that are durable, in order."""
        told = [self._answered(query) for query in queries]
        if said := [
            (query, reply.share)
            for query, reply in zip(queries, told, strict=True)
            if reply.origin is Origin.ESTIMATE and reply.number
        ]:
            self._journal.write(estimated(said))
        return told

    def _answered(self, query: LinearQuery) -> Reply:
        """Ask; what the estimate answers is not to be seen before it is written down."""
        left = self._session.updates_left
        share = self._session.reply(query)
        self._asked += left > 0
        return Reply(
            count=share * self._session.total,
            share=share,
            within=self._plan.within if left and self._asked <= self._plan.questions else None,
            confidence=self._plan.confidence,
            origin=Origin.DATA if self._session.updates_left < left else Origin.ESTIMATE,
            left=self._session.updates_left,
            number=self._asked if left else 0,
        )

    @property
    def synopsis(self) -> SynopsisRelease:
        """The estimate as it stands: a synopsis, free as everything that is computed from it."""
        universe = self._plan.universe
        cells = Workload.marginal(universe, universe.names)
        with self._lock:
            self._require_settled()
            means = self._session.hypothesis.answers(cells)
            estimate = HistogramSynopsis(universe, means * self._session.total, self.event)
        return SynopsisRelease(
            id=self._name,
            query=f"estimate of a conversation about {' x '.join(universe.names)}",
            synopsis=estimate,
            guarantee=self.guarantee,
            event=self.event,
            rmse=None,
            facts=self._plan.facts,
        )

    def plot(self) -> alt.LayerChart:
        """Updates used after each question, beside those that were paid; all of it public."""
        from discreet.queries.plots import updates_by_question

        used = [0]
        with self._lock:
            cutoff = self._left + sum(map(_updates, entries := self._journal.entries()))
        for entry in entries:
            used += [used[-1] + _updates(entry)] * answered(entry)
        return updates_by_question(used[1:], cutoff=cutoff)

    def close(self) -> None:
        """End it for good; it cannot be resumed."""
        with self._lock:
            self._settled = False
            self._close()

    def _list_questions(self, questions: Iterable[Query] | Workload) -> Iterable[Query]:
        if not isinstance(questions, Workload):
            return questions if isinstance(questions, Iterable) else [questions]
        if questions.universe.attributes != self._plan.universe.attributes:
            raise InvalidParameter(
                code="workloads_differ",
                expectation="a workload over the universe of the conversation",
                received=list(questions.universe.names),
                remedy="Build it from `conversation.universe`.",
            )
        if questions.queries > _MOST_AT_ONCE:
            raise InvalidParameter(
                code="too_many_queries",
                expectation=f"a workload of at most {_MOST_AT_ONCE} queries at once",
                received=questions.queries,
                remedy="Ask for fewer marginals, or answer it from `conversation.synopsis`, which "
                "is free.",
            )
        return [query_of(questions, place) for place in range(questions.queries)]

    def _query(self, query: Query) -> LinearQuery:
        if isinstance(query, LinearQuery):
            return self._session.checked(query)
        if isinstance(query, Mapping):
            return query_where(self._plan.universe, query)
        raise InvalidParameter(
            code="query_misfit",
            expectation="conditions on attributes, or a linear query",
            received=type(query).__name__,
            remedy='Write ask({"sex": "f", "age": [3, 4]}).',
        )

    def _require_settled(self) -> None:
        if not self._settled:
            raise Exhausted(
                code="conversation_interrupted",
                expectation="a conversation of which every question was answered or refused",
                received=self._name,
                remedy="It was closed, or a question was cut short. If it was not closed, go on "
                "with curator.resume(id).",
            )

    def __repr__(self) -> str:
        """Only what is public."""
        return f"Conversation({self._name!r}, asked={self._asked}, left={self.updates_left})"


def _updates(entry: Entry) -> int:
    return int(entry["did"] == "update")
