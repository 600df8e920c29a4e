"""Places with safe regions: who names a region publicly is hidden within it, and only there.

Cells of a map have numbers; a region is a public list of cells. A person chooses a region that may
be known and an epsilon of their own, and reports one of its cells. People of one region and
epsilon are one collection; counts of cells add up over collections, since they are different
people.

Guarantee: epsilon for any two cells of the region. Between regions there is none: the region is
public. Source: 004a:C22.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import Number, count
from discreet.local.oracle import SupportOracle
from discreet.local.planner import best_oracle
from discreet.local.tally import Tally

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SafeRegion:
    """Cells among which a person is hidden, and how well."""

    cells: tuple[int, ...]
    epsilon: Number

    def __post_init__(self) -> None:
        """Refuse regions of fewer than two cells, or with one twice."""
        if len(set(self.cells)) != len(self.cells) or len(self.cells) < 2 or min(self.cells) < 0:
            raise InvalidParameter(
                code="local_region_cells",
                expectation="two or more different cells, numbered from zero",
                received=len(self.cells),
                remedy="A region of one cell tells the place; name a larger one.",
            )

    @cached_property
    def oracle(self) -> SupportOracle:
        """What people of the region answer to: which of its cells, by its place in the list."""
        return best_oracle(epsilon=self.epsilon, domain=len(self.cells), message_bits=64)

    def places(self, cells: Sequence[int]) -> NDArray[np.int64]:
        """Cells of the map as numbers within the region; others are refused together."""
        known = {cell: place for place, cell in enumerate(self.cells)}
        if not all(cell in known for cell in cells):
            raise InvalidParameter(
                code="local_cell_outside",
                expectation="cells of the person's own region",
                remedy="Choose the region by the place, before anything is sent.",
            )
        return np.array([known[cell] for cell in cells], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class CellCounts:
    """Estimated people in each cell of the map, and the variances."""

    counts: Floats
    variances: Floats


def cell_counts(tallies: Mapping[SafeRegion, Tally], *, cells: int) -> CellCounts:
    """People in each of ``cells`` cells, over all regions; outside its region nobody is counted."""
    counts, variances = np.zeros(count("cells", cells)), np.zeros(cells)
    for region, tally in tallies.items():
        found = region.oracle.estimate(tally)
        at = np.array(region.cells, dtype=np.int64)
        counts[at] += found.counts
        variances[at] += found.variances * tally.people**2
    return CellCounts(counts, variances)
