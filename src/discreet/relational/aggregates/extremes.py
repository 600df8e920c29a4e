"""MIN and MAX: an extreme candidate that few values pass.

Source: modern-data:Q2. Proof: ``proofs/quantiles.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from discreet.mechanisms import quantiles
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.ranked import ChosenByRank


@dataclass(frozen=True)
class MinimumAggregate(ChosenByRank):
    """MIN(x): a low candidate with few values below it."""

    def mechanism(self, **common: Any) -> quantiles.Minimum:
        """Its own."""
        return quantiles.Minimum(**common)


@dataclass(frozen=True)
class MaximumAggregate(ChosenByRank):
    """MAX(x): a high candidate with few values above it."""

    def mechanism(self, **common: Any) -> quantiles.Maximum:
        """Its own."""
        return quantiles.Maximum(**common)


FUNCTIONS = (
    AggregateFunction(("MIN",), (Argument.CANDIDATES,), lambda ranks: MinimumAggregate(ranks, 0.0)),
    AggregateFunction(("MAX",), (Argument.CANDIDATES,), lambda ranks: MaximumAggregate(ranks, 1.0)),
)
