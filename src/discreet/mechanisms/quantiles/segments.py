"""Rows between two answers, their ranks, and how an answer divides them.

Rows equal to an answer stand on both sides of it. They are divided at one of ``places`` public
places within their run, and which place is part of the private answer; otherwise a value that
many rows share would drag the quantiles next to it. One row more at a candidate is one row more
on one side of every cut. Proof: ``proofs/quantiles.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Ints
from discreet.mechanisms.quantiles.targets import Proportion


@dataclass(frozen=True)
class Segment:
    """Rows between two answers, in each of several groups. Private.

    From the candidate ``first``, of whose rows those up to the rank ``least`` are left out, to
    the candidate ``last``, of whose rows those beyond the rank ``most`` are.
    """

    first: Ints
    least: Ints
    last: Ints
    most: Ints


@dataclass(frozen=True)
class RankHistogram:
    """Ranks before and after each candidate's rows, in each of several groups. Private."""

    below: Ints
    upto: Ints

    @classmethod
    def of(cls, counts: Ints) -> RankHistogram:
        """From exact counts of shape (groups, bins)."""
        upto = np.cumsum(counts, axis=1)
        return cls(upto - counts, upto)

    def whole(self) -> Segment:
        """The segment of all rows and all bins."""
        groups, bins = self.upto.shape
        none = np.zeros(groups, dtype=np.int64)
        return Segment(none, none, none + bins - 1, self.upto[:, -1])

    def scores(self, segment: Segment, target: Proportion, places: int) -> tuple[Ints, Ints]:
        """Scores of every place of every candidate in the segment, and where each group starts."""
        widths = segment.last - segment.first + 1
        starts = np.cumsum(widths) - widths
        group = np.repeat(np.arange(len(widths)), widths)
        bins = segment.first[group] + np.arange(len(group)) - starts[group]
        low = np.maximum(self.below[group, bins], segment.least[group]) - segment.least[group]
        tied = np.minimum(self.upto[group, bins], segment.most[group]) - segment.least[group] - low
        edges = low[:, None] + tied[:, None] * np.arange(places + 1) // places
        rows = (segment.most - segment.least)[group][:, None]
        scores = target.scores(edges[:, :-1], edges[:, 1:], rows)
        return scores.reshape(-1), starts * places

    def divide(self, segment: Segment, steps: Ints, places: int) -> tuple[Segment, Segment]:
        """The rows on each side of an answer, ``steps`` places from the segment's start."""
        bins = segment.first + steps // places
        group = np.arange(len(bins))
        low = np.maximum(self.below[group, bins], segment.least)
        tied = np.minimum(self.upto[group, bins], segment.most) - low
        halves = 2 * (steps % places) + 1
        cut = low + tied * halves // (2 * places)
        return (
            Segment(segment.first, segment.least, bins, cut),
            Segment(bins, cut, segment.last, segment.most),
        )
