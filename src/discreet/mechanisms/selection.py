"""What all private selections share: parameters, events, errors and the place in a pipeline."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from discreet.core.errors import Mismatch
from discreet.core.events.event import Event, Nothing
from discreet.core.events.mechanisms import Pure
from discreet.core.measurement import Measurement
from discreet.core.metric import LInf
from discreet.core.parameters import Number, count, exact, nonnegative, positive, probability
from discreet.core.space import Space
from discreet.mechanisms import grid
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.scores import GENERAL, Scores, check_scores
from discreet.noise import SYSTEM, Source
from discreet.noise.randomness import require_source


@dataclass(frozen=True, kw_only=True)
class Selection(ABC):
    """What both selections share: the rate at which scores turn into log-odds."""

    epsilon: Number
    sensitivity: Number
    scores: Scores = GENERAL
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters that are not positive and finite."""
        require_source(self.randomness)
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "sensitivity", grid.ordinary("sensitivity", self.sensitivity))
        check_scores(self.scores)

    @property
    def event(self) -> Event:
        """What one selection costs."""
        return mark_unprotected_event(self._kind()(epsilon=self.epsilon), self.randomness)

    @abstractmethod
    def release(self, scores: Any) -> int:
        """The index of the chosen candidate."""

    @staticmethod
    @abstractmethod
    def _kind() -> type[Pure]:
        """The event of this selection."""

    def over(self, space: Space) -> Measurement[Any, int]:
        """The selection as a measurement on vectors of scores, in the largest-change norm.

        For general scores only: a distance cannot say that all scores move in one direction.
        """
        if not isinstance(space.metric, LInf) or self.scores is not GENERAL:
            raise Mismatch(
                code="metric_mismatch",
                expectation="general scores at LInf distances for a selection",
                received=space.metric,
                remedy="Pass `metric=LInf()` to the step before, and scores=GENERAL here.",
            )

        def privacy(d_in: Number) -> Event:
            distance = exact(nonnegative("d_in", d_in))
            if distance == 0:
                return Nothing()
            share = self._share(distance)
            event = self._kind()(epsilon=exact(self.epsilon) * share)
            return self.event if share == 1 else mark_unprotected_event(event, self.randomness)

        return Measurement(space, self.release, privacy)

    def _share(self, distance: Fraction) -> Fraction:
        """How much of epsilon is spent when scores move by ``distance``."""
        return distance / exact(self.sensitivity)

    def rate(self) -> Fraction:
        """epsilon / 2 sensitivity, or epsilon / sensitivity for monotone scores."""
        return exact(self.epsilon) / (self.scores.value * exact(self.sensitivity))

    def error(self, *, confidence: float, candidates: int) -> float:
        """How far below the best score the chosen one may be.

        Guarantee: with probability at least ``confidence`` the chosen score is within this of
        the best: (1/rate) ln(candidates / (1 - confidence)).
        """
        tail = 1 - float(probability("confidence", confidence))
        return math.log(count("candidates", candidates) / tail) / float(self.rate())

    @classmethod
    def for_error(
        cls,
        error: float,
        *,
        confidence: float,
        candidates: int,
        sensitivity: Number,
        scores: Scores = GENERAL,
        randomness: Source = SYSTEM,
    ) -> Self:
        """The cheapest epsilon whose stated error is at most ``error``."""
        unit = cls(epsilon=1, sensitivity=sensitivity, scores=scores, randomness=randomness)
        wanted = float(positive("error", error))
        epsilon = unit.error(confidence=confidence, candidates=candidates) / wanted
        return cls(epsilon=epsilon, sensitivity=sensitivity, scores=scores, randomness=randomness)
