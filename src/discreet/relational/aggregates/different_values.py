"""SUM, AVG, VARIANCE and STDDEV of the different values of a column, each counted once.

The values are whole numbers between public bounds, so that they have a finite list. Squares are
taken from the lower bound and not from the middle: there no two values have the same square.

Source: contract, "Columns" (distinct counts have their own last bound), "Numbers".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from discreet.relational.aggregates.aggregate import Aggregate
from discreet.relational.aggregates.arguments import bounds
from discreet.relational.aggregates.mean import Average
from discreet.relational.aggregates.measures import CountValues, ValuesTotal
from discreet.relational.aggregates.sum import Sum
from discreet.relational.aggregates.variance import StandardDeviation, Variance
from discreet.relational.functions.arithmetic import SQUARE, SUBTRACT
from discreet.relational.functions.casts import cast
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Call, Expression, Literal


def sum_of_values(value: Expression) -> Sum:
    """SUM(DISTINCT x): each value of the list counts once, however many rows have it."""
    low, high = _ends(value)
    return Sum(ValuesTotal(value, low, high))


def mean_of_values(value: Expression) -> Average:
    """AVG(DISTINCT x): from the middle of the bounds."""
    low, high = _ends(value)
    return Average(CountValues(value), ValuesTotal(value, low, high, (low + high) // 2))


def variance_of_values(value: Expression, ddof: int) -> Variance:
    """VARIANCE(DISTINCT x): of the different values, whatever number of rows has each."""
    return Variance(*_parts(value), ddof)


def deviation_of_values(value: Expression, ddof: int) -> StandardDeviation:
    """STDDEV(DISTINCT x): the root of the variance of the different values."""
    return StandardDeviation(*_parts(value), ddof)


def _parts(value: Expression) -> tuple[CountValues, ValuesTotal, ValuesTotal]:
    low, high = _ends(value)
    away = Call(cast(DataType.INTEGER), (Call(SQUARE, (Call(SUBTRACT, (value, Literal(low))),)),))
    squares = ValuesTotal(away, 0, (high - low) ** 2)
    return CountValues(value), ValuesTotal(value, low, high, low), squares


def _ends(value: Expression) -> tuple[int, int]:
    low, high = bounds(value)
    return int(low), int(high)


DISTINCT: Mapping[str, Callable[[Expression], Aggregate]] = {
    "SUM": sum_of_values,
    "AVG": mean_of_values,
    "VARIANCE": partial(variance_of_values, ddof=1),
    "VAR_POP": partial(variance_of_values, ddof=0),
    "STDDEV": partial(deviation_of_values, ddof=1),
    "STDDEV_POP": partial(deviation_of_values, ddof=0),
}
"""By the first name of the function without DISTINCT."""
