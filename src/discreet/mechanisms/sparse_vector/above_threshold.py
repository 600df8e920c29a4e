"""AboveThreshold: answer below, below, …, above — and pay once, however long it takes."""

from __future__ import annotations

import math
import os
import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import Exhausted, InvalidData
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import SparseVector as SparseVectorEvent
from discreet.core.parameters import Number, count, exact, finite, positive, probability
from discreet.mechanisms import grid
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.scores import GENERAL, Scores, check_scores
from discreet.mechanisms.sparse_vector.hidden import BEGINNING, HiddenThreshold, Rounds
from discreet.noise import SYSTEM, Source, rounded_laplace
from discreet.noise.randomness import require_source


@dataclass(frozen=True, kw_only=True)
class AboveThreshold:
    """Says of each question whether its value is above the threshold; halts at the first yes.

    Assumptions: each question's value moves by at most ``sensitivity`` between neighbouring
    data sets (``scores=MONOTONE`` only where all move in one direction); ``threshold`` is
    public; questions may be chosen in view of earlier answers.

    Contract: the threshold gets Laplace noise of scale ``2 sensitivity / epsilon`` once, each
    value fresh noise of twice that (the same for monotone values). Values, threshold and noise
    lie on a public grid; neither the noisy threshold nor a noisy value is ever released.

    Guarantee: pure epsilon-differential privacy for the whole session.

    >>> AboveThreshold(epsilon=1, threshold=100, sensitivity=1).event
    SparseVector(epsilon=1, cutoff=1)

    Source: 000a:E1, 000a:E2. Proof: ``proofs/sparse_vector.md``.
    """

    epsilon: Number
    threshold: Number
    sensitivity: Number
    scores: Scores = GENERAL
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_source(self.randomness)
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "sensitivity", grid.ordinary("sensitivity", self.sensitivity))
        object.__setattr__(self, "threshold", finite("threshold", self.threshold))
        check_scores(self.scores)

    @property
    def event(self) -> Event:
        """What the whole session costs."""
        return mark_unprotected_event(
            SparseVectorEvent(epsilon=self.epsilon, cutoff=1), self.randomness
        )

    def open(self, before: Rounds = BEGINNING) -> ThresholdSession:
        """Start a session, or go on with one; a threshold that was not kept is drawn now."""
        return ThresholdSession(self, before)

    def error(self, *, confidence: float, questions: int) -> float:
        """How far from the threshold a wrong answer can be.

        Guarantee: if no question but the last comes within this of the threshold from below,
        then with probability at least ``confidence`` all answers are right up to this:
        8 sensitivity (ln k + ln(2/beta)) / epsilon for general values (000a:E2).
        """
        tail = 1 - float(probability("confidence", confidence))
        return self._error(tail=tail, questions=questions)

    def _error(self, *, tail: float, questions: int) -> float:
        spread = math.log(count("questions", questions)) + math.log(2 / tail)
        # Half of the allowance for the threshold and half for the values, whose noise is wider.
        widest = 2 * self.scores.value * float(self.sensitivity) / float(self.epsilon)
        return 2 * widest * spread

    @classmethod
    def for_error(
        cls,
        error: float,
        *,
        confidence: float,
        questions: int,
        threshold: Number,
        sensitivity: Number,
        scores: Scores = GENERAL,
    ) -> AboveThreshold:
        """The cheapest epsilon whose stated error is at most ``error``."""
        unit = cls(epsilon=1, threshold=threshold, sensitivity=sensitivity, scores=scores)
        reach = unit.error(confidence=confidence, questions=questions)
        epsilon = reach / float(positive("error", error))
        return cls(epsilon=epsilon, threshold=threshold, sensitivity=sensitivity, scores=scores)

    def exponent(self) -> int:
        """Exponent of the public grid on which values and threshold are compared."""
        sensitivity = exact(self.sensitivity)
        return grid.real_exponent(sensitivity, 2 * sensitivity / exact(self.epsilon), 1)

    def scale_in_steps(self) -> Fraction:
        """The scale of the threshold's noise in steps of the grid."""
        # Rounding values to the grid can part neighbours by one more step.
        sensitivity = math.ceil(exact(self.sensitivity) / Fraction(2) ** self.exponent()) + 1
        return 2 * sensitivity / exact(self.epsilon)

    def threshold_scale(self) -> float:
        """The scale of the threshold's noise, in the units of the values."""
        return float(self.scale_in_steps() * Fraction(2) ** self.exponent())


