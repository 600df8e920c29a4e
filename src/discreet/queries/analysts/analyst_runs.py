"""One analyst's queries answered anew at a rho: by fresh noise, or by multiplicative weights.

Fresh noise on each query grows with the root of their number, multiplicative weights with its
logarithm, but they have to learn the data first. Which errs less is known from public numbers.

Source: analysts-verified:H5 (failing analysts). Proof: ``proofs/analysts-failing.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP
from discreet.core.parameters import Number
from discreet.noise import SYSTEM, Source
from discreet.queries.analysts.baselines import PaddedNoise
from discreet.queries.analysts.planning_game import weights_terms
from discreet.queries.analysts.query_set import Levels, RoundShape
from discreet.queries.mwem.mwem import MWEM
from discreet.queries.mwem.rounds import QueryRound
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.families import Listed
from discreet.queries.workload.linear_query import Weights
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

_CELL = "cell"
_TAIL = 0.05


@dataclass(frozen=True)
class AnalystRun(ABC):
    """Answers as many queries as one analyst has places, for ``rho``."""

    shape: RoundShape
    size: PublicCount
    rho: Number
    records: int = 1
    randomness: Source = SYSTEM

    @property
    @abstractmethod
    def event(self) -> Event:
        """What one run costs the data, whatever is asked."""

    @property
    @abstractmethod
    def error(self) -> float:
        """What answers are off by at most, as a share of the records: for comparing runs."""

    @abstractmethod
    def answers(self, table: Ints, rows: Levels) -> Floats:
        """Means of one analyst's queries, which are held in levels."""


@dataclass(frozen=True)
class FreshAnswers(AnalystRun):
    """Independent noise on each query."""

    @cached_property
    def noise(self) -> PaddedNoise:
        """For all places, used or not."""
        return PaddedNoise(
            self.shape.universe,
            self.shape.most,
            ZCDP(rho=self.rho),
            self.size,
            records=self.records,
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        return self.noise.event

    @property
    def error(self) -> float:
        """What the noise of no place exceeds, nineteen times of twenty."""
        return float(-ndtri(_TAIL / (2 * self.shape.most))) * self.noise.deviation

    def answers(self, table: Ints, rows: Levels) -> Floats:
        return self.noise.release(table, [Weights(row / self.shape.levels) for row in rows])


@dataclass(frozen=True)
class PrivateWeights(AnalystRun):
    """Private multiplicative weights: find the worst query, measure it, learn, and again.

    Contract: the number of rounds, and with it the event, follows from public numbers.
    """

    @property
    def rounds(self) -> int:
        """As many as make what is not learnt yet as small as the noise."""
        learning, noise = self._terms
        return max(1, min(round(learning / noise), self.shape.most))

    @property
    def error(self) -> float:
        """What is not learnt after so many rounds, and the noise of each of them."""
        learning, noise = self._terms
        return float(learning / self.rounds**0.5 + noise * self.rounds**0.5)

    @property
    def _terms(self) -> tuple[float, float]:
        learning, noise = weights_terms(
            np.ones(()),
            cells=self.shape.universe.size,
            most=self.shape.most,
            records=self.size.records,
            rho=float(self.rho) / self.records**2,
        )
        return learning, float(noise)

    @property
    def event(self) -> Event:
        # As many queries as rounds, and the one beside them: none is measured in turn.
        return self._mechanism(np.zeros((self.rounds, 1), dtype=self.shape.dtype)).event

    def answers(self, table: Ints, rows: Levels) -> Floats:
        """Of the estimate that was learnt; queries the run never measured included."""
        learnt = self._mechanism(rows).release(table.ravel())
        counts = np.asarray(learnt.counts).ravel()
        return np.asarray((rows / self.shape.levels) @ counts / counts.sum())

    def _mechanism(self, rows: Levels) -> MWEM:
        """The run for some queries; its price does not depend on them.

        Queries of zeros and ones alone would be measured on a grid of their own. The constant one
        half beside them keeps all runs on the same.
        """
        cells = rows.shape[1]
        weights = np.vstack([rows / self.shape.levels, np.full((1, cells), 0.5)])
        universe = Universe.of(**{_CELL: range(cells)})
        return MWEM(
            Workload.of(universe, {_CELL: Listed(weights)}),
            ZCDP(rho=self.rho),
            self.size,
            self.rounds,
            each=QueryRound(),
            records=self.records,
            randomness=self.randomness,
        )


def best_run(
    shape: RoundShape, size: PublicCount, rho: Number, records: int, randomness: Source
) -> AnalystRun:
    """The run with the smaller error, from public numbers."""
    fresh = FreshAnswers(shape, size, rho, records, randomness)
    weights = PrivateWeights(shape, size, rho, records, randomness)
    return min((fresh, weights), key=lambda run: run.error)
