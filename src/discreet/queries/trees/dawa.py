"""DAWA: group neighbouring cells with nearly equal counts, measure the groups, spread them evenly.

Guarantee: the composition of a partition, pure, and of one additive release of a tree over its
buckets. The tree's weights follow the workload and the released partition; their norm does not.

Several attributes are put in one order by interleaving their bits, so buckets are boxes.

Source: 004b:A8. Errata: the noise of the published partition is too small; see
``noisy_partition``. Proof: ``proofs/dawa.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.events.mechanisms import Pure
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, count, exact, nonnegative, probability
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import (
    Reading,
    WholeNoise,
    deviation,
    divided,
    epsilon_for,
    least_error,
    readings,
)
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import (
    MOST,
    PublicCount,
    RecordCount,
    count_records,
    require_size,
)
from discreet.queries.trees.box_counts import BoxCounts
from discreet.queries.trees.level_weights import (
    STEPS,
    best_shares,
    geometric_shares,
    planned_error,
    whole_weights,
)
from discreet.queries.trees.levels import Levels, new_traces
from discreet.queries.trees.noisy_partition import NoisyPartition
from discreet.queries.trees.overlap import can_gram, spread_gram
from discreet.queries.trees.quadtree import level_noise, measured_levels, norm_of
from discreet.queries.trees.space_filling import Interleaving
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.families import Ranges
from discreet.queries.workload.workload import Workload

_MOST_GRAM = 1 << 12
_DEEP = 8
"""Levels of the tree that kinds of noise are compared by."""


@dataclass(frozen=True)
class DAWA:
    """A workload over ordered attributes and a spend; ``part`` of it chooses the buckets.

    ``price`` is what a bucket is charged, in records: the higher, the fewer buckets. By default it
    is one and a half times the scale of the partition's noise: at the expected error of a bucket,
    as published, buckets are chosen for their noise alone. Both defaults were found by trial. One
    person has at most ``records`` records.

    Contract: fewer than 2**32 records; universes that fit in memory.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public.

    Guarantee: the composition of a pure choice of buckets and of one additive release of a tree
    over them, at the spend.

    Source: 004b:A8. Proof: ``proofs/dawa.md``.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    part: Number = Fraction(1, 4)
    price: Number | None = None
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        require_size(self.size)
        self.workload.universe.require_explicit(method="DAWA")
        probability("part", self.part)
        object.__setattr__(self, "records", count("records", self.records))
        readings(self.spend)
        usual = 3 * self.partition.moved / self.partition.epsilon
        chosen = max(usual, exact(self.bucket_spread)) if self.price is None else self.price
        price = exact(nonnegative("price", chosen))
        object.__setattr__(self, "price", price)
        # Then sums of all costs stay far below 2**63 steps.
        for name, records in (("price", price), ("noise", usual)):
            if records > MOST:
                raise InvalidParameter(
                    code="parameter_out_of_range",
                    expectation=f"a {name} of the partition of at most {MOST} records",
                    received=float(records),
                    remedy="Spend more, or choose a smaller price.",
                )

    @cached_property
    def partition(self) -> NoisyPartition:
        """What chooses the buckets."""
        paid = epsilon_for(self._divided[0], lambda e: Pure(epsilon=e))
        return NoisyPartition(exact(paid), self.size.changed_cells * self.records, self.randomness)

    @cached_property
    def _divided(self) -> tuple[PureDP | ZCDP, PureDP | ApproxDP | ZCDP]:
        """What chooses the buckets, and what is left for measuring them."""
        return divided(self.spend, self.part)

    @cached_property
    def noise(self) -> WholeNoise:
        """What measures the tree over the buckets, in steps.

        How many buckets there will be depends on data: the noise is the one that is best for all
        ranges if every cell is a bucket, or there are as many as are worth a tree.
        """

        def make_level_noise(reading: Reading) -> WholeNoise:
            return level_noise(reading, self.size, self.records, self.randomness)

        return least_error(readings(self._divided[1]), make_level_noise, self._range_error)

    def _range_error(self, noise: WholeNoise) -> float:
        """The expected total squared error of all ranges of cells, under this noise."""
        new, under = _ranges_of_cells(min((self.workload.universe.size - 1).bit_length(), _DEEP))
        norm = norm_of(noise)
        first = 1 if isinstance(self.size, PublicCount) and len(new) > 1 else 0
        weights = whole_weights(best_shares(new[first:], under[first:], norm), norm)
        return planned_error(new[first:], under[first:], weights, deviation(noise) ** 2)

    @property
    def range_spread(self) -> float:
        """The root mean squared deviation of a range of buckets, if every cell is one."""
        leaves = 1 << min((self.workload.universe.size - 1).bit_length(), _DEEP)
        return float(np.sqrt(self._range_error(self.noise) / Ranges(leaves).queries))

    @property
    def event(self) -> Event:
        """What one release costs."""
        return compose((self.partition.event, self.noise.event))

    @property
    def bucket_spread(self) -> float:
        """The standard deviation of a bucket's count if buckets alone are measured.

        How many buckets there are and how unevenly records lie in them depends on data: nobody can
        predict the error of a query.
        """
        return float(distribution_of(self.noise, step=1 / STEPS).std)

    def release(self, counts: Counted) -> BoxCounts:
        """Choose buckets, and measure them."""
        universe = self.workload.universe
        table = cell_counts(counts, universe)
        total = (
            count_records(self.size, table, None) if isinstance(self.size, PublicCount) else None
        )
        order = Interleaving(universe.shape)
        positions = np.column_stack(np.unravel_index(np.arange(universe.size), universe.shape))
        codes = order.codes(positions.astype(np.int64))
        line = np.zeros(1 << order.bits, dtype=np.int64)
        line[codes] = table
        present = np.zeros(1 << order.bits, dtype=np.bool_)
        present[codes] = True
        assert self.price is not None
        ends = self.partition.release(line, present, exact(self.price))
        lows, highs = _boxes(order, ends)
        real = (highs > lows).all(axis=1)
        lows, highs = lows[real], highs[real]
        sums = np.add.reduceat(line, ends[:-1])[real]
        return BoxCounts(
            universe, lows, highs, self._measured(sums, lows, highs, total), self.event
        )

    def _measured(self, sums: Ints, lows: Ints, highs: Ints, total: float | None) -> Floats:
        """Noisy counts of the buckets, by a tree over them whose weights fit the workload."""
        width = (len(sums) - 1).bit_length()
        levels = Levels((width,), width)
        first = 1 if total is not None and width else 0
        under, norm = levels.leaves_under[first:], norm_of(self.noise)
        gram = self._gram(lows, highs)
        if gram is None:
            shares = geometric_shares(len(under), 1)
        else:
            padded = np.pad(gram, (0, (1 << width) - len(sums)))
            shares = best_shares(new_traces(levels.traces([padded]))[first:], under, norm)
        weights = np.concatenate([np.zeros(first, dtype=np.int64), whole_weights(shares, norm)])
        leaves = np.pad(sums, (0, (1 << width) - len(sums)))
        return measured_levels(levels, leaves, weights, self.noise, total)[: len(sums)]

    def _gram(self, lows: Ints, highs: Ints) -> Floats | None:
        """The Gram matrix of the workload over the buckets, from public things only."""
        products = self.workload.products
        if len(lows) > _MOST_GRAM:
            return None
        if not all(
            can_gram(family, lows[:, axis], highs[:, axis])
            for product in products
            for axis, family in enumerate(product.families)
        ):
            return Ranges(len(lows)).gram()
        found = np.zeros((len(lows), len(lows)))
        for product in products:
            part = np.full_like(found, product.weight**2)
            for axis, family in enumerate(product.families):
                part *= spread_gram(family, lows[:, axis], highs[:, axis])
            found += part
        return found


@lru_cache(maxsize=16)
def _ranges_of_cells(width: int) -> tuple[Floats, Floats]:
    """What each level of a tree adds to the trace of all ranges, and the leaves under its nodes."""
    levels = Levels((width,), width)
    return new_traces(levels.traces([Ranges(1 << width).gram()])), levels.leaves_under


def _boxes(order: Interleaving, ends: Ints) -> tuple[Ints, Ints]:
    """The boxes of intervals of codes that halving made."""
    sizes = np.diff(ends)
    lows = np.zeros((len(sizes), len(order.shape)), dtype=np.int64)
    highs = np.zeros_like(lows)
    for size in np.unique(sizes).tolist():
        level = int(size).bit_length() - 1
        here = sizes == size
        lows[here], highs[here] = order.boxes(ends[:-1][here] >> level, order.bits - level)
    return lows, highs
