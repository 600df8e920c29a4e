"""Exact counts of a table's marginals during one release: each is asked for once.

Source: ``discreet.core.source``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.queries.workload.cell_counts import Counted, marginal_counts
from discreet.queries.workload.universe import Universe
from discreet.synthetic.graphical.junction_tree import Places
from discreet.synthetic.merged import MergedValues


class MarginalCounts:
    """Counts by merged values, kept while a release needs them. Private: only noise may follow."""

    def __init__(self, counts: Counted, universe: Universe) -> None:
        """Nothing is counted yet."""
        self._counts = counts
        self._universe = universe
        self.merged = MergedValues.none(universe.shape)
        self._known: dict[Places, NDArray[np.int64]] = {}

    def merge(self, merged: MergedValues) -> None:
        """From here on, count by these merged values."""
        self.merged = merged
        self._known = {}

    def __call__(self, places: Places) -> NDArray[np.int64]:
        """Exact counts by some attributes, one axis for each."""
        if places not in self._known:
            names = [self._universe.names[place] for place in places]
            table = marginal_counts(self._counts, self._universe, names)
            self._known[places] = self.merged.merge(table, places)
        return self._known[places]
