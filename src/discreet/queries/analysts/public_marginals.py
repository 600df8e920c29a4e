"""Marginals over public sets of attributes, measured by their residuals under one event.

All conjunctions of at most ``ways`` attributes follow from the residuals of the same sets. The
total is public and is not measured. Precisions are the best for the worst of them.

At (1, 1e-6) and all three-way cells of twelve bits the standard deviation is 27.0 / n, against
36.5 / n for least squares after equal noise on all marginals and 126 / n for a histogram.

Guarantee: the event of one additive release of all tables. Analysts: perfect; no query is read.

Source: analysts-verified:H4 (fixed public marginals). Proof: ``proofs/analysts-baselines.md``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.for_spend import Reading, is_laplace, least_error
from discreet.mechanisms.noise_choice import NoiseChoice
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.analysts.exchange_strategy import exchange_strategy
from discreet.queries.analysts.guarantee import require_public_count
from discreet.queries.analysts.predicted_error import (
    Deviations,
    PredictedError,
    predicted_errors,
)
from discreet.queries.analysts.query_class import Conjunctions, attribute_sets
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.marginal_strategy import MarginalStrategy
from discreet.queries.matrix.measuring import ANY
from discreet.queries.matrix.residual_weights import gains, table_strategy
from discreet.queries.record_count import PublicCount
from discreet.queries.synopses.marginal_synopsis import MarginalSynopsis
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.families import All, Each
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Places, Product, Workload

MOST_SETS = 1 << 13
_LITTLE = 1e-6


@dataclass(frozen=True)
class PublicMarginals:
    """All sets of at most ``ways`` attributes, with ``importance`` of some sets' cells.

    ``importance`` weighs the squared error of a cell by its set; sets left out are measured for
    what they are worth to others. By default the worst conjunction is made as good as can be.

    Assumptions: neighbours exchange the records of one person, at most ``records`` of them; their
    number is public. Importances are public.

    Guarantee: people: the event of one additive release of all contrasts. Analysts: perfect; no
    query is read.

    Source: analysts-verified:H4. Proof: ``proofs/analysts-baselines.md``.
    """

    universe: Universe
    ways: int
    spend: Guarantee
    size: PublicCount
    importance: Mapping[Places, float] = field(default_factory=dict)
    records: int = 1
    randomness: Source = SYSTEM
    choice: NoiseChoice = ANY

    def __post_init__(self) -> None:
        """Refuse what cannot be measured or priced, before any data is seen."""
        require_public_count(self.size)
        self.choice.readings(self.spend)
        for name in ("ways", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        many = sum(math.comb(len(self.universe.shape), k) for k in range(1, self.ways + 1))
        if many > MOST_SETS:
            raise InvalidParameter(
                code="marginals_too_many",
                expectation=f"at most {MOST_SETS} sets of attributes",
                received=many,
                remedy="Use fewer ways, or fewer attributes.",
            )
        unknown = set(self.importance) - set(attribute_sets(self.universe, self.ways))
        if unknown or min(self.importance.values(), default=1) <= 0:
            raise InvalidParameter(
                code="importance_misfit",
                expectation="weights above zero for sets of at most `ways` places",
                received=len(unknown),
                remedy="Name sets by increasing places of attributes, such as (0, 3).",
            )
        _ = self.mechanism

    @cached_property
    def mechanism(self) -> MarginalMechanism:
        """The marginal mechanism with the best precisions for exchanged records.

        One strategy for each kind of noise that the spend permits, and the better of them.
        """

        def build_mechanism(reading: Reading) -> MarginalMechanism:
            search = self._tables if is_laplace(reading) else self._residuals
            return MarginalMechanism(
                self._workload,
                self.spend,
                strategy=search(),
                size=self.size,
                records=self.records,
                randomness=self.randomness,
                choice=self.choice,
            )

        return least_error(self.choice.readings(self.spend), build_mechanism, self._error)

    def _error(self, made: MarginalMechanism) -> float:
        """The variance of the worst cell, or of all by their importance."""
        names = self.universe.names
        sets = list(self.importance) or attribute_sets(self.universe, self.ways)
        found = [made.deviation(names[place] for place in places) ** 2 for places in sets]
        if not self.importance:
            return max(found)
        return math.fsum(map(operator.mul, self.importance.values(), found))

    @cached_property
    def _workload(self) -> Workload:
        sets = attribute_sets(self.universe, self.ways)
        return Workload(self.universe, tuple(self._product(each) for each in sets))

    def _tables(self) -> MarginalStrategy:
        """For Laplace noise; what has no importance gets a little, so that it is known at all."""
        if not self.importance:
            return table_strategy(self._workload, self.size)
        least = _LITTLE * max(self.importance.values())
        sets = attribute_sets(self.universe, self.ways)
        products = tuple(self._product(each, otherwise=least) for each in sets)
        return table_strategy(Workload(self.universe, products), self.size)

    def _residuals(self) -> MarginalStrategy:
        """For Gaussian noise."""
        sets, workload = attribute_sets(self.universe, self.ways), self._workload
        kinds = [
            gains(Workload(self.universe, (product,)))
            for product in workload.products
            if not self.importance
        ]
        if self.importance:
            weighed = tuple(self._product(each) for each in self.importance)
            kinds = [dict.fromkeys(sets, 0.0) | gains(Workload(self.universe, weighed))]
        return exchange_strategy(kinds, self.universe.shape)

    def _product(self, places: Places, *, otherwise: float = 1.0) -> Product:
        shape = self.universe.shape
        families = tuple(
            Each(size) if place in places else All(size) for place, size in enumerate(shape)
        )
        # A table's squared errors are summed over its cells.
        cells = math.prod(shape[place] for place in places)
        return Product(families, math.sqrt(self.importance.get(places, otherwise) / cells))

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.mechanism.event

    def deviation(self, places: Places) -> float:
        """The standard deviation of a cell of the marginal over ``places``, in records."""
        return self.mechanism.deviation(self.universe.names[place] for place in places)

    def predicted(self, queries: int) -> PredictedError:
        """Errors of conjunctions as shares of the records, before anything is spent."""
        kinds = Conjunctions(self.ways).kinds(self.universe, count("queries", queries))
        found = [
            Deviations(self.deviation(places) / self.size.records, many) for places, many in kinds
        ]
        return predicted_errors(found, self.mechanism.noise)

    def release(self, counts: Counted) -> MarginalSynopsis:
        """Measure, and put the marginals together."""
        return self.mechanism.release(counts)
