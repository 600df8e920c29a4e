"""PrivTree: boxes that are halved where many records lie, however deep, at one price.

A node at depth t with count c is split if max(theta - delta, c - t delta) plus Laplace noise of
scale lambda reaches theta. On the way of one record, scores fall by delta from node to node until
they are clamped, so the losses of all splits form a geometric series: the price does not depend on
the depth.

Guarantee: pure epsilon for the shape of the tree, with the scales below, and one additive release
of the leaves' counts. Without the clamp the loss grows with the depth.

Source: 004b:A9. Errata: the clamp is absent from the text. Here lambda is a little smaller than
published, and delta at least one record, as the proof has them. Proof: ``proofs/privtree.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Ints
from discreet.core.events.event import Event, compose
from discreet.core.events.mechanisms import Pure
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number, count, exact, probability
from discreet.mechanisms import Laplace
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import (
    WholeNoise,
    divided,
    epsilon_for,
    noise_for,
    readings,
)
from discreet.mechanisms.grid import floor_log2, sqrt_above
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.record_count import MOST, PublicCount, RecordCount, require_size
from discreet.queries.trees.box_counts import BoxCounts
from discreet.queries.trees.points import Along, Located, along
from discreet.queries.trees.space_filling import Interleaving
from discreet.queries.workload.workload import Workload

_LN2_ABOVE = Fraction(6931471805599454, 10**16)
_FINE, _FINEST = 12, 20
_TERMS, _COST_BITS = 40, 30


@dataclass(frozen=True)
class Splitting:
    """When nodes are split: noise in records; fall and threshold in steps of 2**-places records."""

    scale: Fraction
    fall: int
    places: int
    threshold: int
    randomness: Source = SYSTEM

    @property
    def noise(self) -> Laplace:
        """Laplace noise on steps; it is priced with the whole tree, never by its own event."""
        step = Fraction(1, 1 << self.places)
        return Laplace(epsilon=step / self.scale, sensitivity=1, randomness=self.randomness)

    def scores(self, counts: Ints, depth: int) -> Ints:
        """Counts less their fall, clamped, in steps."""
        raw = (np.minimum(counts, MOST) << self.places) - depth * self.fall
        return np.asarray(np.maximum(raw, self.threshold - self.fall))

    def chosen(self, counts: Ints, depth: int) -> NDArray[np.bool_]:
        """Which of the nodes of a depth are split."""
        return np.asarray(self.noise.release(self.scores(counts, depth)) >= self.threshold)


def splitting(
    epsilon: Fraction,
    *,
    fan: int,
    size: RecordCount,
    records: int,
    threshold: int,
    randomness: Source = SYSTEM,
) -> Splitting:
    """The least noise that makes a tree of this fan-out epsilon-private.

    A record that comes or goes costs :func:`way_cost` / lambda; one in exchange for another
    1 / lambda more.
    """
    cost = way_cost(fan) + (1 if isinstance(size, PublicCount) else 0)
    scale = records * cost / epsilon
    places = min(max(0, _FINE - floor_log2(scale)), _FINEST)
    # ln fan from above: fan is at most the power of two with this many bits.
    fall = max(scale * (fan - 1).bit_length() * _LN2_ABOVE, Fraction(1))
    steps = -(-(fall * (1 << places)) // 1)
    return Splitting(scale, int(steps), places, threshold << places, randomness)


def way_cost(fan: int) -> Fraction:
    """What all splits on a record's way cost, in units of 1 / lambda; from above.

    2 + Σ_{j >= 1} 1 / (2 fan^j - 1), a little less than the published (2 fan - 1) / (fan - 1).

    >>> round(float(way_cost(2)), 4), round(float(way_cost(4)), 4)
    (2.6067, 2.1856)
    """
    terms = (Fraction(1, 2 * fan**j - 1) for j in range(1, _TERMS + 1))
    above = sum(terms, Fraction(2)) + Fraction(1, fan**_TERMS)
    return Fraction(math.ceil(above * (1 << _COST_BITS)), 1 << _COST_BITS)


@dataclass(frozen=True)
class PrivTree:
    """A workload over ordered attributes and a spend; ``part`` of it grows the tree.

    Every split halves all attributes at once. ``depth`` is the most, public; by default down to
    single cells. ``threshold`` is how many records, less the fall, a node must have to be split.
    One person has at most ``records`` records. The workload names the universe; the tree follows
    the data and not the queries.

    Contract: fewer than 2**32 records. Data are counts over the universe or, where it is larger
    than memory, ``Points``.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public.

    Guarantee: pure epsilon for the shape of the tree, whatever its depth, and one additive release
    of the leaves, at the spend.

    Source: 004b:A9. Proof: ``proofs/privtree.md``.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    part: Number = Fraction(1, 2)
    threshold: int = 0
    depth: int | None = None
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        require_size(self.size)
        probability("part", self.part)
        object.__setattr__(self, "records", count("records", self.records))
        object.__setattr__(self, "threshold", count("threshold", self.threshold, least=0))
        deepest = self.order.depth
        if self.depth is not None:
            deepest = min(count("depth", self.depth, least=0), deepest)
        object.__setattr__(self, "depth", deepest)
        readings(self.spend)

    @cached_property
    def order(self) -> Interleaving:
        """The order in which boxes are intervals."""
        return Interleaving(self.workload.universe.shape)

    @cached_property
    def _growing(self) -> Fraction:
        """The epsilon of the shape."""
        growing, _ = divided(self.spend, self.part)
        return exact(epsilon_for(growing, lambda e: Pure(epsilon=e)))

    @cached_property
    def splitting(self) -> Splitting:
        """When nodes are split."""
        return splitting(
            self._growing,
            fan=1 << len(self.order.shape),
            size=self.size,
            records=self.records,
            threshold=self.threshold,
            randomness=self.randomness,
        )

    @cached_property
    def noise(self) -> WholeNoise:
        """What measures the leaves: each record lies in one of them."""
        moved = self.size.changed_cells
        return noise_for(
            divided(self.spend, self.part)[1],
            l1=moved * self.records,
            l2=sqrt_above(Fraction(moved * self.records**2)),
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What one release costs."""
        shape = mark_unprotected_event(Pure(epsilon=self._growing), self.randomness)
        return compose((shape, self.noise.event))

    @property
    def leaf_spread(self) -> float:
        """The standard deviation of the noise in one leaf's count.

        How many leaves a query meets, and how unevenly records lie in them, depends on data: nobody
        can predict the error of a query.
        """
        return float(distribution_of(self.noise, step=1.0).std)

    def release(self, counts: Located) -> BoxCounts:
        """Grow the tree, and measure its leaves."""
        universe = self.workload.universe
        data = along(counts, universe, self.order, self.size)
        lows, highs, exact_counts = self._grown(data)
        noisy = np.asarray(self.noise.release(exact_counts), dtype=np.float64)
        return BoxCounts(universe, lows, highs, noisy, self.event)

    def _grown(self, data: Along) -> tuple[Ints, Ints, Ints]:
        """The leaves' boxes and their exact counts."""
        order, most = self.order, self.depth
        assert most is not None
        nodes, found = np.zeros(1, dtype=np.int64), []
        for depth in range(most + 1):
            length = order.length(depth)
            lows, highs = order.boxes(nodes, length)
            real = (highs > lows).all(axis=1)
            nodes, lows, highs = nodes[real], lows[real], highs[real]
            rest = order.bits - length
            inside = data.between(nodes << rest, (nodes + 1) << rest)
            # Single cells and the public last depth are not asked: their halves do not exist.
            open_nodes = np.flatnonzero((highs - lows > 1).any(axis=1) & (depth < most))
            split = np.zeros(len(nodes), dtype=np.bool_)
            if len(open_nodes):
                split[open_nodes] = self.splitting.chosen(inside[open_nodes], depth)
            found.append((lows[~split], highs[~split], inside[~split]))
            if not split.any():
                break
            more = order.length(depth + 1) - length if depth < most else 0
            nodes = (nodes[split][:, None] << more | np.arange(1 << more)).ravel()
        first, last, inner = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return first, last, inner
