"""Sparse: AboveThreshold restarted until a cut-off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from discreet.core.errors import Exhausted
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import SparseVector as SparseVectorEvent
from discreet.core.parameters import (
    Number,
    count,
    exact,
    positive,
    probability,
)
from discreet.mechanisms import grid
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.scores import GENERAL, Scores
from discreet.mechanisms.sparse_vector.above_threshold import (
    AboveThreshold,
    Live,
    ThresholdSession,
    read_questions,
)
from discreet.mechanisms.sparse_vector.hidden import BEGINNING, HiddenThreshold, Rounds
from discreet.mechanisms.sparse_vector.reach import reach_of_errors
from discreet.mechanisms.sparse_vector.total import largest_epsilon
from discreet.noise import SYSTEM, Source

_AT_ONCE = 1 << 14


@dataclass(frozen=True, kw_only=True)
class Sparse:
    """Up to ``cutoff`` positive answers among any number of questions.

    Assumptions: as for :class:`AboveThreshold`.

    Contract: AboveThreshold at ``epsilon_each``, started afresh after each yes.

    Guarantee: ``cutoff`` times the event of AboveThreshold at ``epsilon_each``; by basic
    composition that is pure ``cutoff * epsilon_each``. :meth:`pure` and :meth:`approximate`
    choose ``epsilon_each`` for a total.

    Source: 000a:E3. Proof: ``proofs/sparse_vector.md``.
    """

    epsilon_each: Number
    cutoff: int
    threshold: Number
    sensitivity: Number
    scores: Scores = GENERAL
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        object.__setattr__(self, "epsilon_each", grid.ordinary("epsilon_each", self.epsilon_each))
        object.__setattr__(self, "cutoff", count("cutoff", self.cutoff))
        each = self._round()
        object.__setattr__(self, "threshold", each.threshold)
        object.__setattr__(self, "sensitivity", each.sensitivity)

    @classmethod
    def pure(
        cls, *, epsilon: Number, cutoff: int, threshold: Number, sensitivity: Number, **others: Any
    ) -> Sparse:
        """Total price epsilon, split evenly over the positive answers."""
        each = exact(positive("epsilon", epsilon)) / count("cutoff", cutoff)
        return cls(
            epsilon_each=each, cutoff=cutoff, threshold=threshold, sensitivity=sensitivity, **others
        )

    @classmethod
    def approximate(
        cls,
        *,
        epsilon: Number,
        delta: Number,
        cutoff: int,
        threshold: Number,
        sensitivity: Number,
        **others: Any,
    ) -> Sparse:
        """Total price (epsilon, delta): the largest ``epsilon_each`` the accountants allow."""
        times = count("cutoff", cutoff)
        each = largest_epsilon(
            lambda each: SparseVectorEvent(epsilon=each, cutoff=1) * times,
            epsilon=epsilon,
            delta=delta,
            most=1,
        )
        return cls(
            epsilon_each=each, cutoff=cutoff, threshold=threshold, sensitivity=sensitivity, **others
        )

    @classmethod
    def for_error(
        cls,
        error: float,
        *,
        confidence: float,
        questions: int,
        cutoff: int,
        threshold: Number,
        sensitivity: Number,
        **others: Any,
    ) -> Sparse:
        """The cheapest mechanism whose stated error is at most ``error``."""
        unit = cls(
            epsilon_each=1, cutoff=cutoff, threshold=threshold, sensitivity=sensitivity, **others
        )
        reach = unit.error(confidence=confidence, questions=questions)
        return replace(unit, epsilon_each=reach / float(positive("error", error)))

    @property
    def event(self) -> Event:
        """What the whole session costs, to the cut-off."""
        event = SparseVectorEvent(epsilon=self.epsilon_each, cutoff=1) * self.cutoff
        return mark_unprotected_event(event, self.randomness)

    def open(self, before: Rounds = BEGINNING) -> SparseSession:
        """Start a session, or go on with one."""
        return SparseSession(self, before)

    def error(self, *, confidence: float, questions: int) -> float:
        """How far from the threshold a wrong answer can be, over all ``questions``.

        8 c (ln k + ln(2c/beta)) / epsilon for general values and a pure total (000a:E3).
        """
        tail = 1 - float(probability("confidence", confidence))
        return self._error(tail=tail, questions=questions)

    def _error(self, *, tail: float, questions: int) -> float:
        return self._round()._error(tail=tail / self.cutoff, questions=questions)

    def reach(self, *, confidence: float, questions: int) -> float:
        """How far from the threshold a wrong answer can be, by the law of the noise.

        As :meth:`error`, and about half as wide: what two union bounds of equal parts give away.
        """
        one = self._round()
        scale = one.threshold_scale() * (1 + 2.0**-40)
        step = 2.0 ** one.exponent()
        found = reach_of_errors(
            threshold_scale=scale,
            value_scale=self.scores.value * scale,
            rounds=self.cutoff,
            questions=count("questions", questions),
            tail=1 - float(probability("confidence", confidence)),
        )
        return found + 2 * step  # value and threshold are rounded, and so is each noise

    def _round(self) -> AboveThreshold:
        return AboveThreshold(
            epsilon=self.epsilon_each,
            threshold=self.threshold,
            sensitivity=self.sensitivity,
            scores=self.scores,
            randomness=self.randomness,
        )


class SparseSession(Live):
    """A live session of :class:`Sparse`."""

    def __init__(self, mechanism: Sparse, before: Rounds = BEGINNING) -> None:
        """Open the first round, or the one that was under way."""
        super().__init__()
        self._mechanism = mechanism
        self._left = max(0, mechanism.cutoff - before.yeses)
        self._round: ThresholdSession = mechanism._round().open(Rounds(hidden=before.hidden))

    @property
    def event(self) -> Event:
        """What the whole session costs."""
        return self._mechanism.event

    @property
    def positive_answers_left(self) -> int:
        """Positive answers still available."""
        return self._left

    def hidden(self) -> HiddenThreshold | None:
        """The secret of the next comparison, for whoever keeps it; None where there is none."""
        with self._lock:
            if not self._left:
                return None
            if self._round.halted:
                self._round = self._mechanism._round().open()
            return self._round.hidden()

    def ask(self, query: Any) -> bool:
        """Whether the value is above the threshold; a yes uses up one positive answer."""
        return self.ask_all([query])[-1]

    def ask_all(self, questions: Any) -> list[bool]:
        """Ask a list of values in order; the answers stop at the cut-off."""
        values = read_questions(questions)
        answers: list[bool] = []
        with self._lock:
            self._check_process()
            if self._left == 0:
                raise Exhausted(
                    code="cutoff_reached",
                    expectation="a session with positive answers left",
                    remedy="Open a new one, which is charged anew.",
                )
            while len(answers) < len(values) and self._left:
                if self._round.halted:
                    self._round = self._mechanism._round().open()
                # Few at a time: a yes makes the noise drawn for what follows it useless.
                part = self._round.ask_all(values[len(answers) : len(answers) + _AT_ONCE])
                answers += part
                self._left -= part[-1]
        return answers
