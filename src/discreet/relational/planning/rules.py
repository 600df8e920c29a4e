"""The rules that a query is planned by: today's, or those under which an answer was bought earlier.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.aggregates.quantile_rule import QuantileRule
from discreet.relational.bounding.rule import CURRENT as BOUNDING
from discreet.relational.bounding.rule import BoundingRule


@dataclass(frozen=True)
class PlanningRules:
    """How rows beyond the limits are treated, and how several quantiles are chosen."""

    bounding: BoundingRule = BOUNDING
    quantiles: QuantileRule = QuantileRule.BEST

    @property
    def written(self) -> str:
        """Their names in ledgers."""
        return f"{self.bounding.written} {self.quantiles.written}"


CURRENT = PlanningRules()
