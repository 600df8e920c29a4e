"""Ranges and quantiles of ordered values: a hierarchy of counts, or Haar wavelets.

Each person reports at one level, drawn at random, with all of epsilon. Levels overlap, so they are
reconciled by least squares with the known total of one; then any range is a difference of two
prefix sums, and quantiles are read off their monotone fit.

Source: 004a:C18, C19, C20.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count, probability
from discreet.local.hadamard import HadamardResponse, best_bits, walsh_hadamard
from discreet.local.masks import MaskedHadamard
from discreet.local.split import QuestionPart, SplitPeople
from discreet.local.tally import Tally

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OrderedShares:
    """Shares of ordered values, made to add up: ranges and quantiles follow."""

    shares: Floats

    def range(self, low: int, high: int) -> float:
        """The share of values from ``low`` to ``high``, both included."""
        if not 0 <= low <= high < len(self.shares):
            raise InvalidParameter(
                code="local_range",
                expectation=f"a range within 0 to {len(self.shares) - 1}",
                received=(low, high),
                remedy="Pass the first and the last value of the range.",
            )
        return float(self.shares[low : high + 1].sum())

    @cached_property
    def prefixes(self) -> Floats:
        """The distribution function: the nearest one that never falls, from 0 to 1."""
        from scipy.optimize import isotonic_regression

        rising = isotonic_regression(np.cumsum(self.shares)).x
        return np.clip(np.asarray(rising, dtype=np.float64), 0.0, 1.0)

    def quantile(self, q: float) -> int:
        """The least value whose prefix reaches ``q``."""
        reached = np.flatnonzero(self.prefixes >= float(probability("q", q)))
        return int(reached[0]) if len(reached) else len(self.shares) - 1


@dataclass(frozen=True, kw_only=True)
class RangeTree:
    """A tree of ``branching`` children over ``size`` ordered values.

    >>> tree = RangeTree(epsilon=1, size=1000, branching=4)
    >>> tree.levels
    5
    """

    epsilon: Number
    size: int
    branching: int

    def __post_init__(self) -> None:
        """Refuse trees without children."""
        count("size", self.size, least=2)
        count("branching", self.branching, least=2)

    @cached_property
    def levels(self) -> int:
        """How many levels there are below the root."""
        levels = 1
        while self.branching**levels < self.size:
            levels += 1
        return levels

    @cached_property
    def oracle(self) -> SplitPeople:
        """What people are asked: one part for each level."""
        whole = self.branching**self.levels
        parts = []
        for level in range(1, self.levels + 1):
            nodes = self.branching**level
            oracle = HadamardResponse(
                epsilon=self.epsilon, domain=nodes, bits=best_bits(self.epsilon)
            )
            parts.append(QuestionPart(((whole // nodes, nodes),), oracle))
        return SplitPeople(epsilon=self.epsilon, domain=self.size, parts=tuple(parts))

    def shares(self, tally: Tally) -> OrderedShares:
        """Shares of the values after least squares over all levels; the root is one."""
        levels = [each.shares for each in self.oracle.estimates(tally)]
        variances = [
            part.oracle.variance / own.people
            for part, own in zip(self.oracle.parts, self.oracle.tallies(tally), strict=True)
        ]
        return OrderedShares(least_squares(levels, variances, self.branching)[: self.size])


def least_squares(levels: list[Floats], variances: list[float], branching: int) -> Floats:
    """Leaves of a tree whose every node was measured, the root being exactly one.

    Upwards, a node's own estimate and the sum of its children are weighed by their variances;
    downwards, what children lack of their parent is shared equally.
    """
    best, spread = levels[-1], variances[-1]
    upward = [best]
    for own, variance in zip(levels[-2::-1], variances[-2::-1], strict=True):
        sums, of_sums = best.reshape(-1, branching).sum(axis=1), branching * spread
        best = (own / variance + sums / of_sums) / (1 / variance + 1 / of_sums)
        spread = 1 / (1 / variance + 1 / of_sums)
        upward.append(best)
    parent = np.ones(1)
    for found in upward[::-1]:
        children = found.reshape(-1, branching)
        parent = (children + ((parent - children.sum(axis=1)) / branching)[:, None]).ravel()
    return parent


@dataclass(frozen=True, kw_only=True)
class HaarRanges:
    """Haar wavelets over 2**``levels`` ordered values: at a level, which half of which node.

    The bit sent is that of the node's Hadamard code times the sign of the half: a row of the code
    of the halves whose last bit is set.
    """

    epsilon: Number
    levels: int

    def __post_init__(self) -> None:
        """Refuse more than 4096 values."""
        if count("levels", self.levels) > 12:
            raise InvalidParameter(
                code="local_haar_levels",
                expectation="at most 12 levels, which are 4096 values",
                received=self.levels,
                remedy="Use RangeTree.",
            )

    @cached_property
    def questions(self) -> tuple[MaskedHadamard, ...]:
        """The oracle of each level, the finest halves last."""
        return tuple(
            MaskedHadamard(
                epsilon=self.epsilon, domain=1 << level, masks=tuple(range(1, 1 << level, 2))
            )
            for level in range(1, self.levels + 1)
        )

    def shares(self, tallies: list[Tally]) -> OrderedShares:
        """Shares from the tally of each level: halves are (parent ± coefficient) / 2, from one.

        Level by level, other people are asked; divide them at random.
        """
        parent = np.ones(1)
        for oracle, tally in zip(self.questions, tallies, strict=True):
            oracle._check(tally)
            signs = np.zeros(oracle.size, dtype=np.int64)
            signs[np.array(oracle.masks)] = tally.table[:, 0] - tally.table[:, 1]
            found = walsh_hadamard(signs)[0::2] / (tally.people * oracle.contrast)
            parent = np.stack([parent + found, parent - found], axis=1).ravel() / 2
        return OrderedShares(parent)

    def map_values_to_level(self, level: int, values: Any) -> NDArray[np.int64]:
        """What the question of a level, the first being 1, asks about values."""
        if count("level", level) > self.levels:
            raise InvalidParameter(
                code="local_haar_levels",
                expectation=f"a level from 1 to {self.levels}",
                received=level,
                remedy="Level 1 asks for halves of all values, the last for single ones.",
            )
        return np.asarray(values, dtype=np.int64) >> (self.levels - level)
