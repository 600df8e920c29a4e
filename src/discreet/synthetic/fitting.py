"""A model that learns marginal by marginal: what the rounds of a synthesiser share.

Source: modern-data:A1, A3.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.universe import Universe
from discreet.synthetic.graphical.elimination import ModelMarginals
from discreet.synthetic.graphical.estimation import Estimator, Fitted
from discreet.synthetic.graphical.graphical_model import GraphicalModel
from discreet.synthetic.graphical.junction_tree import (
    Elimination,
    JunctionTree,
    Places,
    elimination_order,
    mask,
)
from discreet.synthetic.graphical.measurement import NoisyMarginal, noisy_total
from discreet.synthetic.merged import MergedValues
from discreet.synthetic.structural_zeros import added

_FEW = 24
"""Up to so many attributes, a candidate's junction tree is looked for anew where it seems large."""

_LAST = 8
"""One part in so many of the measurements, the last ones, tells how wrong the model still is."""


class ModelInProgress:
    """Measurements so far, their junction tree, and the model fitted to them."""

    def __init__(
        self,
        merged: MergedValues,
        zeros: Mapping[Places, Floats],
        size: RecordCount,
        estimator: Estimator,
    ) -> None:
        """Start with structural zeros alone."""
        self.merged = merged
        self.measured: list[NoisyMarginal] = []
        self.estimator = estimator
        self._zeros = dict(zeros)
        self._public = float(size.records) if isinstance(size, PublicCount) else None
        self._sets: list[Places] = list(zeros)
        self._orders: list[tuple[int, ...]] = []
        self._fitted: Fitted | None = None
        self.total = 1.0
        """The number of records: public, or estimated from everything that was measured."""
        self._misfits: list[float] = []
        self._grow()

    def learn(self, *marginals: NoisyMarginal) -> None:
        """Take in measurements and fit again, from where the last fit ended."""
        if self._fitted is not None:
            self._misfits += [self._misfit(each) for each in marginals if len(each.places) > 1]
        self.measured += marginals
        self.total = noisy_total(self.measured) if self._public is None else self._public
        self._sets = maximal([*self._sets, *(each.places for each in marginals)])
        self._grow()
        self._fit(self.estimator)

    def settle(self, iterations: int) -> None:
        """Fit once more, thoroughly."""
        self._fit(replace(self.estimator, iterations=iterations))

    def fits(self, places: Places, limit: float) -> bool:
        """Whether the junction tree with one more marginal has at most ``limit`` cells."""
        if self.tree.holding(places) is not None:
            return True
        if self._elimination.with_one_more(places) <= limit:
            return True
        sizes = self.merged.sizes
        if len(sizes) > _FEW:  # a better order is not looked for, which would take long
            return False
        return JunctionTree.of(sizes, [*self._sets, places]).size <= limit

    def with_more(self, sets: Iterable[Places]) -> Elimination:
        """The size of the junction tree with some more marginals, not learnt yet."""
        sizes, every = self.merged.sizes, [*self._sets, *sets]
        self._orders.append(elimination_order(sizes, every))
        return Elimination(sizes, every, self._orders[-1])

    def estimate(self, places: Places) -> Floats:
        """The model's counts by some attributes."""
        return self.total * self.marginals(places)

    @property
    def misfit(self) -> float:
        """About the squared error of the counts of a marginal that was not measured, all cells.

        Mechanisms measure what the model gets most wrong; so those that were measured last, less
        what noise adds, say how wrong it is where nothing was measured. Noisy values alone are
        read.
        """
        last = self._misfits[-max(1, len(self._misfits) // _LAST) :]
        return max(0.0, sum(last) / len(last)) if last else 0.0

    def _misfit(self, found: NoisyMarginal) -> float:
        """The squared distance of noisy counts from the model's, less what noise adds to it."""
        apart = float(((found.values - self.estimate(found.places)) ** 2).sum())
        return apart - found.deviation**2 * found.values.size

    def released(
        self, universe: Universe, event: Event, split: Mapping[str, Fraction]
    ) -> GraphicalModel:
        """The model as it is released, with what the shares of the spend paid for."""
        assert self._fitted is not None
        potentials = added(self._zeros, list(self._fitted.potentials.items()))
        return GraphicalModel(
            universe, self.total, event, potentials, self.merged, split=split, misfit=self.misfit
        )

    def _grow(self) -> None:
        """A greedy order may be worse than one in which a marginal was seen to fit: the best."""
        sizes, sets = self.merged.sizes, self._sets
        orders = [elimination_order(sizes, sets), *reversed(self._orders)]
        trees = [JunctionTree.along(sizes, sets, order) for order in orders]
        best = min(range(len(orders)), key=lambda place: trees[place].size)
        self._orders, self.tree = [orders[best]], trees[best]
        self._elimination = Elimination(sizes, sets, orders[best])

    def _fit(self, estimator: Estimator) -> None:
        start = None if self._fitted is None else self._fitted.potentials
        self._fitted = estimator.fit(
            self.tree, self.measured, self.total, start=start, base=self._zeros
        )
        self.marginals = ModelMarginals(self._fitted.model)


def maximal(sets: Sequence[Places]) -> list[Places]:
    """Those that lie in no other, each once."""
    masks = {places: mask(places) for places in sets}
    return [
        places
        for places, bits in masks.items()
        if not any(bits & ~other == 0 and bits != other for other in masks.values())
    ]
