"""By which rule several quantiles of one column are chosen together.

Values chosen in different ways err differently, so an answer that was bought under a former rule is
read under it. The way is part of the event that was paid for, and with that of what makes two
queries the same.

Source: modern-data:Q5; contract, "Spending" (identical questions).
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from discreet.mechanisms.quantiles.choice import EXPONENTIAL, RankChoice
from discreet.mechanisms.quantiles.plan import Way, concentrated_way, pure_way
from discreet.mechanisms.quantiles.recursive import RecursiveQuantiles
from discreet.mechanisms.quantiles.several import IndependentQuantiles


class QuantileRule(Enum):
    """A rule by its frozen name, with its version."""

    ROUNDS = "rounds/1"
    """One or two alone, more by recursion: for answers that were bought under it."""
    BEST = "best/1"
    """The way of the least expected error, by levels, candidates and privacy definition."""

    @property
    def written(self) -> str:
        """The name in ledgers, fixed for ever."""
        return self.value

    def way(self, levels: tuple[Fraction, ...], candidates: int, by: RankChoice) -> Way:
        """The kind of mechanism for these levels, from public quantities alone."""
        if self is QuantileRule.ROUNDS:
            return IndependentQuantiles if len(levels) <= 2 else RecursiveQuantiles
        if by == EXPONENTIAL:
            return concentrated_way(levels, candidates)
        return pure_way(levels, candidates)
