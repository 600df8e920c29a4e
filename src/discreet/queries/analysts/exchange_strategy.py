"""Residuals measured for records that are exchanged: the price of the two that are farthest apart.

In the residual of A two records have the squared distance 2 ∏_A (1 - 1/n_i) - 2 ∏_A ([they agree
on i] - 1/n_i). No two are far apart in all residuals at once. So precisions are chosen against all
patterns of agreement together, and priced by the worst pattern, not by a sum of worst cases.

Source: derived here. Proof: ``proofs/analysts-baselines.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from discreet.core.arrays import Floats
from discreet.queries.analysts.precisions import best_precisions
from discreet.queries.matrix.marginal_strategy import AxisContrast, MarginalStrategy, MeasuredTable
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.workload import Places

MOST_PATTERNS = 12
"""Up to this many attributes, all patterns of agreement are gone through."""
_BITS = 30
_UP = 1 + 1e-9
"""More than the rounding of a sum of a few thousand doubles."""


@dataclass(frozen=True)
class ExchangeStrategy(MarginalStrategy):
    """Tables priced, where records are exchanged, by the worst pattern of up to 12 attributes."""

    def moved_l2_squared(self, size: RecordCount) -> int:
        """The squared L2 distance of two records, rounded up, and 2**60 at least.

        Strategies are made to reach that: so all of them have noise of the same size in steps, and
        what a release costs is known before the strategy is.
        """
        if not isinstance(size, PublicCount):
            return super().moved_l2_squared(size)
        return max(1 << 2 * _BITS, self._farthest())

    def _farthest(self) -> int:
        axes = {place: n for t in self.tables for place, n in zip(t.places, t.sizes, strict=True)}
        if len(axes) > MOST_PATTERNS:
            return sum(table.exchanged_at_most() for table in self.tables)
        total = np.zeros(1 << len(axes))
        for table in self.tables:
            total += _exchanged(table, list(axes))
        return math.ceil(float(total.max()) * _UP)


def exchange_strategy(
    kinds: Sequence[Mapping[Places, float]], shape: tuple[int, ...]
) -> ExchangeStrategy:
    """The best precisions for the worst of some kinds of answers.

    A kind says what a unit of variance of each residual adds to its own.
    """
    needed = sorted(
        {
            places
            for kind in kinds
            for places in kind
            if places and all(shape[place] > 1 for place in places)
        },
        key=lambda places: (len(places), places),
    )
    tables = [
        MeasuredTable(places, tuple(shape[place] for place in places), frozenset(places), 1)
        for places in needed
    ]
    axes = sorted({place for places in needed for place in places})
    kappas = np.array([_kappa(table) for table in tables])
    if len(axes) > MOST_PATTERNS:
        apart = np.array([[float(table.exchanged_at_most()) for table in tables]])
    else:
        # The first pattern is that of two equal records.
        apart = np.stack([_exchanged(table, axes)[1:] for table in tables], axis=1)
    column = {places: place for place, places in enumerate(needed)}
    entries = [
        (row, column[places], gain)
        for row, kind in enumerate(kinds)
        for places, gain in kind.items()
        if places in column
    ]
    rows, columns, gains = (np.array(part) for part in zip(*entries, strict=True))
    costs = csr_array((gains, (rows, columns)), shape=(len(kinds), len(needed)))
    found = best_precisions(costs, apart / kappas)
    weights = np.sqrt(found / (kappas * _UP)) * 2.0**_BITS
    return ExchangeStrategy(
        tuple(
            MeasuredTable(t.places, t.sizes, t.contrasted, max(1, math.floor(weight)))
            for t, weight in zip(tables, weights, strict=True)
        )
    )


def _kappa(table: MeasuredTable) -> float:
    return float(math.prod(AxisContrast(size).kappa for size in table.sizes))


def _exchanged(table: MeasuredTable, axes: list[int]) -> Floats:
    """Squared distances for all patterns of which ``axes`` differ; ``table.exchanged``, at once."""
    patterns = np.arange(1 << len(axes))
    within = np.full(len(patterns), float(table.weight) ** 2)
    for place, size in zip(table.places, table.sizes, strict=True):
        differs = (patterns >> axes.index(place)) & 1 == 1
        if place in table.contrasted:
            part = AxisContrast(size)
            within *= np.where(differs, float(part.between), float(part.l2_squared))
        else:
            within *= ~differs
    return np.asarray(2 * (float(table.l2_squared) - within))
