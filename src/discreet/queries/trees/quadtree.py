"""Complete quad-trees: counts of all boxes that halving makes, measured together, made to agree.

Guarantee: the event of one additive release; everything after it is post-processing. One record
lies in one node of each level; where records are exchanged, the root is their public number, which
is not measured.

Source: 004b:A5, A17. Errata: 004b:A5 (range error k² log³ k). Proof: ``proofs/quadtree.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms import DiscreteLaplace
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import (
    Reading,
    WholeNoise,
    deviation,
    least_error,
    noise_of,
    readings,
)
from discreet.mechanisms.grid import sqrt_above
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.answer_noise.tree_levels import LevelNoise
from discreet.queries.record_count import PublicCount, RecordCount, count_records, require_size
from discreet.queries.trees.grid_counts import GridCounts, leaf_sides
from discreet.queries.trees.level_weights import (
    L1,
    L2,
    STEPS,
    Norm,
    best_shares,
    geometric_shares,
    planned_error,
    whole_weights,
)
from discreet.queries.trees.levels import Levels, new_traces
from discreet.queries.trees.overlap import MOST_GRAM, can_gram, spread_gram
from discreet.queries.trees.points import Located, Points, inside
from discreet.queries.workload.cell_counts import cell_counts
from discreet.queries.workload.universe import LARGEST
from discreet.queries.workload.workload import Workload

_USUAL = 1 << 22


@dataclass(frozen=True)
class QuadTree:
    """A workload over ordered attributes, a spend, and how often everything is halved.

    ``depth`` is public; by default boxes are halved down to single cells where there are few enough
    of them. Inside a leaf, records are taken to lie evenly. One person has at most ``records``
    records. The weights of the levels are best for the workload, or grow geometrically where an
    attribute has too many values to compute them.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public.

    Guarantee: the event of one additive release of all nodes; a record lies in one of each level.

    Source: 004b:A5. Proof: ``proofs/quadtree.md``.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    depth: int | None = None
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        require_size(self.size)
        object.__setattr__(self, "records", count("records", self.records))
        widths = tuple((side - 1).bit_length() for side in self.workload.universe.shape)
        deepest = max(widths)
        if self.depth is None:
            depth = deepest
            if Levels(widths, deepest).nodes(deepest) > LARGEST:
                while Levels(widths, depth).nodes(depth) > _USUAL:
                    depth -= 1
        else:
            depth = min(count("depth", self.depth, least=0), deepest)
        if (leaves := Levels(widths, depth).nodes(depth)) > LARGEST:
            raise InvalidParameter(
                code="tree_too_large",
                expectation=f"at most {LARGEST} leaves",
                received=leaves,
                remedy="Choose a smaller depth, or grow a tree with PrivTree.",
            )
        object.__setattr__(self, "depth", depth)
        readings(self.spend)

    @cached_property
    def levels(self) -> Levels:
        """The levels of the tree."""
        assert self.depth is not None
        widths = tuple((side - 1).bit_length() for side in self.workload.universe.shape)
        return Levels(widths, self.depth)

    @cached_property
    def noise(self) -> WholeNoise:
        """What measures all levels at once, in steps of 1/``STEPS`` of a weight.

        Of all that the spend permits, the one that errs least with weights of its own norm.
        """
        first, under = self._first, self.levels.leaves_under
        # Where nobody can tell what is asked of each level, one query of each stands for it.
        asked = np.ones(len(under)) if self._new is None else self._new

        def error(noise: WholeNoise) -> float:
            weights = self._weights(norm_of(noise))
            variance = deviation(noise) ** 2
            return planned_error(asked[first:], under[first:], weights[first:], variance)

        def make_level_noise(reading: Reading) -> WholeNoise:
            return level_noise(reading, self.size, self.records, self.randomness)

        return least_error(readings(self.spend), make_level_noise, error)

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self.noise.event

    @cached_property
    def weights(self) -> Ints:
        """The whole weight of each level, from the root."""
        return self._weights(norm_of(self.noise))

    def _weights(self, norm: Norm) -> Ints:
        first, new, under = self._first, self._new, self.levels.leaves_under
        if new is None:
            shares = geometric_shares(len(under) - first, len(self.levels.widths))
        else:
            shares = best_shares(new[first:], under[first:], norm)
        return np.concatenate([np.zeros(first, dtype=np.int64), whole_weights(shares, norm)])

    @property
    def _first(self) -> int:
        """The first level that is measured: the root is public where records are exchanged."""
        return 1 if isinstance(self.size, PublicCount) and self.levels.depth else 0

    @cached_property
    def _new(self) -> Floats | None:
        """What each level adds to the workload's trace, if its attributes are small enough."""
        products = self.workload.products
        sides = leaf_sides(self.workload.universe, self.levels)
        if max(len(lows) for lows, _ in sides) > MOST_GRAM or not all(
            can_gram(family, *side)
            for product in products
            for family, side in zip(product.families, sides, strict=True)
        ):
            return None
        found = np.zeros(self.levels.depth + 1)
        for product in products:
            grams = []
            for axis, (family, (lows, highs)) in enumerate(
                zip(product.families, sides, strict=True)
            ):
                rest = self.levels.shape(self.levels.depth)[axis] - len(lows)
                grams.append(np.pad(spread_gram(family, lows, highs), ((0, rest), (0, rest))))
            found += product.weight**2 * self.levels.traces(grams)
        return new_traces(found)

    @cached_property
    def expected_error(self) -> float:
        """The expected total squared error of the noise over all queries; no data is read.

        All of the error where leaves are single cells. Otherwise records that do not lie evenly in
        their leaf add to it, which nobody can predict.
        """
        if self._new is None:
            raise _unpredictable(self.workload)
        first, variance = self._first, deviation(self.noise) ** 2
        under = self.levels.leaves_under
        return planned_error(self._new[first:], under[first:], self.weights[first:], variance)

    @property
    def rmse(self) -> float:
        """The expected root mean squared error of a query, for a workload of equal weights."""
        return float((self.expected_error / self.workload.queries) ** 0.5)

    @property
    def error_known(self) -> bool:
        """Whether stated errors are the whole error, and not that of the noise alone."""
        single = self.levels.depth == max(self.levels.widths)
        return single and self._new is not None

    def deviations(self, workload: Workload) -> Floats:
        """The standard deviation of each answer, before anything is spent.

        Contract: leaves are single cells, and few enough along each attribute.
        """
        if not self.error_known:
            raise _unpredictable(self.workload)
        return self._answer_noise().deviations(workload)

    def _answer_noise(self) -> LevelNoise:
        noise, universe = distribution_of(self.noise, step=1.0), self.workload.universe
        return LevelNoise(noise, self.weights, self._first, universe)

    def release(self, counts: Located) -> GridCounts:
        """Measure all levels, and make them agree."""
        levels = self.levels
        leaves = self._leaves(counts)
        total = (
            count_records(self.size, leaves, None) if isinstance(self.size, PublicCount) else None
        )
        estimate = measured_levels(levels, leaves, self.weights, self.noise, total)
        inner = tuple(slice(0, len(lows)) for lows, _ in leaf_sides(self.workload.universe, levels))
        noise = self._answer_noise() if self.error_known else None
        return GridCounts(self.workload.universe, levels.depth, estimate[inner], self.event, noise)

    def _leaves(self, data: Located) -> Ints:
        """The exact counts of the leaves."""
        universe, levels = self.workload.universe, self.levels
        shape = levels.shape(levels.depth)
        shifts = [width - min(levels.depth, width) for width in levels.widths]
        if isinstance(data, Points):
            places = inside(data.positions, universe) >> np.asarray(shifts)
            flat = np.ravel_multi_index(tuple(places.T), shape)
            return np.bincount(flat, minlength=levels.nodes(levels.depth)).reshape(shape)
        table = cell_counts(data, universe).reshape(universe.shape)
        table = np.pad(
            table,
            [(0, (1 << w) - side) for w, side in zip(levels.widths, universe.shape, strict=True)],
        )
        for axis, (side, shift) in enumerate(zip(shape, shifts, strict=True)):
            split = (*table.shape[:axis], side, 1 << shift, *table.shape[axis + 1 :])
            table = table.reshape(split).sum(axis=axis + 1)
        return np.asarray(table)


