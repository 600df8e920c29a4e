"""SUM: clamped values added up in exact whole numbers of steps."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.relational.aggregates.additive import SingleMeasure
from discreet.relational.aggregates.arguments import total
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.measures import Total, ValuesTotal, least_size


@dataclass(frozen=True)
class Sum(SingleMeasure):
    """SUM(x): clamped values added up, zero where there are none."""

    total: Total | ValuesTotal

    @property
    def additive(self) -> Total | ValuesTotal:
        """The total itself."""
        return self.total

    @property
    def whole(self) -> bool:
        """Where the values are."""
        return self.total.whole

    def least_size(self, rows_at_least: int) -> float:
        """So many values, each as near to zero as its bounds allow."""
        if isinstance(self.total, ValuesTotal):
            return 0.0  # many rows may have one value
        return rows_at_least * least_size(self.total)


FUNCTIONS = (AggregateFunction(("SUM",), (Argument.NUMBER,), lambda value: Sum(total(value))),)