class Live:
    """A session that lives once: never copied, pickled or carried into a forked process."""

    def __init__(self) -> None:
        """Remember the process."""
        self._process = os.getpid()
        self._lock = threading.RLock()

    def _check_process(self) -> None:
        if self._process != os.getpid():
            raise _not_copied()

    def __reduce__(self) -> tuple[Any, ...]:
        """Refuse copies: they would answer twice with one noisy threshold or one cut-off."""
        raise _not_copied()


class ThresholdSession(Live):
    """A live session. It keeps the noisy threshold to itself, in text and in pickles."""

    def __init__(self, mechanism: AboveThreshold, before: Rounds = BEGINNING) -> None:
        """Take up the noisy threshold, or draw it."""
        super().__init__()
        self._mechanism = mechanism
        self._exponent = mechanism.exponent()
        step = Fraction(2) ** self._exponent
        scale = mechanism.scale_in_steps()
        self._value_scale = mechanism.scores.value * scale
        # Only differences to the threshold matter, so it can stand at zero.
        self._origin = round(exact(mechanism.threshold) / step)
        hidden = before.hidden or HiddenThreshold(
            int(rounded_laplace(scale, 1, mechanism.randomness)[0])
        )
        self._secret = hidden.steps
        self._halted = before.yeses > 0

    @property
    def event(self) -> Event:
        """What the whole session costs."""
        return self._mechanism.event

    @property
    def halted(self) -> bool:
        """Whether the one positive answer has been given."""
        return self._halted

    def hidden(self) -> HiddenThreshold | None:
        """The secret of the next comparison, for whoever keeps it; None where there is none."""
        return None if self._halted else HiddenThreshold(self._secret)

    def ask(self, query: Any) -> bool:
        """Whether the (true) value is above the threshold, noisily; halts after a yes."""
        return self.ask_all([query])[-1]

    def ask_all(self, questions: Any) -> list[bool]:
        """Ask a list of values in order; the answers stop with the first yes."""
        values = read_questions(questions)
        with self._lock:
            self._check_process()
            if self._halted:
                raise Exhausted(
                    code="threshold_reached",
                    expectation="a session that has not yet answered yes",
                    remedy="Open a new one, which is charged anew.",
                )
            steps = grid.steps_from(self._origin, values, self._exponent)
            noise = rounded_laplace(self._value_scale, len(steps), self._mechanism.randomness)
            # Steps stay below 2**61 and noise below 2**62, so the sum does not wrap around.
            above = steps + noise >= self._secret
            if above.any():
                self._halted = True
                above = above[: int(np.argmax(above)) + 1]
        return [bool(answer) for answer in above]

    def __repr__(self) -> str:
        """Only what is public."""
        return f"ThresholdSession({self._mechanism!r}, halted={self._halted})"


def read_questions(questions: Any) -> NDArray[Any]:
    """The values of a list of questions, in order."""
    values = grid.as_array(questions)
    if values.ndim != 1:
        raise InvalidData(
            code="questions_not_a_list",
            expectation="one number for each question, in a one-dimensional list",
            received=values.ndim,
            remedy="Ask one question at a time, or a list of them with ask_all.",
        )
    return values


def _not_copied() -> Exhausted:
    return Exhausted(
        code="session_not_copied",
        expectation="one live session in one process",
        remedy="Keep the session where it was opened; a curator can make it durable.",
    )
