"""Queries answered one by one: from a hypothesis for free, or from the data when it is far off.

Each query is answered by the hypothesis and, while updates are left, by the data. If both differ
by no more than a noisy threshold, the hypothesis answers: nothing was learnt, and nothing beyond
the round is paid. Otherwise a fresh noisy answer is released and the hypothesis learns from it.
After ``cutoff`` updates the hypothesis goes on answering, without any data.

One comparison of the absolute difference serves where the book makes two of signed ones; the sign
is that of the released answer.

Source: 000a:F5, G8; 004b:A10. Errata: 000a:F5 (all noise is divided by n; here everything is in
records, so none is), 000a:E4. Proof: ``proofs/pmw.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import Exhausted, InvalidData, InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.events.mechanisms import Laplace as LaplaceEvent
from discreet.core.events.mechanisms import SparseVector as SparseVectorEvent
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.core.parameters import Number, count, exact, positive, probability
from discreet.mechanisms import AboveThreshold, DiscreteLaplace, Laplace, Sparse
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.for_spend import (
    additive_readings,
    epsilon_for,
    largest_epsilon,
    least_error,
    share_of,
)
from discreet.mechanisms.sparse_vector.above_threshold import Live
from discreet.mechanisms.sparse_vector.numeric_sparse import numeric_error
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.online.comparisons import Comparisons
from discreet.queries.online.journal import (
    Entry,
    Journal,
    Past,
    Unkept,
    estimated,
    make_threshold_entry,
    opened,
    past,
    updated,
)
from discreet.queries.online.multiplicative_updaters import GapUpdater, MultiplicativeUpdater
from discreet.queries.online.updaters import (
    Hypothesis,
    MedianUpdater,
    PerceptronUpdater,
    Updater,
)
from discreet.queries.record_count import MOST, RecordCount, count_records, require_size
from discreet.queries.workload.cell_counts import whole_counts
from discreet.queries.workload.linear_query import PLACES, LinearQuery, Region, Weights

UNKEPT = Unkept()
COMPARED = Fraction(8, 9)
"""The part of a round's epsilon that compares; the rest releases the answer (000a:E4)."""


