"""What all strategies share: exact counts by some attributes, released with noise at once.

Source: 004b:A4; contract, "Numbers".
"""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData
from discreet.core.guarantee import Guarantee
from discreet.mechanisms.for_spend import WholeNoise, least_noise
from discreet.mechanisms.grid import sqrt_above
from discreet.mechanisms.noise_choice import AnyNoise, NoiseChoice
from discreet.noise.randomness import Source
from discreet.queries.record_count import PublicCount, RecordCount
from discreet.queries.workload.cell_counts import Counted, marginal_counts
from discreet.queries.workload.universe import Universe

ANY = AnyNoise()
_MOST = 2.0**61


class Measurements(Protocol):
    """Whole numbers to be released together, and what one record moves them by at most."""

    def moved_l1(self, size: RecordCount) -> int:
        """In the L1 norm: a record that comes or goes, or one in exchange for another."""

    def moved_l2_squared(self, size: RecordCount) -> int:
        """In the L2 norm, squared."""


def measuring(
    measured: Measurements,
    spend: Guarantee,
    size: RecordCount,
    records: int,
    randomness: Source,
    *,
    choice: NoiseChoice = ANY,
) -> WholeNoise:
    """The mechanism that releases all of them at once, for ``records`` records of a person."""
    return least_noise(
        choice.readings(spend),
        l1=records * measured.moved_l1(size),
        l2=sqrt_above(Fraction(records**2 * measured.moved_l2_squared(size))),
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
            remedy="Count all records, or leave their number out with size=NoisyRecordCount().",
        )
    return table if places else np.asarray(table.sum())


def exact_integers(counts: NDArray[np.int64], *, moved: int) -> NDArray[np.int64]:
    """Counts in whole numbers that hold their measurements: 64 bits where these suffice.

    A record moves no measurement by more than ``moved``, so none exceeds that times their number.
    Python's integers take over beyond; the mechanisms saturate those at 2**61 steps, which moves
    no two values further apart.
    """
    if float(np.abs(counts).sum(dtype=np.float64)) * moved > _MOST:
        return np.asarray(counts, dtype=object)
    return np.asarray(counts, dtype=np.int64)
