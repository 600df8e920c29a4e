"""Columns from noisy counts, totals and products, whose intervals cover the noise of all parts.

Source: modern-data:C2, extended; proofs/intervals.md.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.arrays import Floats
from discreet.relational.aggregates.aggregate import FirstOrder, NoisyValues
from discreet.relational.aggregates.measures import Linear
from discreet.release import ReleasedColumn
from discreet.release.column import Ends
from discreet.release.intervals import Distribution


def noisy_totals(
    noisy: NoisyValues, measures: tuple[Linear, ...]
) -> tuple[list[Floats], list[Distribution]]:
    """The noisy values of each measure, and their laws."""
    found = [noisy.measure(measure) for measure in measures]
    totals = [np.asarray(measure.values, dtype=np.float64) for measure in found]
    return totals, [measure.distribution for measure in found]


def by_measure(
    noisy: NoisyValues, measures: tuple[Linear, ...], slopes: Sequence[Floats]
) -> FirstOrder:
    """The slopes of a column beside the measures they belong to."""
    return tuple(zip(map(noisy.measure, measures), slopes, strict=True))


def from_totals(
    name: str, values: Floats, interval: tuple[Floats, Floats], confidence: float
) -> ReleasedColumn:
    """The column; NaN where there is no value."""
    lower, upper = interval
    return ReleasedColumn.from_given_values(
        name,
        [None if np.isnan(value) else float(value) for value in values],
        interval=Ends(tuple(lower.tolist()), tuple(upper.tolist())),
        note=f"from noisy totals; {confidence:.0%} intervals cover noise",
    )
