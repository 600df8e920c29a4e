"""Distances between two answers, and between two data sets, for checking sensitivities.

Answers of different shape are infinitely far apart, and so are a NaN and a number: a
sensitivity claim that is silent about them is false.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

import numpy as np

from discreet.core.arrays import Floats

Distance: TypeAlias = Callable[[Any, Any], float]


def l1(first: object, second: object) -> float:
    """The sum of absolute differences.

    >>> l1([1, 2], [2, 0]), l1(3, 5), l1([1], [1, 2])
    (3.0, 2.0, inf)
    """
    return float(np.sum(_gaps(first, second)))


def l2(first: object, second: object) -> float:
    """The Euclidean distance."""
    return math.hypot(*_gaps(first, second))


def linf(first: object, second: object) -> float:
    """The greatest absolute difference."""
    return float(np.max(_gaps(first, second), initial=0.0))


def discrete(first: object, second: object) -> float:
    """Zero if the answers are equal, else one."""
    return 0.0 if first == second else 1.0


def symmetric_difference(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """How many rows must be added or removed to turn one data set into the other.

    >>> symmetric_difference("aab", "abc")
    2.0
    """
    here, there = Counter(first), Counter(second)
    return float((here - there).total() + (there - here).total())


def changed_rows(first: Sequence[Hashable], second: Sequence[Hashable]) -> float:
    """How many rows must be replaced; infinite if the numbers of rows differ.

    >>> changed_rows("aab", "abc"), changed_rows("a", "ab")
    (1.0, inf)
    """
    if len(first) != len(second):
        return math.inf
    return float((Counter(first) - Counter(second)).total())


def _gaps(first: object, second: object) -> Floats:
    here, there = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if here.shape != there.shape:
        return np.array([math.inf])
    same = (here == there) | (np.isnan(here) & np.isnan(there))
    gaps = np.zeros(here.shape)
    np.subtract(here, there, out=gaps, where=~same)
    return np.where(np.isnan(gaps), math.inf, np.abs(gaps)).ravel()
