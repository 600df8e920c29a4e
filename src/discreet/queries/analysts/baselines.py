"""Releases that no analyst's query influences: a noisy histogram, and noise on every query.

Every other release for a round is measured against these two.

Source: analysts-verified:H4 ("Planner", baselines: 5.97 per cell at (1, 1e-6) under Gaussian
noise; Laplace noise at epsilon 1 leaves 2.80). Proof: ``proofs/analysts-baselines.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import WholeNoise, least_noise
from discreet.mechanisms.grid import sqrt_above
from discreet.mechanisms.noise_choice import NoiseChoice
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.analysts.guarantee import require_public_count
from discreet.queries.analysts.predicted_error import (
    Deviations,
    PredictedError,
    predicted_errors,
)
from discreet.queries.analysts.query_class import QueryClass
from discreet.queries.answer_noise.centred_cells import CentredCells
from discreet.queries.matrix.measuring import ANY
from discreet.queries.record_count import MOST, PublicCount, count_records
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.linear_query import PLACES, LinearQuery, Region, Weights
from discreet.queries.workload.universe import Universe


@dataclass(frozen=True)
class NoisyHistogram:
    """Noise on each cell of an explicit universe: one synopsis for every analyst and every query.

    A record that is exchanged moves two cells by one each, √2 in the L2 norm and 2 in L1. Since the
    total is public, the mean of all noise is known too, and is taken out: a query's error is then
    the noise along its weights less their mean.

    Guarantee: the event of one additive release of all cells. Analysts: perfect; no query is read.

    Assumptions: data are exact counts over the universe. Neighbours exchange the records of one
    person, at most ``records`` of them; their number is public.

    Source: analysts-verified:H4. Proof: ``proofs/analysts-baselines.md``.
    """

    universe: Universe
    spend: Guarantee
    size: PublicCount
    records: int = 1
    randomness: Source = SYSTEM
    choice: NoiseChoice = ANY

    def __post_init__(self) -> None:
        """Refuse what cannot be priced, before any data is seen."""
        self.universe.require_explicit(method="a noisy histogram")
        require_public_count(self.size)
        object.__setattr__(self, "records", count("records", self.records))
        _ = self.noise

    @cached_property
    def noise(self) -> WholeNoise:
        """Noise on whole counts: of all that the spend permits, the least."""
        return least_noise(
            self.choice.readings(self.spend),
            l1=2 * self.records,
            l2=self.records * sqrt_above(Fraction(2)),
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.noise.event

    @cached_property
    def spread(self) -> float:
        """The standard deviation of the noise of a cell, in records."""
        return float(distribution_of(self.noise, step=1).std)

    def deviation(self, weights: Floats) -> float:
        """The standard deviation of one query's answer, in records: spread ‖q - mean q‖."""
        held = np.asarray(weights, dtype=np.float64).ravel()
        return self.spread * float(np.linalg.norm(held - held.mean()))

    def predicted(self, asked: QueryClass, queries: int) -> PredictedError:
        """Errors as shares of the records, before anything is spent."""
        each = self.spread / self.size.records
        kinds = asked.centred_norms(self.universe, count("queries", queries))
        found = [Deviations(each * norm, many, 1 / norm**2) for norm, many in kinds]
        return predicted_errors(found, self.noise)

    def release(self, counts: Counted) -> HistogramSynopsis:
        """Estimated counts, which add up to the public number of records."""
        table = cell_counts(counts, self.universe)
        total = count_records(self.size, table, None)
        noisy = np.asarray(self.noise.release(table), dtype=np.float64)
        noisy += (total - noisy.sum()) / noisy.size
        kept = CentredCells(distribution_of(self.noise, step=1), self.universe.size)
        return HistogramSynopsis(self.universe, noisy, self.event, kept)


@dataclass(frozen=True)
class PaddedNoise:
    """Independent noise on every query, with room for ``queries`` of them, however many are asked.

    Answers are shares of the records. No answer depends on another analyst's query.

    Guarantee: the event of one additive release of as many numbers as the public padding allows,
    each of which one exchanged record moves by at most one. Analysts: perfect; an answer is a
    function of the data, of its own query and of fresh noise whose size is public.

    Assumptions: data are exact counts over the universe. Neighbours exchange the records of one
    person, at most ``records`` of them; their number is public. ``queries`` is public and at least
    as many as will be asked.

    Source: analysts-verified:H4. Proof: ``proofs/analysts-baselines.md``.
    """

    universe: Universe
    queries: int
    spend: Guarantee
    size: PublicCount
    records: int = 1
    randomness: Source = SYSTEM
    choice: NoiseChoice = ANY

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
    def noise(self) -> WholeNoise:
        """Noise on steps of 2**-20 records: of all that the spend permits, the least."""
        one = self.records * (1 << PLACES)
        return least_noise(
            self.choice.readings(self.spend),
            l1=self.queries * one,
            l2=sqrt_above(Fraction(self.queries)) * one,
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What one release of all answers costs."""
        return self.noise.event

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of an answer, as a share of the records."""
        return float(distribution_of(self.noise, step=2.0**-PLACES).std) / self.size.records

    def predicted(self) -> PredictedError:
        """Errors before anything is spent."""
        return predicted_errors([Deviations(self.deviation, float(self.queries))], self.noise)

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
        count_records(self.size, table, None)
        held = table.astype(np.float64)
        # Weights on the grid 2**-20 and fewer than 2**32 records: sums are exact in doubles.
        steps = [round(query.answer(held) * (1 << PLACES)) for query in queries]
        padded = np.array(steps + [0] * (self.queries - len(steps)), dtype=np.int64)
        noisy = np.asarray(self.noise.release(padded), dtype=np.float64)
        return np.asarray(noisy[: len(queries)] / (float(1 << PLACES) * self.size.records))
