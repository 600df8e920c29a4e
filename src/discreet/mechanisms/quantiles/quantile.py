"""One private quantile of each group, by the ranks of public candidates."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import Number, count, exact, positive, probability
from discreet.mechanisms import grid
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.quantiles.candidates import Values, read_candidates, read_counts
from discreet.mechanisms.quantiles.choice import PERMUTE_AND_FLIP, Lists, RankChoice
from discreet.mechanisms.quantiles.targets import Proportion, Target
from discreet.noise.randomness import SYSTEM, Source, require_source

BLOCK = 1 << 20
"""How many scores are held in memory at once."""


@dataclass(frozen=True, kw_only=True)
class RankMechanism(ABC):
    """What all selections by rank share.

    Assumptions: neighbouring data sets differ by one person's rows, all added or all removed,
    at most ``rank_sensitivity`` of them in a group. ``candidates`` and the list of groups are
    public, and a row counts at one candidate by a rule that looks at this row alone. Nothing is
    claimed where rows are replaced.
    """

    candidates: Any
    rank_sensitivity: int
    epsilon: Number
    by: RankChoice = PERMUTE_AND_FLIP
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range, and read the candidates."""
        require_source(self.randomness)
        require_choice(self.by)
        object.__setattr__(self, "candidates", read_candidates(self.candidates))
        rows = count("rank_sensitivity", grid.ordinary("rank_sensitivity", self.rank_sensitivity))
        object.__setattr__(self, "rank_sensitivity", rows)
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))

    @property
    def event(self) -> Event:
        """What the answer for one group costs a person with ``rank_sensitivity`` rows in it."""
        return self.event_for(rows=self.rank_sensitivity)

    def event_for(self, *, rows: int) -> Event:
        """What it costs a person with at most ``rows`` rows in the group: epsilon in proportion."""
        epsilon = self.epsilon
        if rows != self.rank_sensitivity:
            epsilon = exact(epsilon) * count("rows", rows) / self.rank_sensitivity
        return mark_unprotected_event(self.by.event(epsilon), self.randomness)

    @property
    @abstractmethod
    def target(self) -> Target:
        """Where the answer should stand."""

    def rate(self) -> Fraction:
        """Log-odds for each ``1 / target.parts`` of a score."""
        target = self.target
        return exact(self.epsilon) / (self.rank_sensitivity * target.spread * target.parts)

    def scores(self, counts: Any) -> NDArray[np.int64]:
        """Scores of all candidates in all groups, in parts of a row. Private."""
        whole = read_counts(counts, len(self.candidates), self.target.parts)
        upto = np.cumsum(whole, axis=1)
        return self.target.scores(upto - whole, upto, upto[:, -1:])

    def release(self, counts: Any) -> Any:
        """The chosen candidate of each group: an array for (groups, bins), a number for (bins,).

        Integer candidates give integers.
        """
        array = np.asarray(counts)
        scores = self.scores(array)
        groups, bins = scores.shape
        step = max(1, BLOCK // bins)
        picks = np.empty(groups, dtype=np.int64)
        for begin in range(0, groups, step):
            block = scores[begin : begin + step]
            starts = np.arange(len(block), dtype=np.int64) * bins
            lists = Lists(block.reshape(-1), starts, (self.rate(),) * len(block))
            picks[begin : begin + step] = self.by.draw(lists, self.randomness) - starts
        values: Values = np.asarray(self.candidates)[picks]
        return values if array.ndim == 2 else values[0].item()

    def rank_error(self, *, confidence: float) -> float:
        """How many rows the answer may stand from its target, whatever the data.

        Guarantee: for each group, with probability at least ``confidence`` the released c has
        ``#{x < c} - h <= T <= #{x <= c} + h``, where h is this number and T the target (q n for
        a quantile), and x the rows as counted, each at its candidate.
        """
        tail = 1 - float(probability("confidence", confidence))
        gap = self.by.gap(tail, len(self.candidates)) * (1 + 1e-12)
        # A loss of `gap` or more is that rare, and losses are whole numbers of parts.
        parts = math.ceil(gap / float(self.rate())) - 1
        return max(parts, 0) / self.target.parts

    def expected_rank_error(self) -> float:
        """A bound, over all data, of the expected number of rows between answer and target."""
        gap = self.by.expected_gap(len(self.candidates))
        return gap / (float(self.rate()) * self.target.parts)


@dataclass(frozen=True, kw_only=True)
class Quantile(RankMechanism):
    """The q-quantile of each group's rows, chosen among public candidates.

    Contract: :meth:`release` takes the exact histogram of the rows on the candidates. The answer
    is one of the candidates; with few rows it is nearly uniform on them, without rows exactly.

    Assumptions: as for all selections by rank (:class:`RankMechanism`).

    Guarantee: pure epsilon-differential privacy for each group, exactly; a person with r rows in
    it loses at most ``epsilon * r / rank_sensitivity``. ``by=EXPONENTIAL`` is of bounded range
    too, with epsilon**2 / 8 under zCDP; the default is more accurate and costs epsilon**2 / 2.

    >>> median = Quantile(q=0.5, candidates=range(11), rank_sensitivity=1, epsilon=1)
    >>> median.event
    PermuteAndFlip(epsilon=1)
    >>> median.rank_error(confidence=0.95)
    4.5

    Source: modern-data:Q2, modern-data:N2. Proof: ``proofs/quantiles.md``.
    """

    q: Number

    def __post_init__(self) -> None:
        """Refuse levels outside (0, 1)."""
        super().__post_init__()
        object.__setattr__(self, "q", Proportion.of(self.q).q)

    @property
    def target(self) -> Proportion:
        """q times the number of rows."""
        return Proportion(exact(self.q))

    @classmethod
    def for_error(
        cls,
        error: float,
        *,
        confidence: float,
        q: Number,
        candidates: Any,
        rank_sensitivity: int,
        by: RankChoice = PERMUTE_AND_FLIP,
        randomness: Source = SYSTEM,
    ) -> Quantile:
        """With the cheapest epsilon that keeps the stated rank error below ``error`` rows."""
        tail = 1 - float(probability("confidence", confidence))
        unit = cls(q=q, candidates=candidates, rank_sensitivity=rank_sensitivity, epsilon=1, by=by)
        gap = by.gap(tail, len(unit.candidates)) / (float(unit.rate()) * unit.target.parts)
        return cls(
            q=q,
            candidates=candidates,
            rank_sensitivity=rank_sensitivity,
            epsilon=gap / float(positive("error", error)),
            by=by,
            randomness=randomness,
        )


def require_choice(choice: object) -> None:
    """Refuse anything but a way to draw candidates by their scores."""
    if not isinstance(choice, RankChoice):
        raise InvalidParameter(
            code="not_a_choice",
            expectation="`by` to be PERMUTE_AND_FLIP or EXPONENTIAL",
            received=type(choice).__name__,
            remedy="Leave it out for a pure budget; pass by=EXPONENTIAL for one in zCDP.",
        )
