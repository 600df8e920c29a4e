"""A count of a synthetic release with its interval: how many records meet some conditions.

A condition on a number may cut through bins; a bin then counts by the part that lies inside, as if
its records were spread evenly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.arrays import Floats
from discreet.release.format import percent
from discreet.synthetic.encoding.constraints import Between, Condition, cells_of
from discreet.synthetic.encoding.encoded_column import EncodedColumn
from discreet.synthetic.encoding.number_column import NumberColumn
from discreet.synthetic.simulated_errors import SimulatedErrors

if TYPE_CHECKING:
    from discreet.synthetic.synthetic_release import SyntheticRelease

Where = Mapping[str, Condition]
"""For each column a list of values, or for a number ``Between(low, high)``."""


@dataclass(frozen=True)
class CountedEstimate:
    """An estimated number of records; ``share`` is that of all records.

    ``lower`` and ``upper`` hold at ``confidence`` over noise and the mechanism's choices, as
    simulated; not over what the model leaves out.
    """

    value: float
    lower: float
    upper: float
    share: float
    confidence: float

    def __str__(self) -> str:
        ends = f"{percent(self.confidence)} interval {self.lower:,.0f} to {self.upper:,.0f}"
        return f"{self.value:,.0f} ({ends}, simulated)"


def estimated(
    release: SyntheticRelease, where: Where, *, confidence: float, errors: SimulatedErrors
) -> CountedEstimate:
    """The count of a release under some conditions."""
    encoding = release.encoding
    places = encoding.needed(list(where)) or (0,)
    attributes = [encoding.attributes[place] for place in places]
    names = [each.name for each in attributes]
    shape = tuple(each.size for each in attributes)
    cells = np.stack([axis.ravel() for axis in np.indices(shape)], axis=1)
    whole = np.zeros((len(cells), len(encoding.attributes)), dtype=np.int64)
    whole[:, list(places)] = cells
    codes = encoding.column_codes(whole)
    weights: Floats = np.ones(len(cells))
    for name, values in where.items():
        weights = weights * condition_weights(name, encoding.columns[name], values)[codes[name]]
    weights = weights.reshape(shape)
    value = float((release.model.marginal(names) * weights).sum())
    half = errors.half_width(names, weights, confidence)
    total = release.model.total
    return CountedEstimate(
        value, max(0.0, value - half), max(0.0, value + half), value / total, confidence
    )


def condition_weights(name: str, column: EncodedColumn, values: Condition) -> Floats:
    """How much of each cell of a column meets a condition."""
    if not isinstance(values, Between) or not isinstance(column, NumberColumn):
        return cells_of(name, column, values).astype(np.float64)
    edges = np.asarray(column.edges, dtype=np.float64)
    low = edges[0] if values.low is None else values.low
    high = edges[-1] if values.high is None else values.high
    inside = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    part = np.clip(inside / np.diff(edges), 0.0, 1.0)
    if values.high is not None and not column.whole and values.high >= edges[-1]:
        part[-1] = max(part[-1], 0.0)
    return np.append(part, 0.0) if column.missing else part
