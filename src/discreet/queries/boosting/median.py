"""The synopsis that boosting leaves: the median of many.

Source: boosting-and-analysts:B2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.queries.workload.answers import shared_answers
from discreet.queries.workload.packing import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MedianSynopsis:
    """Estimated counts of all cells, a row for each round; answers are medians over rounds."""

    universe: Universe
    tables: Floats
    event: Event

    def answers(self, workload: Workload) -> Floats:
        """The median over rounds, of each query by itself."""
        return np.median([shared_answers(workload, table) for table in self.tables], axis=0)

    def plain(self) -> Mapping[str, object]:
        """All tables."""
        return {"synopsis": "medians", "tables": packed(self.tables)}

    @classmethod
    def recalled(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> MedianSynopsis:
        """The synopsis that ``plain`` described."""
        tables = unpacked(plain.get("tables"))
        if tables.ndim != 2 or len(tables) == 0 or tables.shape[1] != universe.size:
            raise not_plain()
        return cls(universe, tables, event)
