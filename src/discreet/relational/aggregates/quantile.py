"""MEDIAN and QUANTILE: several levels of one column are chosen together.

Source: modern-data:Q2. Proof: ``proofs/quantiles.md``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from discreet.mechanisms import quantiles
from discreet.relational.aggregates.extremes import MaximumAggregate, MinimumAggregate
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.measures import Ranks
from discreet.relational.aggregates.ranked import ChosenByRank


@dataclass(frozen=True)
class QuantileAggregate(ChosenByRank):
    """MEDIAN and QUANTILE(x, q): a candidate chosen by its rank."""

    @property
    def together(self) -> Hashable:
        """The ranks."""
        return self.ranks

    def mechanism(self, **common: Any) -> quantiles.Quantile:
        """That of one level."""
        return quantiles.Quantile(q=self.level, **common)


def _at(ranks: Ranks, level: float) -> ChosenByRank:
    """A quantile; the ends of the scale are minimum and maximum."""
    if level == 0:
        return MinimumAggregate(ranks, 0.0)
    return MaximumAggregate(ranks, 1.0) if level == 1 else QuantileAggregate(ranks, level)


_LEVEL = (Argument.CANDIDATES, Argument.LEVEL)
FUNCTIONS = (
    AggregateFunction(
        ("MEDIAN",), (Argument.CANDIDATES,), lambda ranks: QuantileAggregate(ranks, 0.5)
    ),
    AggregateFunction(("QUANTILE", "APPROX_QUANTILE"), _LEVEL, _at),
    AggregateFunction(
        ("PERCENTILE_CONT", "PERCENTILE_DISC", "QUANTILE_CONT", "QUANTILE_DISC"),
        _LEVEL,
        _at,
        ordered=True,
        usual=False,
    ),
)
