"""The stated law of a sampler, discrete or continuous, and the evidence against it.

Source: Agrawal 2020 for cells (see ``multinomial``); Massart 1990 for the constant in the
Dvoretzky-Kiefer-Wolfowitz bound on the Kolmogorov-Smirnov distance. Both hold at every
sample size, so a stated false-alarm rate is true and not only asymptotic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, cast

import numpy as np
from numpy.typing import NDArray

from discreet.audit.testers.finite import Table, table
from discreet.audit.testers.partition import BlockCells, CellPartition, IntervalCells
from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter

Values = NDArray[np.generic]


@dataclass(frozen=True)
class Evidence:
    """One test of one hypothesis: its name, its statistic and a valid p-value."""

    test: str
    statistic: float
    p_value: float


class StatedLaw(Protocol):
    """What a sampler claims to draw from."""

    def partition(self, levels: Floats) -> CellPartition:
        """Cells cut near the given cumulative probabilities."""

    def weigh(self, partition: CellPartition) -> Floats:
        """This law's probability of each cell of another law's partition."""

    def own_tests(self, values: Values) -> tuple[Evidence, ...]:
        """Tests that only this kind of law admits."""


@dataclass(frozen=True)
class DiscreteLaw:
    """A law on countably many outcomes, the common ones listed in ``window``.

    Contract: ``pmf`` is defined for every value a sampler might return and is zero on the
    impossible ones; a single impossible draw rejects the law.

    >>> die = DiscreteLaw.of({face: 1 / 6 for face in range(1, 7)})
    >>> die.pmf(3) == 1 / 6, die.pmf(7)
    (True, 0.0)
    """

    window: tuple[Hashable, ...]
    pmf: Callable[[Hashable], float]

    @classmethod
    def of(cls, law: Table) -> Self:
        """A finite law, written as a mapping from outcome to probability."""
        masses = {outcome: float(mass) for outcome, mass in table(law).items()}
        return cls(tuple(masses), lambda outcome: masses.get(outcome, 0.0))

    @classmethod
    def on_integers(cls, pmf: Callable[[int], float], *, low: int, high: int) -> Self:
        """A law on the integers; those outside [low, high] share one cell of the test."""

        def mass(outcome: Hashable) -> float:
            whole = isinstance(outcome, int) or (
                isinstance(outcome, float) and outcome.is_integer()
            )
            return float(pmf(int(cast("float", outcome)))) if whole else 0.0

        return cls(tuple(range(low, high + 1)), mass)

    @cached_property
    def masses(self) -> Floats:
        """The probabilities of the window, checked to be a part of a law."""
        masses = np.array([self.pmf(outcome) for outcome in self.window])
        if not (np.all(masses >= 0) and 0 < math.fsum(masses) <= 1 + 1e-9):
            raise InvalidParameter(
                code="not_a_law",
                expectation="probabilities of zero or more that sum to at most one",
                received=math.fsum(masses),
                remedy="Check the probability mass function.",
            )
        return masses

    @property
    def elsewhere(self) -> float:
        """The probability outside the window."""
        return max(0.0, 1.0 - math.fsum(self.masses))

    def partition(self, levels: Floats) -> BlockCells:
        """Neighbouring outcomes of the window, pooled at the given cumulative probabilities."""
        middles = np.cumsum(self.masses) - self.masses / 2
        raw = np.searchsorted(levels, middles)
        rest = int(raw[-1]) + (1 if self.elsewhere >= 1 - levels[-1] else 0)
        _, cells = np.unique([*raw, rest], return_inverse=True)
        pooled = _sums(cells, np.array([*self.masses, self.elsewhere]), int(cells.max()) + 1)
        cell_of = dict(zip(self.window, (int(cell) for cell in cells[:-1]), strict=True))
        shut = frozenset(o for o, m in zip(self.window, self.masses, strict=True) if m == 0)
        listed = {outcome: cell for outcome, cell in cell_of.items() if outcome not in shut}
        return BlockCells(pooled, listed, int(cells[-1]), lambda value: self.pmf(value) > 0)

    def weigh(self, partition: CellPartition) -> Floats:
        """This law's probability of each cell of another law's partition."""
        values = np.empty(len(self.window), dtype=object)
        values[:] = self.window
        cells = partition.locate(values)
        inside = cells >= 0
        return _sums(cells[inside], self.masses[inside], len(partition.masses))

    def own_tests(self, values: Values) -> tuple[Evidence, ...]:
        """None: cells see every discrete law."""
        del values
        return ()


@dataclass(frozen=True)
class ContinuousLaw:
    """A law on the line with a continuous, vectorised distribution function.

    >>> uniform = ContinuousLaw(lambda x: np.clip(x, 0, 1))
    >>> uniform.quantiles(np.array([0.25, 0.5])).round(6).tolist()
    [0.25, 0.5]
    """

    cdf: Callable[[Floats], Floats]

    def quantiles(self, levels: Floats) -> Floats:
        """Points at which the distribution function reaches the levels, by bisection."""
        reach = 1.0
        while self.cdf(np.array([-reach]))[0] > levels[0] or (
            self.cdf(np.array([reach]))[0] < levels[-1]
        ):
            reach *= 2
            if reach > 1e300:
                raise InvalidParameter(
                    code="not_a_law",
                    expectation="a distribution function that rises from zero to one",
                    remedy="Check the distribution function at large arguments.",
                )
        low, high = np.full(len(levels), -reach), np.full(len(levels), reach)
        for _ in range(120):
            middle = (low + high) / 2
            short = self.cdf(middle) < levels
            low, high = np.where(short, middle, low), np.where(short, high, middle)
        return high

    def partition(self, levels: Floats) -> IntervalCells:
        """Intervals between quantiles."""
        edges = np.unique(self.quantiles(levels))
        return IntervalCells(self._between(edges), edges)

    def weigh(self, partition: CellPartition) -> Floats:
        """This law's probability of each cell of another law's partition."""
        if not isinstance(partition, IntervalCells):
            raise InvalidParameter(
                code="laws_differ_in_kind",
                expectation="a wrong law that is continuous as well",
                received=type(partition).__name__,
                remedy="Compare continuous laws with continuous ones.",
            )
        return self._between(partition.edges)

    def own_tests(self, values: Values) -> tuple[Evidence, ...]:
        """The Kolmogorov-Smirnov distance, with Massart's bound on its tail."""
        ranked = np.sort(values.astype(np.float64))
        size = len(ranked)
        if not np.all(np.isfinite(ranked)):
            return (Evidence("finite values", math.inf, 0.0),)
        heights, steps = self.cdf(ranked), np.arange(size + 1) / size
        gap = float(max(np.max(steps[1:] - heights), np.max(heights - steps[:-1])))
        return (Evidence("Kolmogorov-Smirnov", gap, min(1.0, 2 * math.exp(-2 * size * gap**2))),)

    def _between(self, edges: Floats) -> Floats:
        return np.diff(np.concatenate([[0.0], self.cdf(edges), [1.0]]))


def scaled(law: ContinuousLaw, factor: float) -> ContinuousLaw:
    """The law of ``factor`` times a draw, the usual wrong law of a three-sided test."""
    return ContinuousLaw(lambda x: law.cdf(np.asarray(x) / factor))


def _sums(cells: NDArray[np.integer], masses: Floats, width: int) -> Floats:
    return np.bincount(cells, weights=masses, minlength=width).astype(np.float64)


def as_values(sample: object) -> Values:
    """The sample as a one-dimensional array in the order drawn."""
    if isinstance(sample, Mapping) or not hasattr(sample, "__len__") or len(sample) == 0:
        raise InvalidParameter(
            code="empty_sample",
            expectation="a non-empty sequence of draws in the order drawn",
            received=type(sample).__name__,
            remedy="Draw at least one value.",
        )
    if isinstance(sample, np.ndarray):
        return sample.ravel()
    values = np.empty(len(sample), dtype=object)
    values[:] = list(cast("list[Hashable]", sample))
    return values
