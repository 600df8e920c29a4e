"""The matrix mechanism: measure a strategy with noise, answer the workload by least squares.

Guarantee: the event of one additive release of the strategy's answers, whose sensitivity is that
of one record; everything after it is post-processing. Records count once: under ``Person`` bound
contributions first and multiply the sensitivity, ``records``.

Source: 004b:A4, A6, A7. Errata: the last line of Fig. 4.2 must read ans = W x̄. Proof:
``proofs/matrix.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import (
    Reading,
    WholeNoise,
    deviation,
    is_laplace,
    least_error,
    readings,
)
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.answer_noise.product_noise import ProductNoise
from discreet.queries.matrix.measuring import counts_by, measuring
from discreet.queries.matrix.product import ProductStrategy, gaussian_strategy, laplace_strategy
from discreet.queries.matrix.reconstruction import LeastSquares, Reconstruction
from discreet.queries.matrix.stored_strategy import can_keep
from discreet.queries.matrix.union import UnionStrategy, beside_total, whole
from discreet.queries.record_count import NoisyRecordCount, RecordCount, require_size
from discreet.queries.synopses.partial_tables import PartialTable, PartialTables
from discreet.queries.synopses.synopsis import HistogramSynopsis, Synopsis
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.universe import LARGEST
from discreet.queries.workload.workload import Product, Workload


@dataclass(frozen=True)
class MatrixMechanism:
    """A workload, a strategy for it and a spend.

    ``strategy`` is searched for if it is not given: p-Identity products for Laplace noise, the
    Gaussian optimum on each attribute for Gaussian noise; (epsilon, delta) permits both, and the
    better is taken. The universe may have any size as long as the attributes that the strategy
    touches together have at most 2**24 cells: only those are counted.
    With ``PublicCount`` the sum of all counts is exact and costs nothing: least squares keeps it
    wherever that changes anything, and strategies are compared beside it.
    With ``NoisyRecordCount`` nothing is bought apart: no number of records is needed. Beyond
    2**29 records in one measurement it may saturate: private still, and too small.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public.

    Guarantee: the event of one additive release of the strategy's answers, at their exact
    sensitivity.

    Source: 004b:A4, A7. Proof: ``proofs/matrix.md``.
    """

    workload: Workload
    spend: Guarantee
    strategy: ProductStrategy | UnionStrategy | None = None
    size: RecordCount = field(default_factory=NoisyRecordCount)
    records: int = 1
    reconstruction: Reconstruction = field(default_factory=LeastSquares)
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse universes without room for one number per touched cell; find the strategy."""
        require_size(self.size)
        object.__setattr__(self, "records", count("records", self.records))
        if self.strategy is None:
            shape = self.workload.universe.shape
            kept = {place for product in self.workload.products for place in product.kept_places}
            _require_room(math.prod(shape[place] for place in kept))
            object.__setattr__(self, "strategy", self._searched())
        for cells in self._union.cells:
            _require_room(cells)
            self.reconstruction.require(cells)

    def _searched(self) -> ProductStrategy:
        """One strategy for each noise that the spend permits, and the better of them."""

        def error(found: ProductStrategy) -> float:
            given = (self.spend, self.size, self.records, SYSTEM)
            noise = measuring(whole(found), *given)
            known = beside_total(whole(found), self.size)
            return deviation(noise) ** 2 * known.trace(self.workload)

        given = readings(self.spend)
        return least_error(given, lambda each: _search(each)(self.workload, self.size), error)

    @cached_property
    def _union(self) -> UnionStrategy:
        assert self.strategy is not None
        given = self.strategy if isinstance(self.strategy, UnionStrategy) else whole(self.strategy)
        return beside_total(given, self.size)

    @cached_property
    def noise(self) -> WholeNoise:
        """The mechanism that measures, on whole steps."""
        given = (self.spend, self.size, self.records, self.randomness)
        return measuring(self._union, *given)

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.noise.event

    @cached_property
    def _variance(self) -> float:
        """The variance of one measurement, in squared steps."""
        return deviation(self.noise) ** 2

    @cached_property
    def expected_error(self) -> float:
        """The expected total squared error over all queries, weighted; no data is read."""
        return self._variance * self._union.trace(self.workload)

    @property
    def rmse(self) -> float:
        """The expected root mean squared error of a query, for a workload of equal weights."""
        return float((self.expected_error / self.workload.queries) ** 0.5)

    def deviations(self, workload: Workload) -> Floats:
        """The standard deviation of each answer by least squares, before anything is spent.

        Contract: a workload that follows from the strategy; others are refused.
        """
        return np.concatenate([self._deviations(product) for product in workload.products])

    def _deviations(self, product: Product) -> Floats:
        place = self._union.answering(product)
        part = self._union.parts[place]
        part.trace_of(product)
        scale = self._variance * self._union.step(place) ** 2
        return np.asarray(np.sqrt(scale * part.variances(product)))

    def release(self, counts: Counted) -> HistogramSynopsis | PartialTables:
        """Measure exact counts by the touched attributes, and reconstruct.

        A histogram if all attributes are touched by one product, else tables by some of them. What
        another reconstruction than least squares makes has that of least squares beside it.
        """
        union, universe = self._union, self.workload.universe
        exact = [
            part.on_touched.measure(counts_by(counts, universe, part.touched, self.size), weight)
            for weight, part in zip(union.weights, union.parts, strict=True)
        ]
        noisy = self.noise.release(np.concatenate([part.ravel() for part in exact]))
        measured, start = [], 0
        for place, part in enumerate(exact):
            values = noisy[start : start + part.size].reshape(part.shape) * union.step(place)
            measured.append(values)
            start += part.size
        plain = self._estimated(measured, LeastSquares(), None)
        if isinstance(self.reconstruction, LeastSquares):
            return plain
        return self._estimated(measured, self.reconstruction, plain)

    def _estimated(
        self, measured: Sequence[Floats], by: Reconstruction, unprocessed: Synopsis | None
    ) -> HistogramSynopsis | PartialTables:
        """The synopsis by one reconstruction, with the one by least squares beside another."""
        universe = self.workload.universe
        tables = tuple(
            PartialTable(part.touched, by.counts(part.on_touched, values, self.size))
            for part, values in zip(self._union.parts, measured, strict=True)
        )
        # Only least squares is a linear function of the measurements.
        noise = self._answer_noise() if unprocessed is None else None
        if len(tables) == 1 and len(tables[0].places) == len(universe.shape):
            counts = tables[0].counts.ravel()
            return HistogramSynopsis(universe, counts, self.event, noise, unprocessed)
        return PartialTables(universe, tables, self.event, noise, unprocessed)

    def _answer_noise(self) -> ProductNoise | None:
        """What is known of the noise in answers by least squares: all of it, if they are few."""
        if not can_keep(self._union):
            return None
        return ProductNoise(distribution_of(self.noise, step=1.0), self._union)


def _search(reading: Reading) -> Callable[[Workload, RecordCount], ProductStrategy]:
    return laplace_strategy if is_laplace(reading) else gaussian_strategy


def _require_room(cells: int) -> None:
    if cells > LARGEST:
        raise InvalidParameter(
            code="universe_too_large",
            expectation=f"at most {LARGEST} cells of attributes that are measured together",
            received=cells,
            remedy="Use MarginalMechanism for queries by few attributes each, or coarser bins.",
        )
