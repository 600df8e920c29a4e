"""Many quantiles in few rounds: the middle one first, then each side among its own rows.

A row stands on one side of every answer, so the quantiles of one round are about different rows
and share one epsilon. Source: modern-data:Q5. Proof: ``proofs/quantiles.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.parameters import count, probability
from discreet.mechanisms.quantiles.candidates import Values, read_counts
from discreet.mechanisms.quantiles.choice import Lists
from discreet.mechanisms.quantiles.forecast import mean_of_sum
from discreet.mechanisms.quantiles.quantile import BLOCK
from discreet.mechanisms.quantiles.segments import RankHistogram, Segment
from discreet.mechanisms.quantiles.several import Several
from discreet.mechanisms.quantiles.targets import FINEST, Proportion


@dataclass(frozen=True)
class Span:
    """The levels strictly between two others, of which the middle one is next. Public."""

    levels: tuple[Fraction, ...]
    low: Fraction
    high: Fraction

    @classmethod
    def over(cls, levels: tuple[Fraction, ...]) -> Span:
        """All levels, between 0 and 1."""
        return cls(levels, Fraction(0), Fraction(1))

    @property
    def middle(self) -> int:
        """Which level is next."""
        return len(self.levels) // 2

    @property
    def target(self) -> Proportion:
        """That level among the rows of the segment, to a millionth."""
        level = self.levels[self.middle]
        relative = (level - self.low) / (self.high - self.low)
        return Proportion.of(min(max(relative, Fraction(1, FINEST)), 1 - Fraction(1, FINEST)))

    @property
    def parts(self) -> int:
        """The finest parts of a rank that any of the targets needs."""
        if not self.levels:
            return 1
        return max(self.target.parts, *(side.parts for side in self.sides()))

    def sides(self) -> tuple[Span, Span]:
        """The levels on each side."""
        level = self.levels[self.middle]
        return (
            Span(self.levels[: self.middle], self.low, level),
            Span(self.levels[self.middle + 1 :], level, self.high),
        )


@dataclass(frozen=True, kw_only=True)
class RecursiveQuantiles(Several):
    """Recursive approximate quantiles: ``floor(log2 m) + 1`` rounds for m quantiles.

    Assumptions: as for one quantile. Rows that are replaced may move between segments and touch
    two of a round; nothing is claimed for them.

    Guarantee: pure epsilon-differential privacy for each group, exactly, in proportion to the
    rows of a person, wherever these rows stand; with ``by=EXPONENTIAL`` each round is of bounded
    range. Answers never decrease.

    >>> RecursiveQuantiles(
    ...     levels=[0.25, 0.5, 0.75], candidates=range(101), rank_sensitivity=1, epsilon=1
    ... ).event
    Repeated(event=PermuteAndFlip(epsilon=Fraction(1, 2)), times=2)

    Source: modern-data:Q5 (Kaplan, Schnapp and Stemmer, ICML 2022), with ties divided. Proof:
    ``proofs/quantiles.md``.
    """

    places: int = 64

    def __post_init__(self) -> None:
        """Refuse numbers of places that are not whole."""
        super().__post_init__()
        object.__setattr__(self, "places", count("places", self.places))

    @property
    def rounds(self) -> int:
        """Levels of the recursion."""
        return len(self.levels).bit_length()

    def release(self, counts: Any) -> Values:
        """The middle quantile, then the others on each side of it."""
        array = np.asarray(counts)
        bins = len(self.candidates)
        everything = Span.over(self.levels)
        whole = read_counts(array, bins, max(2 * self.places, everything.parts))
        step = max(1, BLOCK // (bins * self.places))
        picks = np.empty((len(whole), len(self.levels)), dtype=np.int64)
        for begin in range(0, len(whole), step):
            ranks = RankHistogram.of(whole[begin : begin + step])
            self._fill(ranks, ranks.whole(), everything, picks[begin : begin + step])
        values: Values = np.asarray(self.candidates)[picks]
        return values if array.ndim == 2 else values[0]

    def _fill(self, ranks: RankHistogram, segment: Segment, span: Span, picks: Ints) -> None:
        if not span.levels:
            return
        middle, target = span.middle, span.target
        left, right = span.sides()
        places = self._places(span)
        scores, starts = ranks.scores(segment, target, places)
        lists = Lists(scores, starts, (self._rate(target),) * len(starts))
        steps = self.by.draw(lists, self.randomness) - starts
        picks[:, middle] = segment.first + steps // places
        lower, upper = ranks.divide(segment, steps, places)
        self._fill(ranks, lower, left, picks[:, :middle])
        self._fill(ranks, upper, right, picks[:, middle + 1 :])

    def _places(self, span: Span) -> int:
        """Where no answer follows, rows need not be divided."""
        return self.places if len(span.levels) > 1 else 1

    def _rate(self, target: Proportion) -> Fraction:
        return self.share / (self.rank_sensitivity * target.spread * target.parts)

    def rank_error(self, *, confidence: float, tied: int) -> float:
        """Errors of the answers on both sides enter in proportion, and half a place of ties."""
        tail = (1 - float(probability("confidence", confidence))) / len(self.levels)
        cut = count("tied", tied) / (2 * self.places) + 1

        def worst(span: Span, low: float, high: float) -> float:
            if not span.levels:
                return 0.0
            target = span.target
            rate = float(self._rate(target) * target.parts)
            gap = self.by.gap(tail, len(self.candidates) * self._places(span)) * (1 + 1e-12)
            q = float(target.q)
            error = gap / rate + (1 - q) * low + q * high
            left, right = span.sides()
            return max(error, worst(left, low, error + cut), worst(right, error + cut, high))

        return worst(Span.over(self.levels), 0.0, 0.0)

    def forecast(self) -> float:
        """Of sums of the errors that answers take over from the answers around them."""
        number = len(self.levels)
        own = np.eye(number)

        def errors(span: Span, begin: int, low: Floats, high: Floats) -> list[Floats]:
            if not span.levels:
                return []
            place, target = begin + span.middle, span.target
            q = float(target.q)
            rate = float(self._rate(target) * target.parts)
            error = own[place] / rate + (1 - q) * low + q * high
            left, right = span.sides()
            below = errors(left, begin, low, error)
            return [*below, error, *errors(right, place + 1, error, high)]

        none = np.zeros(number)
        found = errors(Span.over(self.levels), 0, none, none)
        return math.fsum(mean_of_sum(error.tolist()) for error in found) / number
