"""GEOMEAN: the exponential of the mean of logarithms, for values with a positive lower bound.

The logarithms of values in [a, b] lie in [ln a, ln b], to which their total is clamped once more;
so the mean of them is that of :class:`Average`, with its price and its interval. The exponential
rises, so it takes the interval of the one to an interval of the other at the same confidence.

Source: modern-data:C2; contract, "Columns" (AVG), "Numbers". Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.relational.aggregates.aggregate import Estimates, NoisyValues, PlannedNoise
from discreet.relational.aggregates.arguments import bounds, centred
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.mean import Average
from discreet.relational.aggregates.measures import CountRows
from discreet.relational.functions.powers import LN
from discreet.relational.types.expression import Call, Expression
from discreet.release import ReleasedColumn
from discreet.release.column import Ends


@dataclass(frozen=True)
class GeometricMean(Average):
    """GEOMEAN(x): ``present`` counts the values, ``total`` adds up their centred logarithms."""

    def answer(self, name: str, noisy: NoisyValues, confidence: float) -> ReleasedColumn:
        """The exponential of the mean of logarithms, and of its interval."""
        return self._raised(super().answer(name, noisy, confidence))

    def estimated(
        self, name: str, estimates: Estimates, confidence: float
    ) -> ReleasedColumn | None:
        """The same of the mean that agrees with related ones."""
        logarithms = super().estimated(name, estimates, confidence)
        return None if logarithms is None else self._raised(logarithms)

    def half_width(
        self, planned: PlannedNoise, confidence: float, rows_at_least: int | None
    ) -> float:
        """The half-width wherever in its bounds the mean lies.

        That of the logarithms, w, makes it wrong by a factor within exp(±w); both it and the
        truth are below the upper bound.
        """
        low, high = self._bounds
        width = super().half_width(planned, confidence, rows_at_least)
        return min(high * -math.expm1(-width), high - low)

    @property
    def _bounds(self) -> tuple[float, float]:
        assert self.present.argument is not None
        low, high = bounds(self.present.argument)
        return float(low), float(high)

    def _raised(self, logarithms: ReleasedColumn) -> ReleasedColumn:
        """A column of exponentials, within the bounds of the values."""
        assert logarithms.lower is not None
        assert logarithms.upper is not None
        known = iter(self._exponentials(v for v in logarithms.values if v is not None))
        return ReleasedColumn.from_given_values(
            logarithms.name,
            [None if value is None else next(known) for value in logarithms.values],
            interval=Ends(
                self._exponentials(logarithms.lower), self._exponentials(logarithms.upper)
            ),
            note=f"exponential of the mean of logarithms: {logarithms.note}",
        )

    def _exponentials(self, values: Iterable[float]) -> tuple[float, ...]:
        with np.errstate(over="ignore"):
            raised = np.exp(np.fromiter(values, dtype=np.float64))
        return tuple(np.clip(raised, *self._bounds).tolist())


def _geometric_mean(value: Expression) -> GeometricMean:
    low, high = bounds(value)
    if low <= 0:
        raise InvalidParameter(
            code="bound_not_positive",
            expectation="a public lower bound above zero inside GEOMEAN",
            received=(low, high),
            remedy="Bound the argument: GEOMEAN(greatest(x, 0.01)); or declare such a bound with "
            "dp.Number.",
        )
    return GeometricMean(CountRows(value), centred(Call(LN, (value,))))


FUNCTIONS = (AggregateFunction(("GEOMEAN", "GEOMETRIC_MEAN"), (Argument.NUMBER,), _geometric_mean),)
