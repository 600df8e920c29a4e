"""Estimated counts of the leaves of a complete tree, which answer boxes and products.

Source: 004b:A5, A9 (area fraction of partial leaves).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Event
from discreet.queries.answer_noise.answer_noise import (
    AnswerNoise,
    noise_from_dict,
    noise_to_dict,
)
from discreet.queries.synopses.partial_tables import require_same
from discreet.queries.trees.box_counts import whole_boxes
from discreet.queries.trees.levels import Levels
from discreet.queries.trees.overlap import shares
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Product, Workload, apply_each


def leaf_sides(universe: Universe, levels: Levels) -> list[tuple[Ints, Ints]]:
    """Where the leaves begin and end along each attribute, inside the universe."""
    found = []
    for size, width in zip(universe.shape, levels.widths, strict=True):
        side = 1 << (width - min(levels.depth, width))
        lows = np.arange(0, size, side, dtype=np.int64)
        found.append((lows, np.minimum(lows + side, size)))
    return found


@dataclass(frozen=True, eq=False)
class GridCounts:
    """A count for each leaf of a tree ``depth`` levels deep, an axis for each attribute."""

    universe: Universe
    depth: int
    counts: Floats
    event: Event
    noise: AnswerNoise | None = None

    @property
    def _sides(self) -> list[tuple[Ints, Ints]]:
        widths = tuple((side - 1).bit_length() for side in self.universe.shape)
        return leaf_sides(self.universe, Levels(widths, self.depth))

    def answers(self, workload: Workload) -> Floats:
        """Sums of estimated counts, with the records of a leaf spread evenly in it."""
        require_same(workload, self.universe)
        return np.concatenate([self._answers(product) for product in workload.products])

    def _answers(self, product: Product) -> Floats:
        operators: list[Callable[[Floats], Floats]] = []
        for family, (lows, highs) in zip(product.families, self._sides, strict=True):
            if len(lows) == family.size:
                operators.append(family.apply)
            else:
                operators.append(partial(np.tensordot, shares(family, lows, highs), axes=1))
        return np.ravel(apply_each(operators, self.counts))

    def boxes(self, lows: ArrayLike, highs: ArrayLike) -> Floats:
        """The answers of half-open boxes of positions, a row of first and of last ends each."""
        first, last = whole_boxes(lows, highs, self.universe)
        sides = self._sides
        found = np.empty(len(first))
        for turn, (low, high) in enumerate(zip(first, last, strict=True)):
            part = self.counts
            for (starts, ends), a, b in zip(sides, low, high, strict=True):
                # Only leaves that meet the box; the first axis is summed away in each turn.
                near = slice(
                    int(np.searchsorted(ends, a, "right")), int(np.searchsorted(starts, b))
                )
                common = np.minimum(ends[near], b) - np.maximum(starts[near], a)
                part = np.tensordot(common / (ends[near] - starts[near]), part[near], 1)
            found[turn] = part
        return found

    def to_dict(self) -> Mapping[str, object]:
        """The depth, the counts, and what is known of their noise."""
        counts = packed(self.counts)
        kept = noise_to_dict(self.noise)
        return {"synopsis": "grid", "depth": self.depth, "counts": counts, **kept}

    @classmethod
    def from_dict(cls, plain: Mapping[str, object], universe: Universe, event: Event) -> GridCounts:
        """The synopsis that ``plain`` described."""
        depth, counts = plain.get("depth"), unpacked(plain.get("counts"))
        if not isinstance(depth, int) or depth < 0:
            raise not_plain()
        found = cls(universe, depth, counts, event, noise_from_dict(plain, universe))
        if counts.shape != tuple(len(lows) for lows, _ in found._sides):
            raise not_plain()
        return found
