"""Mutual information of an attribute and its parents, and how far one record moves it.

Scores are n I, the information times the number of records, so that they need no number of records.
With g(c) = c ln c, n I = Σ g(cells) + g(n) - Σ g(values) - Σ g(parents). A record that comes adds
h(c) = g(c + 1) - g(c) in one place of each: h(cell) + h(n) - h(value) - h(parents). Since
0 = h(0) ≤ h(cell) ≤ h(value), h(parents) ≤ h(n), that is at most h(n) either way. The number of
records is private then: g is continued in a straight line above a public ``reach``, after which h
is at most h(reach) everywhere, and the same argument holds whatever the number is.

Where a record is exchanged for another n is public, and the bounds are those of the paper.

Source: 004b:A13 (Zhang and others, PrivBayes, 2017). Proof: ``proofs/privbayes.md``.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.parameters import rounded_up

STEPS = 1 << 8
"""Steps of a score for one nat."""
_SLACK = 3
"""Steps for rounding two scores, and for sums of doubles below 2**32 records."""
_UP = 1 + 2.0**-40


def exchanged(records: int) -> float:
    """How far n I may move if one of ``records`` records becomes another, in nats; rounded up.

    >>> round(exchanged(1000) / 1000 / math.log(2), 7)
    0.020817
    """
    n = records
    if n == 1:
        return 0.0
    return _UP * (2 * math.log((n + 1) / 2) + (n - 1) * math.log1p(2 / (n - 1)))


def exchanged_binary(records: int) -> float:
    """The same where the attribute, or its parents together, have two values.

    >>> round(exchanged_binary(1000) / 1000 / math.log(2), 7)
    0.0114078
    """
    n = records
    if n == 1:
        return 0.0
    return _UP * (math.log(n) + (n - 1) * math.log1p(1 / (n - 1)))


def added(reach: int) -> float:
    """How far n I, continued above ``reach``, may move if one record comes or goes."""
    return _UP * _h(reach)


def in_steps(moved: float, records: int) -> int:
    """The sensitivity of a score in steps, if a person has several records."""
    return math.ceil(rounded_up(Fraction(moved) * records * STEPS)) + _SLACK


def score(table: NDArray[np.int64], reach: int | None = None) -> float:
    """n I of the first axis and all others together, in whole steps."""
    flat = table.reshape(table.shape[0], -1)
    parts = (flat, flat.sum(keepdims=True), flat.sum(axis=1), flat.sum(axis=0))
    cells, whole, values, parents = (float(_g(part, reach).sum()) for part in parts)
    return float(round((cells + whole - values - parents) * STEPS))


def _g(counts: NDArray[np.int64], reach: int | None) -> Floats:
    """c ln c, in a straight line from the public end on."""
    c = counts.astype(np.float64)
    found = np.where(c > 1, c * np.log(np.maximum(c, 1.0)), 0.0)
    if reach is None:
        return found
    line = reach * math.log(reach) + (c - reach) * _h(reach)
    return np.where(c > reach, line, found)


def _h(count: int) -> float:
    """(c + 1) ln (c + 1) - c ln c."""
    return math.log1p(count) + count * math.log1p(1 / count) if count else 0.0
