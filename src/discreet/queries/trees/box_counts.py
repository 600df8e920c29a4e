"""Boxes that share out a universe, with an estimated count each: what grown trees leave behind.

Source: 004b:A8, A9 (range answer = full leaves + area fraction of partial leaves).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.queries.synopses.partial_tables import require_same
from discreet.queries.trees.overlap import shares
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import LARGEST, Universe
from discreet.queries.workload.workload import Product, Workload

_AT_ONCE = 1 << 24
_PAINTED = 1 << 20
_MOST_WORK = 1 << 33


@dataclass(frozen=True, eq=False)
class BoxCounts:
    """Half-open boxes of positions, disjoint and together the whole universe, and their counts."""

    universe: Universe
    lows: Ints
    highs: Ints
    counts: Floats
    event: Event

    def answers(self, workload: Workload) -> Floats:
        """Sums of estimated counts, with the records of a box spread evenly in it."""
        require_same(workload, self.universe)
        if self.universe.size <= _PAINTED:
            return workload.answers(self.cells)
        return np.concatenate([self._answers(product) for product in workload.products])

    def boxes(self, lows: ArrayLike, highs: ArrayLike) -> Floats:
        """The answers of half-open boxes of positions, a row of first and of last ends each."""
        first, last = whole_boxes(lows, highs, self.universe)
        lengths = self.highs - self.lows
        found = np.empty(len(first))
        for turn, (low, high) in enumerate(zip(first, last, strict=True)):
            common = np.minimum(self.highs, high) - np.maximum(self.lows, low)
            found[turn] = self.counts @ np.prod(np.maximum(common, 0) / lengths, axis=1)
        return found

    @cached_property
    def cells(self) -> Floats:
        """The estimated count of each cell, flat; for universes that fit in memory."""
        self.universe.require_explicit(method="a count for each cell")
        table = np.zeros(self.universe.shape)
        means = self.counts / np.prod(self.highs - self.lows, axis=1)
        for low, high, mean in zip(self.lows, self.highs, means, strict=True):
            table[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] = mean
        return table.ravel()

    def _answers(self, product: Product) -> Floats:
        if product.queries * len(self.counts) > _MOST_WORK:
            if self.universe.size <= LARGEST:
                return product.answers(self.cells.reshape(self.universe.shape))
            raise InvalidParameter(
                code="workload_too_large",
                expectation=f"at most {_MOST_WORK} pairs of a query and a box",
                received=(product.queries, len(self.counts)),
                remedy="Ask for single boxes with `boxes`.",
            )
        parts = [
            shares(family, self.lows[:, axis], self.highs[:, axis])
            for axis, family in enumerate(product.families)
        ]
        # One axis after the other in front, so that only the last product is contracted.
        tables: Floats = self.counts[None, :]
        for part in parts[:-1]:
            if len(tables) * len(part) * len(self.counts) > _AT_ONCE * 8:
                return self._in_turn(parts)
            tables = (tables[:, None, :] * part[None, :, :]).reshape(-1, len(self.counts))
        return np.asarray(tables @ parts[-1].T).ravel()

    def _in_turn(self, parts: list[Floats]) -> Floats:
        """The same, one query of the first axis at a time."""
        found = []
        for row in parts[0]:
            tables: Floats = (self.counts * row)[None, :]
            for part in parts[1:-1]:
                tables = (tables[:, None, :] * part[None, :, :]).reshape(-1, len(self.counts))
            found.append(np.asarray(tables @ parts[-1].T).ravel())
        return np.concatenate(found)

    def to_dict(self) -> Mapping[str, object]:
        """The boxes and their counts."""
        return {
            "synopsis": "boxes",
            "lows": packed(self.lows),
            "highs": packed(self.highs),
            "counts": packed(self.counts),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, object], universe: Universe, event: Event) -> BoxCounts:
        """The synopsis that ``plain`` described."""
        lows, highs = unpacked(plain.get("lows")), unpacked(plain.get("highs"))
        counts = unpacked(plain.get("counts"))
        shape = (counts.size, len(universe.shape))
        if lows.shape != shape or highs.shape != shape or counts.ndim != 1:
            raise not_plain()
        if (lows < 0).any() or (highs <= lows).any() or (highs > universe.shape).any():
            raise not_plain()
        return cls(universe, lows.astype(np.int64), highs.astype(np.int64), counts, event)


def whole_boxes(lows: ArrayLike, highs: ArrayLike, universe: Universe) -> tuple[Ints, Ints]:
    """A row of first and of last ends for each box; refused unless they lie in the universe."""
    first, last = np.atleast_2d(np.asarray(lows)), np.atleast_2d(np.asarray(highs))
    shape = (len(first), len(universe.shape))
    whole = all(np.issubdtype(ends.dtype, np.integer) for ends in (first, last))
    fit = whole and first.shape == shape and last.shape == shape
    if not fit or (first < 0).any() or (last < first).any() or (last > universe.shape).any():
        raise InvalidParameter(
            code="boxes_misfit",
            expectation=f"whole first and last ends inside {universe.shape}, a row for each box",
            received=(first.shape, last.shape),
            remedy="Give half-open boxes of positions, for instance [[0, 0]] and [[8, 8]].",
        )
    return first.astype(np.int64), last.astype(np.int64)
