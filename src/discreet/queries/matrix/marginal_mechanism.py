"""Marginals of universes of any size: measure their residuals together, answer by least squares.

Guarantee: the event of one additive release of all measured numbers, whose sensitivity is exact;
everything after it is post-processing. The universe is never written down: only the workload's own
marginals are counted.

Source: 004b:A4, A7; 004d:F23. Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import Reading, WholeNoise, deviation, is_laplace, least_error
from discreet.mechanisms.noise_choice import NoiseChoice
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.answer_noise.marginal_noise import MarginalNoise
from discreet.queries.matrix.marginal_strategy import MarginalStrategy
from discreet.queries.matrix.measuring import ANY, counts_by, measuring
from discreet.queries.matrix.residual_weights import gains, residual_strategy, table_strategy
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount, require_size
from discreet.queries.synopses.marginal_synopsis import MarginalSynopsis
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.universe import LARGEST
from discreet.queries.workload.workload import Places, Workload


@dataclass(frozen=True)
class MarginalMechanism:
    """A workload of marginals, or of queries on few attributes each, and a spend.

    With ``NoisyRecordCount`` nothing is bought apart: the total is one of the measured numbers, as
    precise as the workload needs it. Attributes are treated as unordered: for ranges of many values
    :class:`MatrixMechanism` is better. Beyond 2**31 records measurements may saturate: private
    still, and too small. ``choice`` says which kinds of noise are compared.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public.

    Guarantee: the event of one additive release of all measured numbers, at their exact
    sensitivity.

    Source: 004b:A7. Proof: ``proofs/marginals.md``.
    """

    workload: Workload
    spend: Guarantee
    strategy: MarginalStrategy | None = None
    size: RecordCount = field(default_factory=NoisyRecordCount)
    records: int = 1
    randomness: Source = SYSTEM
    choice: NoiseChoice = ANY

    def __post_init__(self) -> None:
        """Refuse marginals that do not fit into memory, and find the strategy."""
        require_size(self.size)
        object.__setattr__(self, "records", count("records", self.records))
        shape = self.workload.universe.shape
        for product in self.workload.products:
            cells = math.prod(shape[place] for place in product.kept_places)
            if cells > LARGEST:
                raise InvalidParameter(
                    code="universe_too_large",
                    expectation=f"marginals of at most {LARGEST} cells",
                    received=cells,
                    remedy="Ask for marginals of fewer attributes, or use coarser bins.",
                )
        if self.strategy is None:
            object.__setattr__(self, "strategy", self._searched())
        for table in self._strategy.tables:
            if table.sizes != tuple(shape[place] for place in table.places):
                raise InvalidParameter(
                    code="strategy_misshapen",
                    expectation="tables of the universe's own attributes and sizes",
                    received=(table.places, table.sizes),
                    remedy="Leave the strategy out, and one is found.",
                )
        missing = [places for places in gains(self.workload) if places not in self.variances]
        if missing:
            raise InvalidParameter(
                code="strategy_rank",
                expectation="a strategy from which every query of the workload follows",
                received=tuple(self.workload.universe.names[place] for place in missing[0]),
                remedy="Leave the strategy out, and one is found.",
            )

    def _searched(self) -> MarginalStrategy:
        """One strategy for each noise that the spend permits, and the better of them."""

        def search_strategy(reading: Reading) -> MarginalStrategy:
            search = table_strategy if is_laplace(reading) else residual_strategy
            return search(self.workload, self.size)

        def error(strategy: MarginalStrategy) -> float:
            return replace(self, strategy=strategy).expected_error

        return least_error(self.choice.readings(self.spend), search_strategy, error)

    @property
    def _strategy(self) -> MarginalStrategy:
        assert self.strategy is not None
        return self.strategy

    @cached_property
    def noise(self) -> WholeNoise:
        """The mechanism that measures."""
        given = (self.spend, self.size, self.records, self.randomness)
        return measuring(self._strategy, *given, choice=self.choice)

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.noise.event

    @cached_property
    def variances(self) -> dict[Places, float]:
        """The variance of each residual's estimate; no data is read."""
        variance = deviation(self.noise) ** 2
        found = {places: variance / p for places, p in self._strategy.precisions.items()}
        for places in gains(self.workload):
            if any(self.workload.universe.shape[place] == 1 for place in places):
                found[places] = 0.0
        if isinstance(self.size, PublicCount):
            found[()] = 0.0
        return found

    @cached_property
    def expected_error(self) -> float:
        """The expected total squared error over all queries, weighted; no data is read."""
        return math.fsum(
            gain * self.variances[places] for places, gain in gains(self.workload).items()
        )

    @property
    def rmse(self) -> float:
        """The expected root mean squared error of a query, for a workload of equal weights."""
        return float((self.expected_error / self.workload.queries) ** 0.5)

    def deviations(self, workload: Workload) -> Floats:
        """The standard deviation of each answer to a workload that this one implies."""
        return self._empty().deviations(workload)

    def deviation(self, names: Iterable[str]) -> float:
        """The standard deviation of each cell of one marginal."""
        marginal = Workload.marginal(self.workload.universe, names)
        return float(self.deviations(marginal)[0])

    def _empty(self) -> MarginalSynopsis:
        nothing = {places: np.zeros(()) for places in self.variances}
        return MarginalSynopsis(self.workload.universe, nothing, self.variances, self.event)

    def release(self, counts: Counted) -> MarginalSynopsis:
        """Count the workload's marginals, measure, and reconstruct."""
        universe, strategy = self.workload.universe, self._strategy
        tables = {
            places: counts_by(counts, universe, places, self.size)
            for places in strategy.largest_attribute_sets
        }
        found = strategy.reconstruct(self.noise.release(strategy.measure(tables)))
        if isinstance(self.size, PublicCount):
            found[()] = np.array(float(self.size.records))
        shape = universe.shape
        for places in self.variances:
            if places not in found:
                found[places] = np.zeros(tuple(shape[place] for place in places))
        law = distribution_of(self.noise, step=1.0)
        known = frozenset(places for places, v in self.variances.items() if not v)
        noise = MarginalNoise(law, MarginalStrategy(strategy.tables), universe, known)
        return MarginalSynopsis(universe, found, self.variances, self.event, noise)
