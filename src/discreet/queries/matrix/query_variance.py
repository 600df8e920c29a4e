"""Variances of single queries of a family, from the covariance of estimated counts.

Source: 004b:A6 (least squares after measuring).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.queries.workload.families import All, Each, Family, Prefixes, Ranges

Floats = NDArray[np.float64]


def variances(family: Family, covariance: Floats) -> Floats:
    """The diagonal of W K Wᵀ, without the matrix of all ranges.

    >>> variances(Ranges(3), np.eye(3)).tolist()
    [1.0, 2.0, 3.0, 1.0, 2.0, 1.0]
    """
    match family:
        case Each():
            found = np.diagonal(covariance)
        case All():
            found = np.asarray(covariance.sum(keepdims=True)).ravel()
        case Prefixes():
            found = np.diagonal(covariance.cumsum(axis=0).cumsum(axis=1))
        case Ranges():
            sums = np.zeros((family.size + 1, family.size + 1))
            sums[1:, 1:] = covariance.cumsum(axis=0).cumsum(axis=1)
            first, last = np.triu_indices(family.size)
            ends = np.diagonal(sums)
            found = ends[last + 1] + ends[first] - 2 * sums[first, last + 1]
        case _:
            rows = family.dense()
            found = np.einsum("ij,ij->i", rows @ covariance, rows)
    return np.maximum(found, 0)
