"""SUM: clamped values added up in exact whole numbers of steps."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.aggregates.additive import SingleMeasure
from discreet.relational.aggregates.arguments import total
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.measures import Total


@dataclass(frozen=True)
class Sum(SingleMeasure):
    """SUM(x): clamped values added up, zero where there are none."""

    total: Total

    @property
    def additive(self) -> Total:
        """The total itself."""
        return self.total

    @property
    def whole(self) -> bool:
        """Where the values are."""
        return self.total.whole


FUNCTIONS = (AggregateFunction(("SUM",), (Argument.NUMBER,), lambda value: Sum(total(value))),)
