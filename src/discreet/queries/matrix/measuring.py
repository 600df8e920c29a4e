"""What all strategies share: counts by some attributes, and one release of whole numbers.

Source: 004b:A4; contract, "Numbers".
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData
from discreet.core.guarantee import Guarantee
from discreet.noise.randomness import Source
from discreet.queries.additive import Additive, additive
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.cell_counts import Counted, marginal_counts
from discreet.queries.workload.universe import Universe


class Measured(Protocol):
    """Whole numbers to be released together, and what one record moves them by at most."""

    def moved_l1(self, size: RecordCount) -> int:
        """In the L1 norm: a record that comes or goes, or one in exchange for another."""

    def moved_l2_squared(self, size: RecordCount) -> int:
        """In the L2 norm, squared."""


def measuring(
    measured: Measured, spend: Guarantee, size: RecordCount, records: int, randomness: Source
) -> Additive:
    """The mechanism that releases all of them at once, for ``records`` records of a person."""
    return additive(
        spend,
        l1=records * measured.moved_l1(size),
        l2_squared=records**2 * measured.moved_l2_squared(size),
        randomness=randomness,
    )


def counts_by(
    counts: Counted, universe: Universe, places: tuple[int, ...], size: RecordCount
) -> NDArray[np.int64]:
    """Exact counts by the attributes at some places; all records, where their number is public."""
    # A source may be unable to count by nothing.
    asked = places or (0,)
    table = marginal_counts(counts, universe, [universe.names[place] for place in asked])
    if isinstance(size, PublicCount) and int(table.sum()) != size.records:
        raise InvalidData(
            code="records_differ",
            expectation=f"the public number of records, {size.records}",
            remedy="Count all records, or leave their number out with size=BoughtCount().",
        )
    return table if places else np.asarray(table.sum())
