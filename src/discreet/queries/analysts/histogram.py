"""A noisy histogram whose total is known: one synopsis for every analyst and every query.

A record that is exchanged moves two cells by one each, √2 in the L2 norm. Since the total is
public, the mean of all noise is known too, and is taken out: a query's error is then the noise
along its weights less their mean.

Guarantee: the event of one Gaussian release of all cells. Analysts: perfect; no query is read.

Source: analysts-verified:H4 ("Planner": 5.97 per cell at (1, 1e-6)). Proof:
``proofs/analysts-baselines.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.distributions.distribution import law_of
from discreet.mechanisms.grid import sqrt_above
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.analysts.gaussian_noise import (
    Noise,
    PredictedError,
    gaussian_noise,
    normal_errors,
    require_public_count,
)
from discreet.queries.analysts.query_class import QueryClass
from discreet.queries.record_count import PublicCount, counted
from discreet.queries.synopses.synopsis import Histogram
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.universe import Universe

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class NoisyHistogram:
    """Noise on each cell of an explicit universe."""

    universe: Universe
    spend: Guarantee
    size: PublicCount
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be priced, before any data is seen."""
        self.universe.require_explicit(method="a noisy histogram")
        require_public_count(self.size)
        object.__setattr__(self, "records", count("records", self.records))
        _ = self.noise

    @cached_property
    def noise(self) -> Noise:
        """Gaussian noise on whole counts."""
        return gaussian_noise(self.spend, self.records * sqrt_above(Fraction(2)), self.randomness)

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.noise.event

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the noise of a cell, in records."""
        return float(law_of(self.noise, step=1).std)

    def deviation(self, weights: Floats) -> float:
        """The standard deviation of one query's answer, in records: spread ‖q - mean q‖."""
        held = np.asarray(weights, dtype=np.float64).ravel()
        return self.spread * float(np.linalg.norm(held - held.mean()))

    def predicted(self, asked: QueryClass, queries: int) -> PredictedError:
        """Errors as shares of the records, before anything is spent."""
        each = self.spread / self.size.records
        norms = asked.centred_norms(self.universe, count("queries", queries))
        return normal_errors([(each * norm, many) for norm, many in norms])

    def release(self, counts: Counted) -> Histogram:
        """Estimated counts, which add up to the public number of records."""
        table = cell_counts(counts, self.universe)
        total = counted(self.size, table, None)
        noisy = np.asarray(self.noise.release(table), dtype=np.float64)
        noisy += (total - noisy.sum()) / noisy.size
        return Histogram(self.universe, noisy, self.event)
