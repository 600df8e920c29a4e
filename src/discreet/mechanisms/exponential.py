"""Private selection: the exponential mechanism and permute-and-flip, drawn exactly."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from discreet.core.event import Event
from discreet.core.mechanism_events import Exponential as ExponentialEvent
from discreet.core.mechanism_events import PermuteAndFlip as PermuteAndFlipEvent
from discreet.core.parameters import Number, count, exact, positive, probability
from discreet.mechanisms import grid
from discreet.mechanisms.additive import marked
from discreet.mechanisms.scores import GENERAL, Scores, check_scores, read_scores
from discreet.noise import SYSTEM, Noiseless, Source, bernoulli_exp, uniform_integers, winner
from discreet.noise.race import exact_gap, gaps


@dataclass(frozen=True, kw_only=True)
class Selection:
    """What both selections share: the rate at which scores turn into log-odds."""

    epsilon: Number
    sensitivity: Number
    scores: Scores = GENERAL
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters that are not positive and finite."""
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "sensitivity", grid.ordinary("sensitivity", self.sensitivity))
        check_scores(self.scores)

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


@dataclass(frozen=True, kw_only=True)
class Exponential(Selection):
    """Chooses candidate i with probability proportional to exp(rate * score_i).

    Assumptions: the list of candidates is public and fixed; each score moves by at most
    ``sensitivity`` between neighbouring data sets (``scores`` says whether in one direction).

    Guarantee: pure epsilon-differential privacy, exactly, with log-probabilities in a range of
    epsilon, so that (epsilon**2)/8-zCDP holds as well.

    >>> Exponential(epsilon=1, sensitivity=1).event
    Exponential(epsilon=1)

    Source: 000a:C7, 000a:C8, 004a:B8, boosting-and-analysts:L3. Proof: ``proofs/selection.md``.
    """

    @property
    def event(self) -> Event:
        """What one selection costs."""
        return marked(ExponentialEvent(epsilon=self.epsilon), self.randomness)

    def release(self, scores: Any) -> int:
        """The index of the chosen candidate."""
        return int(winner(read_scores(scores), self.rate(), 1, self.randomness)[0])


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Selection):
    """Chooses like the exponential mechanism at the same epsilon, but never worse.

    Every candidate flips a coin with heads at exp(-rate * (best - score)); one of those with
    heads is chosen uniformly. This is the arg-max of scores with exponential noise, which the
    book takes for the exponential mechanism (its Theorem 3.13 is false: 000a:C9).

    Assumptions: as for the exponential mechanism.

    Guarantee: pure epsilon-differential privacy, exactly. Not of bounded range: its zCDP price
    is epsilon**2 / 2, four times the exponential mechanism's.

    >>> PermuteAndFlip(epsilon=1, sensitivity=1).event
    PermuteAndFlip(epsilon=1)

    Source: 000a:C9, modern-data:N2. Proof: ``proofs/selection.md``.
    """

    @property
    def event(self) -> Event:
        """What one selection costs."""
        return marked(PermuteAndFlipEvent(epsilon=self.epsilon), self.randomness)

    def release(self, scores: Any) -> int:
        """The index of the chosen candidate."""
        values = read_scores(scores)
        best = int(np.argmax(values))
        if isinstance(self.randomness, Noiseless):
            return best
        rate = self.rate()
        heads = bernoulli_exp(
            gaps(values, best, rate), lambda i: exact_gap(values, best, rate, i), self.randomness
        )
        # The first with heads in a random order is a uniform one of those with heads.
        winners = np.flatnonzero(heads)
        return int(winners[uniform_integers(len(winners), 1, self.randomness)[0]])
