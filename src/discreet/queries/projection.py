"""The projection mechanism: noise on every answer, then the nearest answers that data could give.

The answers of n records lie in n times the convex hull K of the workload's columns. Independent
noise ν leaves it; the nearest point â of n K to the noisy answers obeys

    |â - a|² ≤ ⟨ν, â - a⟩ ≤ n (max_j ν·w_j - min_j ν·w_j)

over the columns w_j, since the angle at the projection is obtuse. For noise of standard deviation σ
that is sub-Gaussian, and columns in a ball of radius R, the mean of the right side is at most
2 n σ R √(2 ln N) with N columns: it does not grow with the number of queries beyond R. So many
queries on few records gain, by a factor that grows with their number, and with few queries nothing
is lost, for a projection never lengthens the error: |â - a| ≤ |ν|.

Source: 000b:B45. Errata: the print has √192 in the statement and 16 in the proof, whose own lemma
gives 32; here the noise is that of the spend and the constant is proved as above. Frank–Wolfe
with steps between vertices replaces the quadratic programme; its gap g only adds to the bound,
|z - a|² ≤ ⟨ν, z - a⟩ + g, whatever the iterate z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property, reduce

import numpy as np

from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count, positive
from discreet.mechanisms import DiscreteLaplace
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.frank_wolfe import AtMost, Exactly, Hull, nearest
from discreet.queries.independent import IndependentNoise
from discreet.queries.record_count import (
    NoisyRecordCount,
    PublicCount,
    RecordCount,
    count_records,
    require_size,
)
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.answers import cell_weights
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.families import All
from discreet.queries.workload.workload import Product, Workload

MOST_KEPT = 1 << 20
"""Noisy answers up to which they are kept beside the projected ones."""
_FAR = 6.0
"""Standard deviations above a noisy total that the number of records exceeds once in 1e8 or so."""


@dataclass(frozen=True)
class ProjectionMechanism:
    """A workload over an explicit universe, a spend, and how near the projection must come.

    With ``PublicCount`` the total is kept. With ``NoisyRecordCount`` it is measured as one more
    query, and estimates may have any total up to six standard deviations above it.

    Guarantee: the event of independent noise on the answers; the projection is post-processing.
    Bias: estimates shrink towards the inside of K, so sparse regions come out too large.
    ``iterations`` bound the time; ``gap`` is a share of the bound on the squared error.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public.

    Source: 000b:B45.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount = field(default_factory=NoisyRecordCount)
    records: int = 1
    iterations: int = 5000
    gap: float = 0.01
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse universes without room, weights beyond [0, 1], and no iterations."""
        require_size(self.size)
        self.workload.universe.require_explicit(method="the projection mechanism")
        object.__setattr__(self, "records", count("records", self.records))
        object.__setattr__(self, "iterations", count("iterations", self.iterations))
        positive("gap", self.gap)
        self.noisy  # noqa: B018 - refuses weights beyond [0, 1] and spends of another definition

    @cached_property
    def noisy(self) -> IndependentNoise:
        """The release that is paid for; where records come and go, with the total."""
        workload = self.workload
        if isinstance(self.size, NoisyRecordCount):
            total = Product(tuple(All(size) for size in workload.universe.shape))
            workload = Workload(workload.universe, (*workload.products, total))
        return IndependentNoise(
            workload, self.spend, self.size, records=self.records, randomness=self.randomness
        )

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.noisy.event

    def error_bound(self, records: int) -> float:
        """A bound on the expected root mean squared error of a query, for so many records.

        The smaller of noise alone and the bound of the projection, without what the gap adds.
        """
        asked = self.noisy.workload
        squared = expected_squared_error(
            records=count("records", records),
            deviation=self.noisy.rmse,
            radius=radius(asked, self._hull(float(records))),
            columns=asked.universe.size + 1,
            scale=self.noisy.rmse / math.sqrt(2) if self._laplace else 0.0,
        )
        return min(self.noisy.rmse, math.sqrt(squared / asked.queries))

    @property
    def _laplace(self) -> bool:
        return isinstance(self.noisy.noise, DiscreteLaplace)

    def _hull(self, total: float) -> Exactly | AtMost:
        return Exactly(total) if isinstance(self.size, PublicCount) else AtMost(total)

    def release(self, counts: Counted) -> HistogramSynopsis:
        """Measure, project, and keep the estimated counts that give the nearest answers.

        Noisy answers are kept beside them, if they are at most 2**20: they are without bias.
        """
        universe, asked = self.workload.universe, self.noisy.workload
        table = cell_counts(counts, universe)
        noisy = self.noisy.release(table)
        answers = noisy.answers(asked)
        if isinstance(self.size, PublicCount):
            total = count_records(self.size, table, None)
        else:
            total = max(float(answers[-1]) + _FAR * self.noisy.rmse, 1.0)
        hull = self._hull(total)
        gap = self.gap * total * self.noisy.rmse * radius(asked, hull)
        found = nearest(asked, answers, hull, gap=gap, iterations=self.iterations)
        before = noisy if asked.queries <= MOST_KEPT else None
        return HistogramSynopsis(universe, found.counts, self.event, unprocessed=before)


def expected_squared_error(
    *, records: int, deviation: float, radius: float, columns: int, scale: float = 0.0
) -> float:
    """A bound on the expected squared length of the error of all answers: 000b:B45, corrected.

    2 n (σ R √(2 ln N) + b ln N). For Gaussian noise b = 0; sums of Laplace noise with weights in
    [0, 1] are sub-gamma, and b is its ``scale``, σ/√2. Noise on whole numbers counts as its
    continuous form.

    >>> round(expected_squared_error(records=1000, deviation=10, radius=4, columns=256))
    266417
    """
    logarithm = math.log(columns)
    longest = deviation * radius * math.sqrt(2 * logarithm) + scale * logarithm
    return 2 * records * longest


def radius(workload: Workload, hull: Hull) -> float:
    """The largest distance of a vertex from the mean column, at one record."""
    shape, cells = workload.universe.shape, workload.universe.size
    squares = np.zeros(shape)
    for product in workload.products:
        norms = [family.gram().diagonal() for family in product.families]
        squares += reduce(np.multiply.outer, norms)
    mean = workload.answers(np.full(cells, 1 / cells))
    middle = float(mean @ mean)
    far = float((squares.ravel() - 2 * cell_weights(workload, mean)).max()) + middle
    return math.sqrt(max(far, middle * hull.with_origin, 0.0))
