"""NumericSparse: the comparisons of Sparse, and a fresh noisy value with each positive answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.core.events.event import Event, compose
from discreet.core.events.mechanisms import SparseVector as SparseVectorEvent
from discreet.core.parameters import Number, count, exact, positive, probability
from discreet.mechanisms import grid
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.scores import GENERAL, Scores
from discreet.mechanisms.sparse_vector.above_threshold import Live, read_questions
from discreet.mechanisms.sparse_vector.hidden import BEGINNING, HiddenThreshold, Rounds
from discreet.mechanisms.sparse_vector.sparse import Sparse
from discreet.mechanisms.sparse_vector.total import largest_epsilon
from discreet.noise import SYSTEM, Source


@dataclass(frozen=True, kw_only=True)
class NumericSparse:
    """Like :class:`Sparse`, and each positive answer comes with a fresh noisy value.

    Assumptions: as for :class:`AboveThreshold`.

    Contract: 8/9 of epsilon pays for the comparisons and 1/9 for the values; the value released
    has fresh noise, never the one that was compared.

    Guarantee: pure epsilon-differential privacy for the whole session. :meth:`approximate` chooses
    epsilon for a total (epsilon, delta), which many positive answers make far larger.

    Source: 000a:E4, with its corrected accuracy. Proof: ``proofs/sparse_vector.md``.
    """

    epsilon: Number
    cutoff: int
    threshold: Number
    sensitivity: Number
    scores: Scores = GENERAL
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "cutoff", count("cutoff", self.cutoff))
        comparisons = self.comparisons()
        object.__setattr__(self, "threshold", comparisons.threshold)
        object.__setattr__(self, "sensitivity", comparisons.sensitivity)

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
    ) -> NumericSparse:
        """Total price (epsilon, delta): the largest pure epsilon whose parts together cost it.

        >>> numeric = NumericSparse.approximate(
        ...     epsilon=1, delta=1e-6, cutoff=500, threshold=0, sensitivity=1
        ... )
        >>> float(numeric.epsilon) > 5, numeric.event.epsilon(delta=1e-6) <= 1
        (True, True)
        """
        times = count("cutoff", cutoff)

        def session(pure: float) -> NumericSparse:
            return cls(
                epsilon=pure, cutoff=times, threshold=threshold, sensitivity=sensitivity, **others
            )

        return session(
            largest_epsilon(
                lambda pure: session(pure)._parts(), epsilon=epsilon, delta=delta, most=times
            )
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
    ) -> NumericSparse:
        """The cheapest mechanism whose stated error is at most ``error``."""
        unit = cls(epsilon=1, cutoff=cutoff, threshold=threshold, sensitivity=sensitivity, **others)
        reach = unit.error(confidence=confidence, questions=questions)
        # The rounding grid adds less than 2**-19 to a scale.
        return replace(unit, epsilon=reach * (1 + 2.0**-18) / float(positive("error", error)))

    @property
    def event(self) -> Event:
        """What the whole session costs, to the cut-off."""
        return mark_unprotected_event(self._parts(), self.randomness)

    def comparisons(self) -> Sparse:
        """The part that compares."""
        return Sparse.pure(
            epsilon=exact(self.epsilon) * Fraction(8, 9),
            cutoff=self.cutoff,
            threshold=self.threshold,
            sensitivity=self.sensitivity,
            scores=self.scores,
            randomness=self.randomness,
        )

    def values(self) -> Laplace:
        """The part that releases one value."""
        return Laplace(
            epsilon=exact(self.epsilon) / (9 * self.cutoff),
            sensitivity=self.sensitivity,
            randomness=self.randomness,
        )

    def _parts(self) -> Event:
        return compose(
            (
                SparseVectorEvent(epsilon=self.comparisons().epsilon_each, cutoff=1) * self.cutoff,
                self.values()._event(Fraction(1)) * self.cutoff,
            )
        )

    def open(self, before: Rounds = BEGINNING) -> NumericSession:
        """Start a session, or go on with one."""
        return NumericSession(self, before)

    def error(self, *, confidence: float, questions: int) -> float:
        """Largest error of comparisons and values together, half the failure allowed to each.

        9 c (ln k + ln(4c/beta)) / epsilon for general values (000a:E4).
        """
        tail = (1 - float(probability("confidence", confidence))) / 2
        return numeric_error(self.comparisons(), self.values(), tail=tail, questions=questions)


def numeric_error(comparisons: Sparse, values: Laplace, *, tail: float, questions: int) -> float:
    """The larger of both parts' errors, each failing with probability at most ``tail``.

    The book's bound for delta > 0 forgets the values' own error (000a:E4); this one does not.
    """
    compared = comparisons._error(tail=tail, questions=questions)
    released = -math.log(tail / comparisons.cutoff) * values.scale()
    return max(compared, released)


class NumericSession(Live):
    """A live session of :class:`NumericSparse`."""

    def __init__(self, mechanism: NumericSparse, before: Rounds = BEGINNING) -> None:
        """Open the first round, or the one that was under way."""
        super().__init__()
        self._mechanism = mechanism
        self._comparisons = mechanism.comparisons().open(before)

    @property
    def event(self) -> Event:
        """What the whole session costs."""
        return self._mechanism.event

    @property
    def positive_answers_left(self) -> int:
        """Positive answers still available."""
        return self._comparisons.positive_answers_left

    def hidden(self) -> HiddenThreshold | None:
        """The secret of the next comparison, for whoever keeps it; None where there is none."""
        return self._comparisons.hidden()

    def ask(self, query: Any) -> float | None:
        """A fresh noisy value if the question is above the threshold, else None."""
        self._check_process()
        if not self._comparisons.ask(query):
            return None
        return float(self._mechanism.values()._release(query, float))

    def ask_all(self, questions: Any) -> list[float | None]:
        """Ask a list of values in order, as far as the cut-off allows."""
        answers: list[float | None] = []
        for query in read_questions(questions).tolist():
            if answers and not self.positive_answers_left:
                break
            answers.append(self.ask(query))
        return answers
