"""COUNT: rows, values that are not NULL, people, different values."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.relational.aggregates.additive import SingleMeasure
from discreet.relational.aggregates.arguments import where
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.measures import CountPeople, CountRows, CountValues
from discreet.relational.types.expression import Expression, Literal
from discreet.release.draws import Range


@dataclass(frozen=True)
class Count(SingleMeasure):
    """COUNT(*), COUNT(x), COUNT(DISTINCT person), COUNT(DISTINCT x)."""

    measure: CountRows | CountPeople | CountValues

    @property
    def additive(self) -> CountRows | CountPeople | CountValues:
        """The count itself."""
        return self.measure

    @property
    def whole(self) -> bool:
        """Always."""
        return True

    @property
    def is_size(self) -> bool:
        """Unless it counts different values."""
        return not isinstance(self.measure, CountValues)

    @property
    def within(self) -> Range:
        """No count is below zero."""
        return 0, math.inf

    def least_size(self, rows_at_least: int) -> float:
        """What is counted itself, be it rows, values or people."""
        return float(rows_at_least)


def _count_if(chosen: Expression) -> Count:
    return Count(CountRows(where(Literal(1), chosen)))


FUNCTIONS = (
    AggregateFunction(
        ("COUNT",),
        (Argument.COUNTED,),
        Count,
        several=("COUNT(a, b)", "Count one column."),
    ),
    AggregateFunction(("COUNT_IF", "COUNTIF"), (Argument.CONDITION,), _count_if, usual=False),
)
