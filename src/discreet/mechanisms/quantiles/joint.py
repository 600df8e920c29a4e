"""Several quantiles by one exponential mechanism: all answers are chosen together.

An outcome is a non-decreasing list of cuts, one for each level. Its cost is by how much the numbers
of rows between neighbouring cuts miss their shares, ``sum_j |n_j - (q_j - q_(j-1)) n|``. A row more
is one more in one of the intervals, so it moves a cost by at most ``2 (1 - least gap)``.

Outcomes are far too many to list. Their weights are products along the list, so sums over the first
j cuts are kept for all ranks that cut j may have, near the rank wanted one by one and farther off
in blocks. A cost is a difference of ranks on either side of a share, hence each sum is one over a
range before the share and one over a range behind it, and all of them take O(blocks * log(blocks)).
Lists are then proposed from the last cut to the first, and one exact coin makes up for blocks and
rounding.

Source: modern-data:Q4 (Gillenwater, Joseph and Kulesza, ICML 2021), on a grid with ties divided.
Proof: ``proofs/joint_quantiles.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, probability
from discreet.mechanisms.quantiles.candidates import Values, read_counts
from discreet.mechanisms.quantiles.choice import EXPONENTIAL, RankChoice
from discreet.mechanisms.quantiles.cuts import DIGITS, Cuts
from discreet.mechanisms.quantiles.forecast import bridge
from discreet.mechanisms.quantiles.joint_table import JointTable, common_denominator
from discreet.mechanisms.quantiles.several import Several
from discreet.mechanisms.quantiles.targets import FINEST

_LARGEST = 960
"""The number of outcomes is below two to this power: weights that matter are doubles."""


@dataclass(frozen=True, kw_only=True)
class JointQuantiles(Several):
    """The joint exponential mechanism: one choice for all levels, and none of them pays twice.

    Contract: at most about 20 levels, depending on the number of candidates. Levels without a
    common denominator up to a million are rounded to a millionth. Of more than ``2**32`` rows at
    one candidate that many count.

    Assumptions: as for one quantile; ``levels`` are public.

    Guarantee: pure epsilon-differential privacy for each group, exactly, and of bounded range:
    epsilon**2 / 8 under zCDP; in proportion to the rows of a person. Answers never decrease.

    >>> JointQuantiles(
    ...     levels=[0.25, 0.75], candidates=range(101), rank_sensitivity=1, epsilon=1
    ... ).event
    Exponential(epsilon=Fraction(1, 1))

    Source: modern-data:Q4. Proof: ``proofs/joint_quantiles.md``.
    """

    by: RankChoice = EXPONENTIAL

    def __post_init__(self) -> None:
        """Refuse what makes too many outcomes, and other ways to draw one of them."""
        super().__post_init__()
        if self.by != EXPONENTIAL:
            raise InvalidParameter(
                code="not_a_choice",
                expectation="`by` to be EXPONENTIAL: all answers are one outcome of it",
                received=type(self.by).__name__,
                remedy="Leave it out.",
            )
        if not _fits(len(self.candidates), len(self.levels)):
            raise InvalidParameter(
                code="too_many_outcomes",
                expectation=f"levels and candidates for fewer than 2**{_LARGEST} outcomes",
                received=f"{len(self.levels)} levels, {len(self.candidates)} candidates",
                remedy="Ask for fewer levels, or use RecursiveQuantiles.",
            )
        object.__setattr__(self, "levels", _common(self.levels))

    @property
    def rounds(self) -> int:
        """One."""
        return 1

    @property
    def parts(self) -> int:
        """Ranks are whole numbers of ``1 / parts``: the common denominator of the levels."""
        return common_denominator(self.levels)

    @property
    def spread(self) -> Fraction:
        """Largest change of a cost minus the smallest, when one row comes or goes."""
        return 4 * (1 - min(_gaps(self.levels)))

    def rate(self) -> Fraction:
        """Log-odds for each ``1 / parts`` of a cost."""
        return self.share / (self.rank_sensitivity * self.spread * self.parts)

    def table(self, counts: Any) -> JointTable:
        """The weights of all outcomes for one exact histogram. Private."""
        whole = read_counts(counts, len(self.candidates), self.parts)[0]
        return JointTable.of(Cuts.of(whole), self.levels, self.rate())

    def release(self, counts: Any) -> Values:
        """One outcome for each group."""
        array = np.asarray(counts)
        whole = read_counts(array, len(self.candidates), self.parts)
        picks = np.empty((len(whole), len(self.levels)), dtype=np.int64)
        for group, row in enumerate(whole):
            table = self.table(row)
            picks[group] = table.cuts.candidates(table.draw(self.randomness))
        values: Values = np.asarray(self.candidates)[picks]
        return values if array.ndim == 2 else values[0]

    def rank_error(self, *, confidence: float, tied: int) -> float:
        """Cuts of the ranks nearest to those asked for weigh enough against all outcomes."""
        tail = 1 - float(probability("confidence", confidence))
        levels, rows = len(self.levels), count("tied", tied)
        # Of the places at a candidate, at least so many share any one rank that some of them have.
        same = max(1, (1 << DIGITS) >> (rows - 1).bit_length())
        outcomes = levels * math.log(((len(self.candidates) << DIGITS) + levels - 1) / same)
        gap = (outcomes - math.log(tail)) * (1 + 1e-12)
        return levels + gap / float(2 * self.rate() * self.parts)

    def forecast(self) -> float:
        """Of a walk of ranks that starts and ends where it should."""
        mean = float(bridge(len(self.levels)).mean())
        return mean / float(self.rate() * self.parts)


def _fits(candidates: int, levels: int) -> bool:
    places = (candidates << DIGITS) + levels - 1
    return levels <= _LARGEST and math.comb(places, levels).bit_length() <= _LARGEST


def _common(levels: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    """Levels of a denominator up to a million that they have in common."""
    if common_denominator(levels) <= FINEST:
        return levels
    near = tuple(Fraction(round(level * FINEST), FINEST) for level in levels)
    if min(_gaps(near)) <= 0:
        raise InvalidParameter(
            code="levels_too_close",
            expectation="levels that are a millionth apart, and as far from 0 and 1",
            received=tuple(float(level) for level in levels),
            remedy="Leave out levels that are nearly the same, or use RecursiveQuantiles.",
        )
    return near


def _gaps(levels: tuple[Fraction, ...]) -> list[Fraction]:
    """What share of the rows is wanted between neighbouring answers, the ends included."""
    return [high - low for low, high in pairwise((Fraction(0), *levels, Fraction(1)))]