@dataclass(frozen=True)
class OnlineConstruction:
    """An updater, a spend, and the threshold in records at which the data is asked.

    ``cutoff`` is the number of updates that are paid for, by default all that there can be. One
    person has at most ``records`` records.

    Contract: fewer than 2**32 records.

    Guarantee: :attr:`event` for the whole conversation, however many queries are asked and
    however they are chosen.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public. Queries may be
    chosen by what was answered before.

    Source: 000a:F5, G8. Proof: ``proofs/pmw.md``.
    """

    updater: Updater
    spend: Guarantee
    size: RecordCount
    threshold: Number
    cutoff: int = 0
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range, before any data is seen."""
        require_size(self.size)
        positive("threshold", self.threshold)
        object.__setattr__(self, "records", count("records", self.records))
        if count("cutoff", self.cutoff, least=0) == 0:
            object.__setattr__(self, "cutoff", self.updater.most_updates)
        additive_readings(self.spend)

    @cached_property
    def _additive_spend(self) -> PureDP | ZCDP:
        """The spend as its rounds share it: in the definition that leaves most for each."""
        given = additive_readings(self.spend)
        return least_error(given, lambda paid: paid, lambda paid: 1 / self._each(paid))

    @cached_property
    def epsilon_each(self) -> Number:
        """What one update costs: its comparisons and its released answer."""
        return self._each(self._additive_spend)

    def _each(self, paid: PureDP | ZCDP) -> Number:
        match share_of(paid, 1 - self.size.share):
            case PureDP(epsilon=epsilon):
                return exact(epsilon) / self.cutoff
            case ZCDP() as rounds:
                return largest_epsilon(self._rounds, rounds)

    @cached_property
    def counting(self) -> DiscreteLaplace | None:
        """What buys the number of records, where it is bought."""
        if not self.size.share:
            return None
        paid = share_of(self._additive_spend, self.size.share)
        return self._make_count_mechanism(
            epsilon_for(paid, lambda e: self._make_count_mechanism(e).event)
        )

    def _make_count_mechanism(self, epsilon: Number) -> DiscreteLaplace:
        return DiscreteLaplace(
            epsilon=epsilon, sensitivity=self.records, randomness=self.randomness
        )

    def _rounds(self, epsilon: Number) -> Event:
        compared = SparseVectorEvent(epsilon=exact(epsilon) * COMPARED, cutoff=1)
        released = LaplaceEvent(epsilon=exact(epsilon) * (1 - COMPARED))
        return compose((compared * self.cutoff, released * self.cutoff))

    @cached_property
    def event(self) -> Event:
        """What the whole conversation costs."""
        rounds = mark_unprotected_event(self._rounds(self.epsilon_each), self.randomness)
        return rounds if self.counting is None else compose((self.counting.event, rounds))

    @cached_property
    def comparison(self) -> AboveThreshold:
        """What compares until one update."""
        return AboveThreshold(
            epsilon=exact(self.epsilon_each) * COMPARED,
            threshold=self.threshold,
            sensitivity=self.records,
            randomness=self.randomness,
        )

    @cached_property
    def answering(self) -> Laplace:
        """What releases an answer from the data."""
        return Laplace(
            epsilon=exact(self.epsilon_each) * (1 - COMPARED),
            sensitivity=self.records,
            randomness=self.randomness,
        )

    def noise_error(self, *, confidence: float, questions: int) -> float:
        """What noise can do to comparisons and released answers, in records.

        With a threshold of twice this, no answer is further than three times this from the truth
        while updates are left.
        """
        tail = (1 - float(probability("confidence", confidence))) / 2
        comparisons = Sparse(
            epsilon_each=self.comparison.epsilon,
            cutoff=self.cutoff,
            threshold=self.threshold,
            sensitivity=self.records,
        )
        return numeric_error(comparisons, self.answering, tail=tail, questions=questions)

    def within(self, *, confidence: float, questions: int) -> float:
        """How far from the truth any of so many answers is, in records, while updates are left.

        An estimate passed a comparison with the threshold; an answer from the data has its own
        noise. Neither exceeds a number of records that was bought too low.
        """
        if self.counting is None:
            return float(self.threshold) + self.noise_error(
                confidence=confidence, questions=questions
            )
        half = (1 + float(probability("confidence", confidence))) / 2
        noise = self.noise_error(confidence=half, questions=questions)
        return max(float(self.threshold) + noise, self.counting.error(confidence=half))

    def open(self, counts: NDArray[np.integer], journal: Journal = UNKEPT) -> OnlineSession:
        """Start a conversation about exact counts over the universe, or resume one.

        A journal that has entries is resumed, on the same counts: everything is read back, nothing
        is drawn again and nothing is lost. The journal is for the data owner alone.
        """
        return OnlineSession(self, counts, journal)

    @property
    def terms(self) -> Entry:
        """What a journal must have been opened with to be resumed."""
        return {
            "event": self.event.to_json(),
            "threshold": str(exact(self.threshold)),
            "updater": [_name(self.updater), self.updater.universe_size],
            "error": self.updater.error,
            "cutoff": self.cutoff,
            "records": self.records,
        }


_NAMES: dict[type[Updater], str] = {
    MultiplicativeUpdater: "MultiplicativeUpdater",
    GapUpdater: "GapUpdater",
    MedianUpdater: "MedianUpdater",
    PerceptronUpdater: "PerceptronUpdater",
}
"""Updaters as journals name them, for ever."""


def _name(updater: Updater) -> str:
    return _NAMES.get(type(updater)) or type(updater).__name__


class OnlineSession(Live):
    """A live conversation. It holds the data; what it says is all that it shows.

    The threshold of a round is durable before its first comparison, and every answer before it is
    returned, the estimate's as well: were updates alone written down, a journal that fails would
    tell that there was one. A session whose question was cut short answers no more.
    """

    def __init__(
        self, mechanism: OnlineConstruction, counts: NDArray[np.integer], journal: Journal
    ) -> None:
        """Buy the number of records or read it back, and learn again what was learnt."""
        super().__init__()
        self._mechanism = mechanism
        self._cells = mechanism.updater.universe_size
        table = whole_counts(counts, self._cells)
        self._counts = table.astype(np.float64)
        self._hypothesis = mechanism.updater.begin()
        self._left = mechanism.cutoff
        self._journal = journal
        self._comparisons = Comparisons(mechanism.comparison)
        self._complete = True
        if entries := journal.entries():
            self._resume(past(entries))
        else:
            self._total = count_records(mechanism.size, table, mechanism.counting)
            journal.write(opened(self._total, mechanism.terms))

    def _resume(self, before: Past) -> None:
        """Be where the journal ends; draw nothing."""
        self._left -= len(before.updates)
        if before.terms != self._mechanism.terms or self._left < 0:
            raise InvalidData(
                code="journal_differs",
                expectation="the mechanism that the journal was opened with",
                remedy="Resume with the same updater, spend, threshold and cutoff.",
            )
        self._total = before.total
        for query, answer in before.updates:
            self._hypothesis.update(query, answer)
        if before.hidden is not None:
            self._comparisons.go_on(before.hidden)

    @property
    def event(self) -> Event:
        """What the whole conversation costs."""
        return self._mechanism.event

    @property
    def updates_left(self) -> int:
        """Updates that are still paid for."""
        return self._left

    @property
    def total(self) -> float:
        """The number of records, public or bought."""
        return self._total

    @property
    def hypothesis(self) -> Hypothesis:
        """The public stand-in for the data; for reading."""
        return self._hypothesis

    def ask(self, question: LinearQuery) -> float:
        """The query's mean: its weighted sum over the number of records."""
        with self._lock:
            compared, left = bool(self._left), self._left
            answer = self.reply(question)
            if compared and self._left == left and self._journal is not UNKEPT:
                self._complete = False
                self._journal.write(estimated([(question, answer)]))
                self._complete = True
            return answer

    def reply(self, question: LinearQuery) -> float:
        """As :meth:`ask`, for whoever writes the estimate's answers down before they are seen."""
        self.checked(question)
        with self._lock:
            self._check_process()
            if not self._complete:
                raise Exhausted(
                    code="conversation_interrupted",
                    expectation="a conversation of which every question was answered or refused",
                    remedy="Resume it from its journal, which says how far it came.",
                )
            # Whatever cuts this short, an interrupt or a journal that fails, leaves it incomplete.
            self._complete = False
            answer = self._answered(question)
            self._complete = True
            return answer

    def checked(self, question: LinearQuery) -> LinearQuery:
        """The question, unless it is none; nothing is asked."""
        # Only these two keep their promise that weights lie in [0, 1] on the grid.
        if type(question) not in (Weights, Region) or question.cells != self._cells:
            raise InvalidParameter(
                code="query_misfit",
                expectation=f"a query, Weights or Region, over {self._cells} cells",
                received=type(question).__name__,
                remedy="Write Weights(values), or query_of(workload, place).",
            )
        return question

    def _answered(self, question: LinearQuery) -> float:
        guess = self._hypothesis.answer(question)
        if not self._left:
            return guess
        if not self._comparisons.under_way:
            self._journal.keep(make_threshold_entry(self._comparisons.begin()))
        truth = question.answer(self._counts)
        # Both on one grid and below 2**32, so that their difference is exact.
        near = min(max(guess * self._total, -MOST), MOST)
        public = round(near * 2.0**PLACES) * 2.0**-PLACES
        if not self._comparisons.above(abs(truth - public)):
            return guess
        noisy = float(self._mechanism.answering._release(truth, float))
        answer = min(max(noisy / self._total, 0.0), 1.0)
        self._journal.write(updated(question, answer))
        # Not before it is written down: `left` would tell of a yes that nobody paid for.
        self._left -= 1
        self._hypothesis.update(question, answer)
        return answer

    def __repr__(self) -> str:
        """Only what is public."""
        return f"OnlineSession({self._mechanism!r}, left={self._left})"
