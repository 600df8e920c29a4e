"""A count of a synthetic release with its interval: how many records meet some conditions.

A condition on a number, or on days, may cut through bins; a bin then counts by the part that lies
inside, as if its records were spread evenly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.spelling import did_you_mean
from discreet.release.format import percent
from discreet.synthetic.encoding.constraints import Between, Condition, cells_of
from discreet.synthetic.encoding.day_column import DayColumn
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
    """How much of each cell of a column meets a condition; of days a range counts steps."""
    if isinstance(column, DayColumn) and isinstance(values, Between):
        return condition_weights(name, column.numbers, values)
    if not isinstance(values, Between) or not isinstance(column, NumberColumn):
        _require_values(name, column, values)
        return cells_of(name, column, values).astype(np.float64)
    edges = np.asarray(column.edges, dtype=np.float64)
    low = edges[0] if values.low is None else values.low
    high = edges[-1] if values.high is None else values.high
    inside = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    part = np.clip(inside / np.diff(edges), 0.0, 1.0)
    if values.high is not None and not column.whole and values.high >= edges[-1]:
        part[-1] = max(part[-1], 0.0)
    return np.append(part, 0.0) if column.missing else part


def _require_values(name: str, column: EncodedColumn, values: Condition) -> None:
    """Refuse a condition that no cell of the column can meet exactly."""
    wanted = ("a range",) if isinstance(values, Between) else tuple(values)
    labels = column.labels
    for value in wanted:
        if value not in labels:
            binned = isinstance(column, NumberColumn | DayColumn)
            far = (
                f'Ask for a range: "{name} >= ...".'
                if binned
                else "Use one of the values that the column is declared with."
            )
            raise InvalidParameter(
                code="condition_value",
                expectation=f"values of {name!r}: {_some(labels)}",
                received=value,
                remedy=did_you_mean(value, [each for each in labels if each is not None], far),
            )


def _some(labels: tuple[object, ...], most: int = 12) -> str:
    """The first of them; there may be many."""
    told = ", ".join("NULL" if each is None else str(each) for each in labels[:most])
    return told if len(labels) <= most else f"{told}, …"
