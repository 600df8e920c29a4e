"""A partition into buckets of nearly equal counts, chosen with noise on the cost of every bucket.

Candidates are the intervals that halving makes of an order of the cells. A bucket costs its
absolute deviation from its median plus a public price; noise is added to all costs, once, and the
cheapest partition is found by a pass over the tree. Only the partition is released.

The deviation from the median moves by at most one for each record, that from the mean by 2 - 2/m on
m cells; and it is at least half of it. So the median needs half the noise.

Guarantee: pure epsilon. A record lies in many candidates, but only in one bucket of each partition:
lowering the noise of that bucket by the most that it and any other can move makes up for it. So the
scale is (own + most) / epsilon, where own is 0 for single cells and 1 otherwise, and most is 1.

Source: 004b:A8. Errata: the published scale is half of what the argument needs and loses
more than epsilon, and the floor on noisy costs breaks the argument. Proof: ``proofs/dawa.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Ints
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Pure
from discreet.mechanisms import DiscreteLaplace
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.noise.randomness import Source
from discreet.queries.record_count import MOST

STEPS = 16
"""Steps of a record: the grid of costs."""


@dataclass(frozen=True)
class NoisyPartition:
    """Halves and halves of halves as buckets; ``moved`` records differ between neighbours."""

    epsilon: Fraction
    moved: int
    randomness: Source

    @property
    def event(self) -> Event:
        """The price of the partition; the noise is never priced by its own event."""
        return mark_unprotected_event(Pure(epsilon=self.epsilon), self.randomness)

    def noise(self, cells: int) -> DiscreteLaplace:
        """The noise on the costs of candidates of so many cells."""
        most = (1 if cells == 1 else 2) * self.moved
        return DiscreteLaplace(
            epsilon=self.epsilon, sensitivity=STEPS * most, randomness=self.randomness
        )

    def release(self, counts: Ints, present: NDArray[np.bool_], price: Fraction) -> Ints:
        """The first cells of the buckets, in order, and the end.

        ``counts`` has a power of two of places; those not ``present`` are no cells of the universe.
        """
        charge = round(price * STEPS)
        merged: list[NDArray[np.bool_]] = []
        best: Ints | None = None
        table = np.clip(counts, -MOST, MOST)
        cells = 1
        while cells <= len(counts):
            inside = present.reshape(-1, cells).sum(axis=1)
            costs = STEPS * deviations(table.reshape(-1, cells), present.reshape(-1, cells))
            noisy = np.asarray(self.noise(cells).release(costs)) + charge
            # Intervals without cells are no buckets, as everybody knows.
            own = np.where(inside > 0, noisy, 0)
            if best is None:
                merged.append(np.ones(len(own), dtype=np.bool_))
                best = own
            else:
                halves = best[0::2] + best[1::2]
                merged.append((own <= halves) | (inside == 0))
                best = np.where(merged[-1], own, halves)
            cells *= 2
        return _starts(merged)


def deviations(rows: Ints, present: NDArray[np.bool_]) -> Ints:
    """The sum of absolute deviations of each row's present entries from their median: whole.

    >>> deviations(np.array([[0, 0, 5, 1]]), np.ones((1, 4), dtype=bool)).tolist()
    [6]
    """
    width = rows.shape[1]
    number = present.sum(axis=1)
    # Absent entries sort behind all others and then count nothing.
    ordered = np.sort(np.where(present, rows, np.iinfo(np.int64).max), axis=1)
    place = np.arange(width)
    half = (number // 2)[:, None]
    upper = (place >= number[:, None] - half) & (place < number[:, None])
    lower = place < half
    values = np.where(place < number[:, None], ordered, 0)
    return np.asarray((values * upper).sum(axis=1) - (values * lower).sum(axis=1))


def _starts(merged: list[NDArray[np.bool_]]) -> Ints:
    """Where the chosen buckets begin, from the whole downwards, and where the last one ends."""
    active = np.zeros(1, dtype=np.int64)
    found = []
    for level in reversed(range(len(merged))):
        whole = merged[level][active]
        found.append(active[whole] << level)
        split = active[~whole]
        active = np.concatenate([2 * split, 2 * split + 1])
    return np.append(np.sort(np.concatenate(found)), 1 << (len(merged) - 1))
