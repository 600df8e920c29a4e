"""What share of each of some intervals the queries of a family ask for, under uniform spread.

Where only the sum over an interval is known, its records are taken to lie evenly in it. So a query
answers with the mean of its weights over the interval, times the sum.

Source: 004b:A8, A9 (spread uniformly; area fraction of partial leaves).
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.queries.workload.families import All, Each, Prefixes, QueryFamily, Ranges

_MOST_ENTRIES = 1 << 27
MOST_GRAM = 1 << 13


def shares(family: QueryFamily, lows: Ints, highs: Ints) -> Floats:
    """A row for each query, with the mean of its weights over each interval; empty ones give 0."""
    if family.queries * len(lows) > _MOST_ENTRIES:
        raise InvalidParameter(
            code="workload_too_large",
            expectation=f"at most {_MOST_ENTRIES} pairs of a query and an interval",
            received=(family.queries, len(lows)),
            remedy="Ask fewer queries at a time, for instance single boxes.",
        )
    lengths = np.maximum(highs - lows, 1)
    if isinstance(family, All):
        return np.asarray((highs > lows)[None, :], dtype=np.float64)
    bounds = _bounds(family)
    if bounds is not None:
        first, last = bounds
        common = np.minimum.outer(last, highs) - np.maximum.outer(first, lows)
        return np.asarray(np.maximum(common, 0) / lengths)
    rows = family.dense()
    running = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1)
    return np.asarray((running[:, highs] - running[:, lows]) / lengths)


def _bounds(family: QueryFamily) -> tuple[Ints, Ints] | None:
    """The half-open intervals that a family's queries ask for, if they are intervals."""
    place = np.arange(family.size, dtype=np.int64)
    if isinstance(family, Each):
        return place, place + 1
    if isinstance(family, Prefixes):
        return np.zeros_like(place), place + 1
    if isinstance(family, Ranges):
        first, last = np.triu_indices(family.size)
        return first.astype(np.int64), last.astype(np.int64) + 1
    return None


def can_gram(family: QueryFamily, lows: Ints, highs: Ints) -> bool:
    """Whether :func:`spread_gram` is within reach."""
    known = isinstance(family, Each | Prefixes | Ranges) and _in_order(lows, highs)
    return known or isinstance(family, All) or family.size <= MOST_GRAM


def spread_gram(family: QueryFamily, lows: Ints, highs: Ints) -> Floats:
    """The Gram matrix of the family's :func:`shares`, without writing the queries down.

    For intervals in order, ranges ask for a pair of values i <= j (i + 1)(n - j) times and prefixes
    n - j times: means over two different intervals are products of means, and those over one follow
    from the mean of the larger of two uniform places out of m, (m - 1)(4 m + 1) / 6 m.
    """
    if isinstance(family, All):
        row = np.asarray(highs > lows, dtype=np.float64)
        return np.outer(row, row)
    lengths = np.asarray(highs - lows, dtype=np.float64)
    if not isinstance(family, Each | Prefixes | Ranges) or not _in_order(lows, highs):
        return _pooled_gram(family, lows, highs)
    if isinstance(family, Each):
        return np.diag(1 / lengths)
    middle = (lows + highs - 1) / 2
    behind = family.size - middle
    larger = (lengths - 1) * (4 * lengths + 1) / (6 * lengths)
    after = family.size - lows.astype(np.float64)
    if isinstance(family, Prefixes):
        found = np.minimum.outer(behind, behind)
        np.fill_diagonal(found, after - larger)
        return np.asarray(found)
    found = np.minimum.outer(middle + 1, middle + 1)
    found *= np.minimum.outer(behind, behind)
    smaller = lengths - 1 - larger
    own = (lows + 1) * (after - larger) + after * smaller - ((lengths - 1) / 2) ** 2
    np.fill_diagonal(found, own)
    return np.asarray(found)


def _in_order(lows: Ints, highs: Ints) -> bool:
    """Whether intervals follow each other, none of them empty."""
    return bool((highs > lows).all() and (highs[:-1] <= lows[1:]).all())


def _pooled_gram(family: QueryFamily, lows: Ints, highs: Ints) -> Floats:
    """The same from the Gram matrix of all values."""
    lengths = np.maximum(highs - lows, 1)
    found = family.gram()
    for _ in range(2):
        running = np.concatenate([np.zeros((1, found.shape[1])), np.cumsum(found, axis=0)])
        found = ((running[highs] - running[lows]) / lengths[:, None]).T
    return np.asarray(found)
