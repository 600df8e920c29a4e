"""The public grid of a quantile and the exact histogram of the rows on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter

MOST = 1 << 16
_ROOM = 1 << 59

Values = NDArray[np.int64] | NDArray[np.float64]


def read_candidates(values: Any) -> tuple[int, ...] | tuple[float, ...]:
    """The values an answer may take: public, finite, strictly increasing.

    >>> read_candidates(range(3))
    (0, 1, 2)
    """
    array = np.asarray(values)
    numbers = array.ndim == 1 and array.dtype.kind in "iuf" and array.dtype.itemsize <= 8
    if numbers and 1 <= len(array) <= MOST and (array.dtype != np.uint64 or array[-1] < 1 << 63):
        plain = array.astype(np.float64 if array.dtype.kind == "f" else np.int64)
        if np.isfinite(plain).all() and (plain[1:] > plain[:-1]).all():
            return tuple(plain.tolist())
    raise InvalidParameter(
        code="candidates_not_increasing",
        expectation=f"1 to {MOST} finite numbers in increasing order, none of them twice",
        received=f"{array.dtype.type.__name__} of shape {array.shape}",
        remedy="Declare a public grid, such as numpy.linspace(low, high, 1025) or range(0, 121).",
    )


def read_counts(counts: Any, bins: int, parts: int) -> NDArray[np.int64]:
    """A histogram for each group, of shape (groups, bins).

    Counts are clamped at ``2**59 / (bins * parts)``, the same for all data, so that ranks in
    units of ``1 / parts`` fit 64 bits. Rows that come or go all in one direction still do after
    clamping, and no more of them.
    """
    array = np.asarray(counts)
    if array.dtype.kind not in "iu" or array.ndim not in (1, 2) or array.shape[-1] != bins:
        raise InvalidData(
            code="counts_do_not_fit",
            expectation="whole numbers of rows, one for each candidate, in one row for each group",
            received=f"array of {array.dtype.type.__name__} with {array.ndim} axes",
            remedy="Count the rows nearest to each candidate, empty ones included.",
        )
    if array.size and array.dtype.kind == "i" and array.min() < 0:
        raise InvalidData(
            code="counts_negative",
            expectation="exact numbers of rows, which are never negative",
            remedy="Pass the histogram itself, not one with noise.",
        )
    most = _ROOM // (bins * parts)
    whole: NDArray[np.int64] = np.minimum(array, most).astype(np.int64)
    return np.atleast_2d(whole)
