"""Private minimum and maximum: a rank so far from the end that noise rarely goes past it.

No private answer can follow a single row, so the end itself is out of reach. The target is a
fixed number of rows inside it, chosen from public quantities alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.core.parameters import Number, count, exact
from discreet.mechanisms import grid
from discreet.mechanisms.quantiles.choice import PERMUTE_AND_FLIP, RankChoice
from discreet.mechanisms.quantiles.quantile import RankMechanism
from discreet.mechanisms.quantiles.targets import FromBottom, FromTop

BEYOND = 0.05
"""How often an answer may lie beyond every row, at most."""


def extreme_rank(
    *,
    epsilon: Number,
    rank_sensitivity: int,
    candidates: int,
    by: RankChoice = PERMUTE_AND_FLIP,
) -> int:
    """How many rows from the end to aim at.

    Guarantee: the least whole number for which an answer beyond every row has a chance of at
    most one in twenty, whatever the data, in groups of at least twice as many rows. Where
    candidates lie densely among the rows the chance is far smaller.

    >>> extreme_rank(epsilon=1, rank_sensitivity=1, candidates=1024)
    13
    """
    aim = FromTop(1)
    gap = by.gap(BEYOND, count("candidates", grid.ordinary("candidates", candidates)))
    rows = count("rank_sensitivity", grid.ordinary("rank_sensitivity", rank_sensitivity))
    rate = exact(grid.ordinary("epsilon", epsilon)) / (rows * aim.spread)
    return max(1, math.ceil(gap * (1 + 1e-12) / float(rate * aim.over)))


@dataclass(frozen=True, kw_only=True)
class _End(RankMechanism):
    """What minimum and maximum share."""

    @property
    def rank(self) -> int:
        """How many rows from the end the answer is aimed at."""
        return extreme_rank(
            epsilon=self.epsilon,
            rank_sensitivity=self.rank_sensitivity,
            candidates=len(self.candidates),
            by=self.by,
        )


@dataclass(frozen=True, kw_only=True)
class Maximum(_End):
    """A value that few rows exceed: the one with ``rank`` rows above it, chosen privately.

    Contract: as for :class:`~discreet.mechanisms.quantiles.Quantile`. In groups of fewer than
    ``2 * rank`` rows the answer is aimed at the median.

    Assumptions: as for all selections by rank (:class:`RankMechanism`).

    Guarantee: pure epsilon-differential privacy for each group, exactly, in proportion to the
    rows of a person; with ``by=EXPONENTIAL`` of bounded range too.

    >>> Maximum(candidates=range(101), rank_sensitivity=1, epsilon=1).event
    PermuteAndFlip(epsilon=1)

    Source: modern-data:Q2, with ranks from the end. Proof: ``proofs/quantiles.md``.
    """

    @property
    def target(self) -> FromTop:
        """``rank`` rows from the top."""
        return FromTop(self.rank)


@dataclass(frozen=True, kw_only=True)
class Minimum(_End):
    """A value that few rows fall short of: the one with ``rank`` rows below it.

    Contract: as for :class:`Maximum`.

    Assumptions: as for all selections by rank (:class:`RankMechanism`).

    Guarantee: as for :class:`Maximum`.

    >>> Minimum(candidates=range(101), rank_sensitivity=1, epsilon=1).rank
    10

    Source: modern-data:Q2, with ranks from the end. Proof: ``proofs/quantiles.md``.
    """

    @property
    def target(self) -> FromBottom:
        """``rank`` rows from the bottom."""
        return FromBottom(self.rank)
