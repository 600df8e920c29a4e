"""Independent noise on every query: no answer depends on another analyst's question.

Guarantee: the event of one Gaussian release of as many numbers as the public padding allows, each
of which one exchanged record moves by at most one. Analysts: perfect; an answer is a function of
the data, of its own query and of fresh noise whose size is public.

Source: analysts-verified:H4 ("Planner", baselines). Proof: ``proofs/analysts-baselines.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
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
from discreet.queries.record_count import MOST, PublicCount, counted
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.linear_query import PLACES, LinearQuery, Region, Weights
from discreet.queries.workload.universe import Universe

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class IndependentNoise:
    """Room for ``queries`` answers, however many are asked; answers are shares of the records."""

    universe: Universe
    queries: int
    spend: Guarantee
    size: PublicCount
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be priced, before any data is seen."""
        self.universe.require_explicit(method="independent noise")
        require_public_count(self.size)
        for name in ("queries", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if self.size.records >= MOST:
            raise InvalidParameter(
                code="records_too_many",
                expectation=f"fewer than {MOST} records",
                received=self.size.records,
                remedy="Sums are exact up to there; use the noisy histogram.",
            )
        _ = self.noise

    @cached_property
    def noise(self) -> Noise:
        """Gaussian noise on steps of 2**-20 records."""
        moved = sqrt_above(Fraction(self.queries)) * self.records * (1 << PLACES)
        return gaussian_noise(self.spend, moved, self.randomness)

    @property
    def event(self) -> Event:
        """What one release of all answers costs."""
        return self.noise.event

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of an answer, as a share of the records."""
        return float(law_of(self.noise, step=2.0**-PLACES).std) / self.size.records

    def predicted(self) -> PredictedError:
        """Errors before anything is spent."""
        return normal_errors([(self.deviation, float(self.queries))])

    def release(self, counts: Counted, queries: Sequence[LinearQuery]) -> Floats:
        """An answer to each query; all of them at once, and only once for the event."""
        if len(queries) > self.queries:
            raise InvalidParameter(
                code="queries_beyond_padding",
                expectation=f"at most the public number of queries, {self.queries}",
                received=len(queries),
                remedy="Leave some out, or plan for more.",
            )
        for query in queries:
            # Only these two keep their promise that weights lie in [0, 1] on the grid.
            if type(query) not in (Weights, Region) or query.cells != self.universe.size:
                raise InvalidParameter(
                    code="query_misfit",
                    expectation=f"queries, Weights or Region, over {self.universe.size} cells",
                    received=type(query).__name__,
                    remedy="Write Weights(values), or query_of(workload, place).",
                )
        table = cell_counts(counts, self.universe)
        counted(self.size, table, None)
        held = table.astype(np.float64)
        # Weights on the grid 2**-20 and fewer than 2**32 records: sums are exact in doubles.
        steps = [round(query.answer(held) * (1 << PLACES)) for query in queries]
        padded = np.array(steps + [0] * (self.queries - len(steps)), dtype=np.int64)
        noisy = np.asarray(self.noise.release(padded), dtype=np.float64)
        return np.asarray(noisy[: len(queries)] / (float(1 << PLACES) * self.size.records))
