"""Whole counts of the cells that have any: what TopDown leaves behind.

Source: 000a:A9; Abowd and others 2022 (microdata); 004d:D21.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Event
from discreet.core.parameters import count
from discreet.mechanisms.distributions.cut_bias import cut_bias
from discreet.noise import uniform_integers
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.synopses.partial_tables import answered, require_same
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.hierarchy.noisy_levels import (
    NoisyLevels,
    levels_from_list,
    levels_to_list,
)


@dataclass(frozen=True, eq=False)
class CellTable:
    """The cells of a universe with at least one record, in order, and how many they have.

    A universe of many millions of cells takes no more room than its records and the noisy counts
    of its smaller levels, which are in ``levels`` as they were before they were made to agree.

    Assumptions: it was made from released values only.

    Guarantee: marginals, answers and rows are post-processing, and free.

    Source: 000a:A9.
    """

    universe: Universe
    cells: Ints
    counts: Ints
    event: Event
    levels: NoisyLevels = ()

    @property
    def total(self) -> float:
        """The number of records."""
        return float(self.counts.sum())

    @property
    def biased(self) -> str:
        """In which way its counts are wrong on average, in words."""
        last = self.levels[-1] if self.levels else None
        far = "" if last is None else f" (cut off by itself, by {cut_bias(last.law):.3g})"
        return (
            f"no count is negative, so an empty cell of the last level comes out too high{far}, "
            "and larger siblings too low; the counts before that are in measured_counts"
        )

    def answers(self, workload: Workload) -> Floats:
        """Sums of whole counts."""
        require_same(workload, self.universe)
        return np.concatenate(
            [answered(product, self._by(product.kept_places)) for product in workload.products]
        )

    def marginal(self, names: Sequence[str]) -> Floats:
        """Counts by some attributes, one axis for each, in the order of ``names``."""
        return self._by(tuple(map(self.universe.place, names)))

    def _by(self, places: tuple[int, ...]) -> Floats:
        if not places:
            return np.asarray(self.total)
        shown = Universe(tuple(self.universe.attributes[place] for place in places))
        shown.require_explicit(method="the counts of a marginal")
        codes = np.unravel_index(self.cells, self.universe.shape)
        flat = np.ravel_multi_index(tuple(codes[place] for place in places), shown.shape)
        found = np.bincount(flat, weights=self.counts.astype(np.float64), minlength=shown.size)
        return np.asarray(found.reshape(shown.shape))

    def sample(self, n: int | None = None, *, randomness: Source = SYSTEM) -> NDArray[np.int64]:
        """Rows of codes: all records, each once; or ``n`` of them, evenly spread over the cells."""
        total = int(self.counts.sum())
        if n is None or total == 0:
            places = np.repeat(np.arange(len(self.cells)), self.counts)
        else:
            rows = count("n", n, least=0)
            offset = int(uniform_integers(total, 1, randomness)[0])
            wanted = [(number * total + offset) // rows for number in range(rows)]
            reached = np.searchsorted(np.cumsum(self.counts), np.asarray(wanted) % total, "right")
            places = np.asarray(reached)
        return np.stack(np.unravel_index(self.cells[places], self.universe.shape), axis=1)

    def to_dict(self) -> Mapping[str, object]:
        """The cells that have records, their counts, and the noisy counts of the levels."""
        plain: dict[str, object] = {"synopsis": "cells/1", "model": "cells/1"}
        if len(self.cells):
            plain |= {"cells": packed(self.cells), "counts": packed(self.counts)}
        if self.levels:
            plain["levels"] = levels_to_list(self.levels)
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, object], universe: Universe, event: Event) -> CellTable:
        """The table that ``plain`` described."""
        levels = levels_from_list(plain.get("levels"))
        if "cells" not in plain:
            nothing = np.empty(0, dtype=np.int64)
            return cls(universe, nothing, nothing, event, levels)
        cells, counts = (unpacked(plain.get(name)).astype(np.int64) for name in ("cells", "counts"))
        inside = len(cells) and cells[0] >= 0 and cells[-1] < universe.size
        if cells.shape != counts.shape or cells.ndim != 1 or not inside:
            raise not_plain()
        if (np.diff(cells) <= 0).any() or (counts <= 0).any():
            raise not_plain()
        return cls(universe, cells, counts, event, levels)
