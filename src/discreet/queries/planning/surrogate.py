"""Trials on invented data of a given size, to predict errors that depend on data.

A few classes of records, each with attributes independent of one another, some values frequent and
most of them rare: skewed and correlated, as tables about people are. Nothing is drawn and nothing
is read; the same universe and size give the same table always.

Source: analysts-verified:H8b (a simulation on stand-in data predicts within a factor of two where
a bound does not).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.parameters import count
from discreet.queries.synopses.synopsis import Synopsis
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

CLASSES = 4
_GOLDEN = (5**0.5 - 1) / 2


def surrogate(universe: Universe, records: int) -> NDArray[np.int64]:
    """Whole counts over an explicit universe that add up to ``records``."""
    universe.require_explicit(method="invented data")
    distribution = np.zeros(universe.size)
    shares = 0.5 ** np.arange(CLASSES)
    for kind, share in enumerate(shares / shares.sum()):
        joint = np.ones(1)
        for axis, size in enumerate(universe.shape):
            joint = np.multiply.outer(joint, _skewed(size, kind, axis)).ravel()
        distribution += share * joint
    # Every n-th part of the total lies in one cell: rounding that adds up.
    steps = np.floor(np.cumsum(distribution) / distribution.sum() * count("records", records) + 0.5)
    return np.asarray(np.diff(steps, prepend=0.0), dtype=np.int64)


def rmse(synopsis: Synopsis, workload: Workload, counts: NDArray[np.int64]) -> float:
    """The root mean squared error on counts that are public."""
    errors = synopsis.answers(workload) - workload.answers(counts)
    return float(np.sqrt(np.mean(errors**2)))


def _skewed(size: int, kind: int, axis: int) -> NDArray[np.float64]:
    """Shares of values that fall off from a peak, which each class has elsewhere."""
    peak = int(size * ((1 + kind * CLASSES + axis) * _GOLDEN % 1.0))
    away = np.abs(np.arange(size) - peak)
    weights = np.exp(-3.0 * away / size) + 0.02
    return np.asarray(weights / weights.sum())