def _unpredictable(workload: Workload) -> InvalidParameter:
    return InvalidParameter(
        code="universe_too_large",
        expectation=f"at most {MOST_GRAM} leaves along each attribute to predict errors",
        received=max(workload.universe.shape),
        remedy="Choose a smaller depth, or coarser bins to plan with.",
    )


def norm_of(noise: WholeNoise) -> Norm:
    """The norm that bounds the weights of levels that this noise hides."""
    return L1 if isinstance(noise, DiscreteLaplace) else L2


def level_noise(
    reading: Reading, size: RecordCount, records: int, randomness: Source
) -> WholeNoise:
    """Noise for weighted levels, of which one record moves one node each.

    Contract: the norm of the weights that is at most ``STEPS`` is :func:`norm_of` this noise.
    """
    return noise_of(
        reading,
        l1=STEPS * size.changed_cells * records,
        l2=sqrt_above(Fraction(STEPS**2 * size.changed_cells * records**2)),
        randomness=randomness,
    )


def measured_levels(
    levels: Levels, leaves: Ints, weights: Ints, noise: WholeNoise, total: float | None
) -> Floats:
    """Noisy counts of the weighted levels in one release, and the leaves by least squares."""
    chosen = [level for level in range(levels.depth + 1) if weights[level]]
    sums = levels.sums(leaves)
    exact_steps = np.concatenate([weights[level] * sums[level].ravel() for level in chosen])
    noisy = noise.release(exact_steps)
    measured: list[Floats | None] = [None] * (levels.depth + 1)
    start = 0
    for level in chosen:
        end = start + sums[level].size
        part = noisy[start:end].reshape(sums[level].shape)
        measured[level] = part / float(weights[level])
        start = end
    return levels.estimate(measured, weights.astype(np.float64) ** 2, total)
