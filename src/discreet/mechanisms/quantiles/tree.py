"""Any number of quantiles for one price: noisy counts in a tree over the candidates.

Every row counts at one node of each level, so noise grows with the height and not with the number
of levels asked for. All noise is drawn once; quantiles are read off the estimated ranks.

Source: modern-data:Q3, with estimates that agree instead of a descent. Proof:
``proofs/quantile_tree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.domain import Integers, Vector
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.metric import L1, L2
from discreet.core.parameters import count, probability
from discreet.core.space import Space
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.grid import sqrt_above
from discreet.mechanisms.quantiles.candidates import Values, read_counts
from discreet.mechanisms.quantiles.quantile import BLOCK
from discreet.mechanisms.quantiles.several import Several
from discreet.mechanisms.quantiles.tree_estimates import TreeShape, shapes

_MOST_NODES = 1 << 20


@dataclass(frozen=True, kw_only=True)
class QuantileTree(Several):
    """Quantiles from noisy counts of a tree whose leaves are the candidates.

    Contract: ``fan_out`` is how many children a node has; left out, the one with the least
    expected error. :meth:`ranks` gives the estimated ranks of all candidates, from which further
    quantiles are read for nothing.

    Assumptions: as for one quantile; ``levels`` are public.

    Guarantee: in proportion to the rows of a person, pure epsilon-differential privacy for each
    group by discrete Laplace noise; with ``by=EXPONENTIAL`` instead rho-zCDP by discrete Gaussian
    noise, where rho is ``epsilon**2 / 8``, the price of an exponential mechanism, and no pure
    privacy. Answers never decrease.

    >>> tree = QuantileTree(
    ...     levels=[i / 100 for i in range(1, 100)],
    ...     candidates=range(1024),
    ...     rank_sensitivity=1,
    ...     epsilon=1,
    ... )
    >>> tree.fan_out, tree.event
    (32, DiscreteLaplace(epsilon=1, steps=2))

    Source: modern-data:Q3. Proof: ``proofs/quantile_tree.md``.
    """

    fan_out: int | None = None

    def __post_init__(self) -> None:
        """Refuse trees that are too wide, and choose the shape where none was asked for."""
        super().__post_init__()
        candidates = len(self.candidates)
        if self.fan_out is None:
            best = min(shapes(candidates), key=self._mean_square)
            object.__setattr__(self, "fan_out", best.fan_out)
        else:
            object.__setattr__(self, "fan_out", count("fan_out", self.fan_out, least=2))
        if self.shape.nodes > _MOST_NODES:
            raise InvalidParameter(
                code="tree_too_wide",
                expectation=f"at most {_MOST_NODES} nodes over {candidates} candidates",
                received=self.fan_out,
                remedy="Leave fan_out= out.",
            )

    @cached_property
    def shape(self) -> TreeShape:
        """As high as the candidates need."""
        fan_out, height = self.fan_out or 2, 1
        while fan_out**height < len(self.candidates):
            height += 1
        return TreeShape(fan_out, height)

    @property
    def rounds(self) -> int:
        """One."""
        return 1

    @cached_property
    def noise(self) -> DiscreteLaplace | DiscreteGaussian:
        """What every node gets: a row counts in one node of each level."""
        return self._noise(self.shape.height)

    def _noise(self, height: int) -> DiscreteLaplace | DiscreteGaussian:
        return self.by.counting_noise(
            epsilon=self.epsilon,
            nodes=height,
            rows=self.rank_sensitivity,
            randomness=self.randomness,
        )

    def event_for(self, *, rows: int) -> Event:
        """What all answers cost a person with at most ``rows`` rows in the group."""
        many, height = count("rows", rows), self.shape.height
        numbers = Vector(Integers(), self.shape.nodes)
        if isinstance(self.noise, DiscreteLaplace):
            return self.noise.over(Space(numbers, L1())).event(many * height)
        apart = many * sqrt_above(Fraction(height))
        return self.noise.over(Space(numbers, L2())).event(apart)

    def ranks(self, counts: Any) -> EstimatedRanks:
        """Estimated ranks of all candidates in each group, paid for by :attr:`event`."""
        candidates, shape = len(self.candidates), self.shape
        whole = read_counts(counts, candidates, 1)
        step = max(1, BLOCK // shape.nodes)
        found = np.empty((len(whole), candidates))
        for begin in range(0, len(whole), step):
            block = whole[begin : begin + step]
            leaves = np.zeros((len(block), shape.leaves), dtype=np.int64)
            leaves[:, :candidates] = block
            noisy = self.noise.release(shape.counts(leaves))
            found[begin : begin + step] = shape.estimates(noisy)[:, :candidates].cumsum(axis=1)
        return EstimatedRanks.of(self.candidates, found)

    def release(self, counts: Any) -> Values:
        """The candidates whose estimated ranks reach the levels."""
        values = self.ranks(counts).quantiles(self.levels)
        return values if np.ndim(counts) == 2 else values[0]

    def rank_error(self, *, confidence: float, tied: int) -> float:
        """A bound of all estimated ranks at once; ties do not matter."""
        count("tied", tied)
        many = len(self.levels) * len(self.candidates)
        tail = (1 - float(probability("confidence", confidence))) / many
        return max(
            self._reach(self.shape.largest_variance(float(level)), tail) for level in self.levels
        )

    def _reach(self, variance: float, tail: float) -> float:
        """What a sum of noises exceeds, either way, with probability at most ``tail``.

        Weights are within ±1 and their squares add up to ``variance``. By Chernoff's bound.
        """
        odds = math.log(2 / tail) * (1 + 1e-12)
        if isinstance(self.noise, DiscreteGaussian):
            return self.noise.sigma * math.sqrt(2 * variance * odds)
        scale = self.noise.scale(kind=int)
        # The moment generating function is below that of the continuous law, 1 / (1 - t**2).
        slopes = np.linspace(0, 1, 1026)[1:-1]
        return float(np.min((odds - variance * np.log1p(-(slopes**2))) / slopes)) * scale

    def forecast(self) -> float:
        """As if errors were normal."""
        return math.sqrt(2 / math.pi * self._mean_square(self.shape))

    def _mean_square(self, shape: TreeShape) -> float:
        noise = self._noise(shape.height)
        # A Laplace variable of scale s has the variance 2 s**2.
        single = (2 if isinstance(noise, DiscreteLaplace) else 1) * noise.scale(kind=int) ** 2
        return single * shape.mean_variance()


@dataclass(frozen=True, eq=False)
class EstimatedRanks:
    """Noisy ranks of public candidates, from which any number of quantiles is read. Released.

    ``ranks`` are numbers of rows up to each candidate, of shape (groups, candidates), and never
    decrease; ``rows`` are the estimated numbers of rows of the groups.
    """

    candidates: tuple[Any, ...]
    ranks: Floats
    rows: Floats

    @classmethod
    def of(cls, candidates: tuple[Any, ...], estimates: Floats) -> EstimatedRanks:
        """From estimates that noise may have put out of order: midway between two that are not."""
        upper = np.maximum.accumulate(estimates, axis=1)
        lower = np.minimum.accumulate(estimates[:, ::-1], axis=1)[:, ::-1]
        return cls(candidates, (upper + lower) / 2, estimates[:, -1])

    def quantiles(self, levels: Any) -> Values:
        """The first candidates whose ranks reach each level: (groups, levels)."""
        places = [(self.ranks < float(q) * self.rows[:, None]).sum(axis=1) for q in levels]
        last = len(self.candidates) - 1
        values: Values = np.asarray(self.candidates)[np.minimum(np.stack(places, axis=-1), last)]
        return values
