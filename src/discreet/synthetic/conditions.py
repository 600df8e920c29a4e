"""A condition on a column as weights of its cells: how much of each of them meets it.

A condition on a number, or on days, may cut through bins; a bin then counts by the part that lies
inside, as if its records were spread evenly.
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.spelling import did_you_mean
from discreet.synthetic.encoding.constraints import Between, Condition, cells_of
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.encoded_column import EncodedColumn
from discreet.synthetic.encoding.number_column import NumberColumn


def condition_weights(name: str, column: EncodedColumn, values: Condition) -> Floats:
    """How much of each cell of a column meets a condition; of days a range counts steps."""
    if isinstance(column, DayColumn) and isinstance(values, Between):
        return condition_weights(name, column.numbers, values)
    if not isinstance(values, Between) or not isinstance(column, NumberColumn):
        require_values(name, column, values)
        return cells_of(name, column, values).astype(np.float64)
    edges = np.asarray(column.edges, dtype=np.float64)
    low = edges[0] if values.low is None else values.low
    high = edges[-1] if values.high is None else values.high
    inside = np.minimum(edges[1:], high) - np.maximum(edges[:-1], low)
    part = np.clip(inside / np.diff(edges), 0.0, 1.0)
    if values.high is not None and not column.whole and values.high >= edges[-1]:
        part[-1] = max(part[-1], 0.0)
    return np.append(part, 0.0) if column.missing else part


def require_values(name: str, column: EncodedColumn, values: Condition) -> None:
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
