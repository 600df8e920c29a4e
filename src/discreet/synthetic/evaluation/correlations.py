"""How strongly columns go together, in two tables: correlations of every pair.

Numbers and days are correlated by the order of their cells (Pearson's coefficient of the places of
cells, between -1 and 1; missing values are left out). Where a column has no order it is Cramér's
V, between 0 and 1. A pair of which one column never varies has 0.

Source: 004d:D7 (pairwise correlations).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from discreet.core.arrays import Floats
from discreet.synthetic.encoding.day_column import DayColumn
from discreet.synthetic.encoding.encoded_column import Codes, EncodedColumn
from discreet.synthetic.encoding.number_column import NumberColumn
from discreet.synthetic.evaluation.marginal_error import cell_counts_of, marginal_sets


def correlations(columns: Sequence[EncodedColumn], codes: Codes) -> dict[tuple[int, int], float]:
    """The correlation of each pair of columns, by their places; of very many pairs, of some."""
    shape = tuple(column.size for column in columns)
    found = {}
    for first, second in marginal_sets(shape, 2):
        sides = (shape[first], shape[second])
        table = cell_counts_of(codes, (first, second), shape).reshape(sides).astype(np.float64)
        ordered = all(isinstance(columns[k], NumberColumn | DayColumn) for k in (first, second))
        if ordered:
            table = table[_list_known_places(columns[first])][
                :, _list_known_places(columns[second])
            ]
        found[(first, second)] = order_correlation(table) if ordered else cramers_v(table)
    return found


def correlation_gap(
    real: Mapping[tuple[int, int], float], other: Mapping[tuple[int, int], float]
) -> float | None:
    """The mean absolute difference over all pairs; None where there is none."""
    return float(np.mean([abs(real[pair] - other[pair]) for pair in real])) if real else None


def _list_known_places(column: EncodedColumn) -> list[int]:
    return [place for place, label in enumerate(column.labels) if label is not None]


def order_correlation(table: Floats) -> float:
    """Pearson's coefficient of the places of cells, from the counts of a pair.

    >>> order_correlation(np.array([[5.0, 0.0], [0.0, 5.0]]))
    1.0
    """
    total = table.sum()
    if not total:
        return 0.0
    shares = table / total
    rows, places = np.arange(table.shape[0]), np.arange(table.shape[1])
    left, right = shares.sum(axis=1), shares.sum(axis=0)
    away, aside = rows - rows @ left, places - places @ right
    spread = float(np.sqrt((away**2 @ left) * (aside**2 @ right)))
    return float(np.clip(away @ shares @ aside / spread, -1, 1)) if spread > 1e-12 else 0.0


def cramers_v(table: Floats) -> float:
    """Cramér's V of the counts of a pair: the root of chi square over its largest value.

    >>> cramers_v(np.array([[5.0, 0.0, 0.0], [0.0, 5.0, 0.0]]))
    1.0
    """
    used = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(used.shape) < 2:
        return 0.0
    shares = used / used.sum()
    expected = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    square = float(np.sum((shares - expected) ** 2 / expected))
    return float(np.sqrt(min(1.0, square / (min(used.shape) - 1))))
