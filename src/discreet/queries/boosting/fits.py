"""A table from noisy answers to a sample of queries. Nothing here sees data.

Source: 000a:H4 (the database that fits best), H5 (linear programming); 004b:A15 (multiplicative
weights); boosting-and-analysts:B5. Errata: the book's generators fail where nothing fits; these
return what fits best.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.queries.mwem.fitting import MeasuredQuery, Scaling, replay
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.net import check_net
from discreet.queries.synopses.lp_synthesis import synthesise
from discreet.queries.workload.families import Listed
from discreet.queries.workload.linear_query import LinearQuery
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

MOST_ENTRIES = 1 << 24
FINEST = 2.0**-20
"""Linear programs are rounded to no more than 2**20 rows for each cell."""


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct queries that were drawn, over ``cells`` cells with about ``total`` records."""

    queries: tuple[LinearQuery, ...]
    cells: int
    total: float

    def matrix(self) -> Floats:
        """A row of weights for each query."""
        return np.array([query.dense() for query in self.queries])


class Fit(ABC):
    """Finds a table of estimated counts near noisy answers."""

    def check(self, *, cells: int, sample: int) -> None:
        """Refuse what does not fit into memory."""
        if cells * sample > MOST_ENTRIES:
            raise InvalidParameter(
                code="universe_too_large",
                expectation=f"at most {MOST_ENTRIES} sampled queries times cells for this fit",
                received=cells * sample,
                remedy="Use fit=WeightsFit(), or a smaller sample.",
            )

    @abstractmethod
    def table(self, sample: Sample, noisy: Floats, *, spread: float, error: float) -> Floats:
        """Estimated counts, from noise of standard ``spread`` and most likely below ``error``."""


@dataclass(frozen=True)
class WeightsFit(Fit):
    """Multiplicative weights over the cells, ``passes`` times through all answers.

    Assumptions: answers were released.

    Guarantee: post-processing: no event of its own.

    Source: 004b:A15.
    """

    passes: int = 10

    def __post_init__(self) -> None:
        """Refuse no passes."""
        object.__setattr__(self, "passes", count("passes", self.passes))

    def check(self, *, cells: int, sample: int) -> None:
        """No matrix is written down."""

    def table(self, sample: Sample, noisy: Floats, *, spread: float, error: float) -> Floats:
        weights = MultiplicativeWeights(sample.cells)
        history = [
            MeasuredQuery(query, float(answer), spread)
            for query, answer in zip(sample.queries, noisy, strict=True)
        ]
        replay(weights, history, Scaling(), total=sample.total, passes=self.passes)
        return np.asarray(sample.total * weights.distribution)


@dataclass(frozen=True)
class LinearProgram(Fit):
    """Whole rows of synthetic data whose largest error on the sample is least.

    Assumptions: answers were released.

    Guarantee: post-processing: no event of its own.

    Source: 000a:H5.
    """

    def table(self, sample: Sample, noisy: Floats, *, spread: float, error: float) -> Floats:
        flat = Universe.of(cell=range(sample.cells))
        asked = Workload.of(flat, {"cell": Listed(sample.matrix())})
        wanted = min(max(error / sample.total, FINEST), 0.5)
        found = synthesise(asked, noisy / sample.total, error=wanted)
        return np.asarray(sample.total * found.distribution)


@dataclass(frozen=True)
class LeastSquaresFit(Fit):
    """The table nearest to the uniform one that is right on the sample; of any sign.

    Assumptions: answers were released.

    Guarantee: post-processing: no event of its own.

    Source: boosting-and-analysts:B5.
    """

    def table(self, sample: Sample, noisy: Floats, *, spread: float, error: float) -> Floats:
        """The uniform table and the least change to it."""
        uniform = np.full(sample.cells, sample.total / sample.cells)
        matrix = sample.matrix()
        change = np.linalg.lstsq(matrix, noisy - matrix @ uniform, rcond=None)[0]
        return np.asarray(uniform + change)


@dataclass(frozen=True, eq=False)
class NearestOfNet(Fit):
    """The database of a net whose largest error on the sample is least: brute force.

    Assumptions: answers were released; the net is public.

    Guarantee: post-processing: no event of its own.

    Source: 000a:H4.
    """

    net: Floats

    def check(self, *, cells: int, sample: int) -> None:
        """Refuse a net over other cells."""
        check_net(self.net, cells=cells)

    def table(self, sample: Sample, noisy: Floats, *, spread: float, error: float) -> Floats:
        """A row of the net, scaled."""
        answers = sample.total * (self.net @ sample.matrix().T)
        nearest = int(np.argmin(np.abs(answers - noisy).max(axis=1)))
        return np.asarray(sample.total * self.net[nearest])
