"""Several quantiles of one column: what all ways share, and which way is best when."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import Number, count, exact, probability
from discreet.mechanisms import grid
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.quantiles.candidates import Values, read_candidates
from discreet.mechanisms.quantiles.choice import PERMUTE_AND_FLIP, RankChoice
from discreet.mechanisms.quantiles.quantile import Quantile, require_choice
from discreet.mechanisms.quantiles.targets import Proportion
from discreet.noise.randomness import SYSTEM, Source, require_source


@dataclass(frozen=True, kw_only=True)
class Several(ABC):
    """Quantiles at increasing ``levels`` of each group's rows, for ``epsilon`` in all.

    Assumptions: as for one quantile; ``levels`` are public.
    """

    levels: Any
    candidates: Any
    rank_sensitivity: int
    epsilon: Number
    by: RankChoice = PERMUTE_AND_FLIP
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range, and read levels and candidates."""
        require_source(self.randomness)
        require_choice(self.by)
        levels = tuple(Proportion.of(level).q for level in self.levels)
        if not levels or any(low >= high for low, high in pairwise(levels)):
            raise InvalidParameter(
                code="levels_not_increasing",
                expectation="at least one level, in increasing order, none of them twice",
                received=tuple(float(level) for level in levels),
                remedy="Pass for instance levels=[0.25, 0.5, 0.75].",
            )
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "candidates", read_candidates(self.candidates))
        rows = count("rank_sensitivity", grid.ordinary("rank_sensitivity", self.rank_sensitivity))
        object.__setattr__(self, "rank_sensitivity", rows)
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))

    @property
    @abstractmethod
    def rounds(self) -> int:
        """Into how many equal parts epsilon is divided."""

    @property
    def share(self) -> Fraction:
        """The epsilon of one round."""
        return exact(self.epsilon) / self.rounds

    @property
    def event(self) -> Event:
        """What the answers for one group cost a person with ``rank_sensitivity`` rows in it."""
        return self.event_for(rows=self.rank_sensitivity)

    def event_for(self, *, rows: int) -> Event:
        """What they cost a person with at most ``rows`` rows in the group."""
        epsilon = self.share * count("rows", rows) / self.rank_sensitivity
        return mark_unprotected_event(self.by.event(epsilon) * self.rounds, self.randomness)

    @abstractmethod
    def release(self, counts: Any) -> Any:
        """Answers of shape (groups, levels), or (levels,) for one histogram; never decreasing."""

    @abstractmethod
    def rank_error(self, *, confidence: float, tied: int) -> float:
        """How many rows any answer may stand from its rank q n, jointly at ``confidence``.

        ``tied`` is a public bound of the number of rows at one candidate.
        """

    @abstractmethod
    def forecast(self) -> float:
        """How many rows an answer is expected to stand from its rank, on average over the levels.

        Where rows are many and lie on many candidates; no bound. Public.
        """


@dataclass(frozen=True, kw_only=True)
class IndependentQuantiles(Several):
    """Each quantile on its own, at an equal part of epsilon, then put in order.

    Assumptions: as for one quantile.

    Guarantee: pure epsilon-differential privacy for each group, exactly.

    >>> IndependentQuantiles(
    ...     levels=[0.25, 0.75], candidates=range(101), rank_sensitivity=1, epsilon=1
    ... ).event
    Repeated(event=PermuteAndFlip(epsilon=Fraction(1, 2)), times=2)

    Source: modern-data:Q2 with basic composition. Proof: ``proofs/quantiles.md``.
    """

    @property
    def rounds(self) -> int:
        """One for each quantile."""
        return len(self.levels)

    def release(self, counts: Any) -> Values:
        """One quantile after another."""
        answers = [np.asarray(quantile.release(counts)) for quantile in self._each()]
        values: Values = np.sort(np.stack(answers, axis=-1), axis=-1)
        return values

    def rank_error(self, *, confidence: float, tied: int) -> float:
        """The largest of all at a joint confidence; ties do not matter."""
        count("tied", tied)
        each = 1 - (1 - float(probability("confidence", confidence))) / self.rounds
        return max(quantile.rank_error(confidence=each) for quantile in self._each())

    def forecast(self) -> float:
        """One over the rate of each choice."""
        rates = [float(quantile.rate() * quantile.target.parts) for quantile in self._each()]
        return math.fsum(1 / rate for rate in rates) / self.rounds

    def _each(self) -> list[Quantile]:
        return [
            Quantile(
                q=level,
                candidates=self.candidates,
                rank_sensitivity=self.rank_sensitivity,
                epsilon=self.share,
                by=self.by,
                randomness=self.randomness,
            )
            for level in self.levels
        ]
