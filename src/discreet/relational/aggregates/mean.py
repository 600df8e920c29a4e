"""AVG: the midpoint of the bounds plus the centred total over the number of values.

Source: modern-data:C2; contract, "Columns" (AVG).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.parameters import count
from discreet.relational.aggregates.aggregate import (
    PRESENCE,
    SIZES,
    Aggregate,
    Estimates,
    NoisyValues,
    PlannedNoise,
    estimate_note,
)
from discreet.relational.aggregates.arguments import centred
from discreet.relational.aggregates.function import AggregateFunction, Argument
from discreet.relational.aggregates.measures import (
    CountRows,
    CountValues,
    Measure,
    Total,
    ValuesTotal,
    least_size,
)
from discreet.release import ReleasedColumn
from discreet.release.column import Ends
from discreet.release.formula import LinearFormula
from discreet.release.intervals.linear import half_width
from discreet.release.preview import Expected


@dataclass(frozen=True)
class Average(Aggregate):
    """AVG(x): the midpoint plus the centred total over the number of values."""

    present: CountRows | CountValues
    total: Total | ValuesTotal

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Number of values, centred total."""
        return (self.present, self.total)

    @property
    def weights(self) -> tuple[float, ...]:
        """The total matters most."""
        return (PRESENCE, 1.0)

    def answer(self, name: str, noisy: NoisyValues, confidence: float) -> ReleasedColumn:
        """A quotient with Fieller's interval."""
        return ReleasedColumn.quotient(
            name,
            LinearFormula(((1, noisy.measure(self.total)),)),
            LinearFormula(((1, noisy.measure(self.present)),), within=(0, math.inf)),
            confidence=confidence,
            offset=float(self.total.centre),
            within=(float(self.total.low), float(self.total.high)),
        )

    def estimated(
        self, name: str, estimates: Estimates, confidence: float
    ) -> ReleasedColumn | None:
        """Each of sum and number held to its interval at half the risk: never too narrow."""
        if not (estimates.has(self.present) or estimates.has(self.total)):
            return None
        level = (1 + confidence) / 2
        total, spread = estimates.values(self.total, level)
        present, slack = estimates.values(self.present, level)
        low, high = float(self.total.low), float(self.total.high)
        centre = float(self.total.centre)
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.clip(centre + total / present, low, high)
            corners = [
                (total + s * spread) / (present + n * slack) for s in (-1, 1) for n in (-1, 1)
            ]
        known = present - slack > 0
        lower = np.where(known, np.clip(centre + np.min(corners, axis=0), low, high), low)
        upper = np.where(known, np.clip(centre + np.max(corners, axis=0), low, high), high)
        shown = [
            v if n > 0 else None for v, n in zip(value.tolist(), present.tolist(), strict=True)
        ]
        ends = Ends(tuple(lower.tolist()), tuple(upper.tolist()))
        return ReleasedColumn.from_given_values(
            name, shown, interval=ends, note=estimate_note(confidence)
        )

    def expected(self, name: str, planned: PlannedNoise, confidence: float) -> Expected:
        """One half-width for each group size."""
        sizes = tuple((n, self.half_width(planned, confidence, n)) for n in SIZES)
        return Expected(name, None, sizes, "depends on how many values a group has")

    def is_foreseeable(self, rows_at_least: int | None) -> bool:
        """Where it is public how small groups can be: of rows, not of different values."""
        return rows_at_least is not None and isinstance(self.present, CountRows)

    def half_width(
        self, planned: PlannedNoise, confidence: float, rows_at_least: int | None
    ) -> float:
        """The half-width of a mean of so many values, wherever in its bounds the mean lies.

        To first order in the noise: the centred total is off by its own noise and by that of the
        count times how far the mean is from the midpoint, at most the bound.
        """
        rows = count("rows_at_least", rows_at_least)
        total, present = planned.noise(self.total), planned.noise(self.present)
        farthest = float(self.total.bound())
        noises = [(1.0, total.distribution), (farthest, present.distribution)]
        width = half_width(noises, confidence=confidence) / rows
        return min(width, float(self.total.high - self.total.low))

    def least_size(self, rows_at_least: int) -> float:
        """A mean lies between the bounds of its values."""
        return least_size(self.total)


FUNCTIONS = (
    AggregateFunction(
        ("AVG",), (Argument.NUMBER,), lambda value: Average(CountRows(value), centred(value))
    ),
)
