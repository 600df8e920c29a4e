"""The matrix mechanism: measure a strategy with noise, answer the workload by least squares.

Guarantee: the event of one additive release of the strategy's answers, whose sensitivity is that
of one record; everything after it is post-processing. Records count once: under ``Person`` bound
contributions first and multiply the sensitivity, ``records``.

Source: 004b:A4, A6. Errata: the last line of Fig. 4.2 must read ans = W x̄.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.event import Event
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import count, exact
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, Gaussian
from discreet.mechanisms.grid import sqrt_above
from discreet.mechanisms.intervals.law import law_of
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.counting import Counted, cell_counts
from discreet.queries.matrix.product import ProductStrategy, gaussian_strategy, laplace_strategy
from discreet.queries.synopsis import Histogram
from discreet.queries.workload import Workload

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MatrixMechanism:
    """A workload, a strategy for it and a spend.

    ``strategy`` is searched for if it is not given: p-Identity products under ``PureDP``, the
    Gaussian optimum on each attribute otherwise.
    """

    workload: Workload
    spend: Guarantee
    strategy: ProductStrategy | None = None
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse universes without room for one number per cell, and find the strategy."""
        self.workload.universe.require_explicit(method="the matrix mechanism")
        object.__setattr__(self, "records", count("records", self.records))
        if self.strategy is None:
            pure = isinstance(self.spend, PureDP)
            found = (laplace_strategy if pure else gaussian_strategy)(self.workload)
            object.__setattr__(self, "strategy", found)

    @property
    def _strategy(self) -> ProductStrategy:
        assert self.strategy is not None
        return self.strategy

    @cached_property
    def noise(self) -> DiscreteLaplace | DiscreteGaussian | Gaussian:
        """The mechanism that measures, on whole steps."""
        strategy, records = self._strategy, self.records
        far = Fraction(records) * sqrt_above(Fraction(strategy.l2_squared))
        match self.spend:
            case PureDP(epsilon=epsilon):
                return DiscreteLaplace(
                    epsilon=exact(epsilon),
                    sensitivity=records * strategy.l1,
                    randomness=self.randomness,
                )
            case ApproxDP(epsilon=epsilon, delta=delta) if delta > 0:
                return Gaussian(
                    epsilon=exact(epsilon),
                    delta=delta,
                    sensitivity=far,
                    randomness=self.randomness,
                )
            case ZCDP(rho=rho):
                return DiscreteGaussian(rho=exact(rho), sensitivity=far, randomness=self.randomness)
        raise InvalidParameter(
            code="spend_notion",
            expectation="a spend in PureDP, ApproxDP with delta > 0, or ZCDP",
            received=type(self.spend).__name__,
            remedy="Write spend=dp.PureDP(epsilon=1).",
        )

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.noise.event

    @cached_property
    def expected_error(self) -> float:
        """The expected total squared error over all queries, weighted; no data is read."""
        law = law_of(self.noise, step=float(self._strategy.step))
        return law.std**2 * self._strategy.trace(self.workload)

    @property
    def rmse(self) -> float:
        """The expected root mean squared error of a query, for a workload of equal weights."""
        return float((self.expected_error / self.workload.queries) ** 0.5)

    def release(self, counts: Counted) -> Histogram:
        """Measure exact counts over the universe, and reconstruct."""
        table = cell_counts(counts, self.workload.universe)
        exact_steps = self._strategy.measure(table.reshape(self.workload.universe.shape))
        noisy = self.noise.release(exact_steps.ravel()).reshape(exact_steps.shape)
        estimate = self._strategy.reconstruct(noisy)
        return Histogram(self.workload.universe, estimate.ravel(), self.event)
