"""What measures come to in a group whose values are spread evenly over their declared bounds.

The arguments of all measures are evaluated on the same invented rows, whose columns run through
their bounds evenly and without regard to each other. So conditions hold for their share of the
rows, squares and logarithms have their own means, and different columns are uncorrelated. Nothing
but declared facts is read.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.relational.aggregates.measures import (
    CountPeople,
    CountRows,
    CountValues,
    Linear,
    Total,
    ValuesTotal,
)
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType
from discreet.relational.types.expression import Column, Expression, evaluate_each, leaves

_ROWS = 1_024
_HALF = 0.5
"""The share of rows in which a condition on columns without declared ranges is taken to hold."""


@dataclass(frozen=True)
class EvenValues:
    """The invented rows for these measures."""

    measures: tuple[Linear, ...]

    def total(self, measure: Linear, size: int) -> float:
        """What a measure comes to over ``size`` such rows."""
        match measure:
            case ValuesTotal():
                mean = (measure.low + measure.high) / 2 - measure.centre
                return mean * min(size, measure.values)
            case CountValues():
                return float(size if measure.most is None else min(size, measure.most))
            case CountPeople() | CountRows(argument=None):
                return float(size)
            case CountRows(argument=argument) if argument is not None:
                known = self._compute_known_values(argument)
                return size * (_HALF if known is None else len(known) / _ROWS)
            case Total():
                low, high, centre = (float(v) for v in (measure.low, measure.high, measure.centre))
                known = self._compute_known_values(measure.argument)
                if known is None:
                    return size * ((low + high) / 2 - centre)
                numbers = np.clip(np.array(known, dtype=np.float64), low, high)
                return size * float(np.sum(numbers - centre)) / _ROWS
        raise LookupError(type(measure).__name__)

    def _compute_known_values(self, argument: Expression) -> list[object] | None:
        """The values that are not NULL; None where a column has no declared range."""
        if not {column.name for column in leaves(argument)} <= self._columns.keys():
            return None
        if argument not in self._evaluated:
            values = evaluate_each(argument, self._rows)
            self._evaluated[argument] = [value for value in values if value is not None]
        return self._evaluated[argument]

    @cached_property
    def _evaluated(self) -> dict[Expression, list[object]]:
        """Arguments are the same in groups of every size, and in several measures."""
        return {}

    @cached_property
    def _rows(self) -> list[dict[str, object]]:
        names = list(self._columns)
        return [
            dict(zip(names, (self._columns[name][row] for name in names), strict=True))
            for row in range(_ROWS)
        ]

    @cached_property
    def _columns(self) -> dict[str, Sequence[object]]:
        """Every column in all rows: its own multiple of the row's number, modulo one.

        Multiples of roots of different primes are spread evenly, also jointly (H. Weyl 1916).
        """
        found: dict[str, Sequence[object]] = {}
        turns = [1 / _ROWS, *(math.sqrt(prime) for prime in _primes())]
        for column in {c.name: c for c in self._leaves()}.values():
            turn = turns[min(len(found), len(turns) - 1)]
            values = _spread(column.domain, ((np.arange(_ROWS) + 0.5) * turn % 1).tolist())
            if values is not None:
                found[column.name] = values
        return found

    def _leaves(self) -> Iterable[Column]:
        for measure in self.measures:
            argument = getattr(measure, "argument", None)
            if argument is not None:
                yield from leaves(argument)


def _spread(domain: ColumnDomain, places: list[float]) -> list[object] | None:
    """Values at these shares of a domain; None where it has no known range."""
    values, low, high = domain.values, domain.low, domain.high
    if values:
        return [values[int(place * len(values))] for place in places]
    if not domain.bounded or not domain.kind.is_number:
        return None
    if domain.kind is DataType.INTEGER:
        return [low + int(place * (high - low + 1)) for place in places]
    return [low + place * (high - low) for place in places]


def _primes() -> list[int]:
    return [n for n in range(2, 300) if all(n % k for k in range(2, math.isqrt(n) + 1))]
