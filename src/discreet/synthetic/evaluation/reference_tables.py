"""Tables to compare a synthetic one with: what a careless or a careful owner might publish instead.

None of them is private; each needs the real rows, and is for the owner's eyes.

Source: 004d:D10.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.noise.randomness import SYSTEM, Source
from discreet.noise.sampling import fixed_size_sample, permutation
from discreet.synthetic.encoding.encoded_column import Codes, uniform

SUBSAMPLE = 0.4
K = 25


def subsample(codes: Codes, randomness: Source = SYSTEM) -> Codes:
    """40 % of the rows, as they are: the sampling error that an owner would accept."""
    rows = fixed_size_sample(round(SUBSAMPLE * len(codes)), len(codes), randomness)
    return codes[rows]


def independent_columns(codes: Codes, randomness: Source = SYSTEM) -> Codes:
    """Each column in an order of its own: true columns, nothing between them."""
    found = codes.copy()
    for place in range(codes.shape[1]):
        found[:, place] = codes[permutation(len(codes), randomness), place]
    return found


def k_anonymised(
    codes: Codes, shape: tuple[int, ...], k: int = K, randomness: Source = SYSTEM
) -> Codes:
    """Groups of at least ``k`` rows, whose values are only known to lie in the group's range.

    Rows are split at the median of the column with the widest range until no half would have fewer
    than ``k``. Each value is then drawn evenly from its group's range.

    Source: LeFevre, DeWitt and Ramakrishnan 2006 (Mondrian).
    """
    found = codes.copy()
    waiting: list[NDArray[np.int64]] = [np.arange(len(codes))] if len(codes) else []
    while waiting:
        rows = waiting.pop()
        halves = _split(codes[rows], shape, k)
        if halves is None:
            low, high = codes[rows].min(axis=0), codes[rows].max(axis=0)
            drawn = uniform(codes[rows].size, randomness).reshape(codes[rows].shape)
            found[rows] = np.minimum(low + np.floor(drawn * (high - low + 1)), high)
        else:
            waiting += [rows[halves], rows[~halves]]
    return found


def _split(codes: Codes, shape: tuple[int, ...], k: int) -> NDArray[np.bool_] | None:
    """Which rows go left; None where no split leaves ``k`` rows on both sides."""
    if len(codes) < 2 * k:
        return None
    spans = (codes.max(axis=0) - codes.min(axis=0)) / np.maximum(1, np.array(shape) - 1)
    for place in np.argsort(-spans, kind="stable"):
        if spans[place] <= 0:
            return None
        left = codes[:, place] <= np.median(codes[:, place])
        if left.all():
            left = codes[:, place] < np.median(codes[:, place])
        if k <= left.sum() <= len(codes) - k:
            return np.asarray(left, dtype=np.bool_)
    return None
