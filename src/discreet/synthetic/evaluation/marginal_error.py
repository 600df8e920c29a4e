"""How far the marginals of two tables lie apart: total variation, over every few columns.

Source: 004d:D7 (marginals of a few columns).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from discreet.synthetic.encoding.encoded_column import Codes

MOST_MARGINALS = 2000
"""Of one size; of more, every so-manyth is looked at, by their order alone."""
_LARGEST = 1 << 22

Sets = Sequence[tuple[int, ...]]


def marginal_sets(shape: tuple[int, ...], ways: int) -> Sets:
    """Places of the columns of each marginal; chosen by shape alone, and small enough to count."""
    columns = len(shape)
    number = math.comb(columns, ways)
    step = max(1, -(-number // MOST_MARGINALS))  # one column has no pairs
    chosen: Iterator[tuple[int, ...]] = islice(combinations(range(columns), ways), 0, None, step)
    return [each for each in chosen if math.prod(shape[p] for p in each) <= _LARGEST]


def cell_counts_of(
    codes: Codes, places: tuple[int, ...], shape: tuple[int, ...]
) -> NDArray[np.int64]:
    """How many rows lie in each cell of a marginal, flat."""
    sides = tuple(shape[place] for place in places)
    flat = np.ravel_multi_index(tuple(codes[:, place] for place in places), sides)
    return np.bincount(flat, minlength=math.prod(sides)).astype(np.int64)


def total_variations(
    real: Codes, synthetic: Codes, shape: tuple[int, ...], sets: Sets
) -> NDArray[np.float64]:
    """Half the sum of differences between shares, for each marginal; 0 is equal, 1 apart.

    >>> a = np.array([[0], [0], [1], [1]]); b = np.array([[0], [1], [1], [1]])
    >>> total_variations(a, b, (2,), [(0,)]).tolist()
    [0.25]
    """
    found = []
    for places in sets:
        first = cell_counts_of(real, places, shape) / max(1, len(real))
        second = cell_counts_of(synthetic, places, shape) / max(1, len(synthetic))
        found.append(float(np.abs(first - second).sum()) / 2)
    return np.array(found)
