"""Columns that are one noisy measure: counts and sums. Their intervals are exact.

Source: modern-data:C1; 004d:F25, D21.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from discreet.relational.aggregates.aggregate import (
    Aggregate,
    Estimates,
    NoisyValues,
    PlannedNoise,
    estimate_note,
)
from discreet.relational.aggregates.measures import Linear
from discreet.release import ReleasedColumn
from discreet.release.column import Ends
from discreet.release.draws import ANYWHERE, Range
from discreet.release.preview import Expected


class SingleMeasure(Aggregate):
    """An aggregate that is its one measure; ``within`` is where it lies for public reasons."""

    @property
    @abstractmethod
    def additive(self) -> Linear:
        """The measure."""

    @property
    def within(self) -> Range:
        """Where the number lies for public reasons: anywhere, unless said otherwise."""
        return ANYWHERE

    @property
    def measures(self) -> tuple[Linear, ...]:
        """The measure itself."""
        return (self.additive,)

    @property
    def weights(self) -> tuple[float, ...]:
        """One."""
        return (1.0,)

    def answer(self, name: str, noisy: NoisyValues, confidence: float) -> ReleasedColumn:
        """The noisy values; the interval follows from their law."""
        term = noisy.measure(self.additive)
        return ReleasedColumn.linear(
            name, [(1, term)], confidence=confidence, within=self.within, whole=self.whole
        )

    def estimated(
        self, name: str, estimates: Estimates, confidence: float
    ) -> ReleasedColumn | None:
        """The estimates; the interval of one where the truth cannot be is that of the nearest."""
        if not estimates.has(self.additive):
            return None
        values, width = estimates.values(self.additive, confidence)
        low = self.within[0]
        ends = Ends(
            tuple(np.maximum(values - width, low).tolist()),
            tuple((np.maximum(values, low) + width).tolist()),
        )
        return ReleasedColumn.from_given_values(
            name, values.tolist(), interval=ends, note=estimate_note(confidence)
        )

    def expected(self, name: str, planned: PlannedNoise, confidence: float) -> Expected:
        """One half-width, the same in every group."""
        noise = planned.noise(self.additive)
        note = f"{type(noise.mechanism).__name__}, standard deviation {noise.distribution.std:.4g}"
        return Expected(name, self.half_width(planned, confidence, None), (), note)

    def is_foreseeable(self, rows_at_least: int | None) -> bool:
        """Always."""
        return True

    def half_width(
        self, planned: PlannedNoise, confidence: float, rows_at_least: int | None
    ) -> float:
        """That of the noise, whatever the group."""
        noise = planned.noise(self.additive)
        width = noise.distribution.half_width(confidence)
        if self.whole and not noise.whole and width >= 1:
            # Shown in whole numbers, measured in fractions, which estimates keep.
            return noise.distribution.whole_half_width(confidence)
        return width
