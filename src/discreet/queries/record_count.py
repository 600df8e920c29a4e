"""How many records there are: public, or bought.

Where one record is exchanged for another, their number is public. Where one comes or goes, it is
not, and a mechanism that needs it buys a noisy one from its own spend.

Source: contract, "Spending" (mechanisms that need n under add/remove buy a noisy n).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import Number, count, exact, probability
from discreet.mechanisms.for_spend import WholeNoise, noise_for, share_of
from discreet.noise.randomness import Source

MOST = 1 << 32
"""Below this many records, sums with weights on the grid 2**-20 are exact in doubles."""


@dataclass(frozen=True)
class PublicCount:
    """Neighbours exchange records: there are ``records`` of them, as everybody knows.

    Assumptions: the number is known to everybody before any data is read, and neighbours have the
    same.

    Guarantee: it costs nothing, and is never checked against the data.

    Source: contract, "Spending" (mechanisms that need n).
    """

    records: int

    def __post_init__(self) -> None:
        """Refuse no records."""
        object.__setattr__(self, "records", count("records", self.records))

    @property
    def share(self) -> Fraction:
        """What it takes of a spend."""
        return Fraction(0)

    @property
    def changed_cells(self) -> int:
        """Cells whose count changes between neighbours."""
        return 2


@dataclass(frozen=True)
class NoisyRecordCount:
    """Neighbours add or remove records: a noisy number is bought for ``part`` of the spend.

    Assumptions: neighbours have different numbers of records.

    Guarantee: the number is bought with noise, from ``part`` of the spend, by the mechanism that
    needs it.

    Source: contract, "Spending" (mechanisms that need n).
    """

    part: Number = Fraction(1, 20)

    def __post_init__(self) -> None:
        """Refuse parts that are not between zero and one."""
        probability("part", self.part)

    @property
    def share(self) -> Fraction:
        """What it takes of a spend."""
        return exact(self.part)

    @property
    def changed_cells(self) -> int:
        """Cells whose count changes between neighbours."""
        return 1


RecordCount = PublicCount | NoisyRecordCount


def bought_count(
    size: RecordCount, spend: Guarantee, records: int, randomness: Source
) -> WholeNoise | None:
    """What counts the records for its share of a spend, where their number is not public."""
    if not size.share:
        return None
    paid = share_of(spend, size.share)
    return noise_for(paid, l1=records, l2=records, randomness=randomness)


def count_records(size: RecordCount, table: NDArray[np.int64], noise: WholeNoise | None) -> float:
    """The number of records: the public one, which the data must have, or a noisy one."""
    if isinstance(size, PublicCount):
        if int(table.sum()) != size.records:
            raise InvalidData(
                code="records_differ",
                expectation=f"the public number of records, {size.records}",
                remedy="Count all records, or buy their number with size=NoisyRecordCount().",
            )
        return float(size.records)
    assert noise is not None
    noisy = int(noise.release(np.array([table.sum()]))[0])
    return float(min(max(noisy, 1), MOST))


def require_size(size: object) -> None:
    """Refuse what says neither that the number of records is public nor that it is bought."""
    if not isinstance(size, PublicCount | NoisyRecordCount):
        raise InvalidParameter(
            code="size_not_a_count",
            expectation="size=PublicCount(n) or size=NoisyRecordCount()",
            received=type(size).__name__,  # the number itself may be private
            remedy="Write PublicCount(n) where neighbours exchange records, so that n is public; "
            "where records are added or removed, NoisyRecordCount().",
        )


def require_public(size: RecordCount, *, method: str) -> None:
    """Refuse a method that needs the exact number of records where it is not public."""
    if not isinstance(size, PublicCount):
        raise InvalidParameter(
            code="records_unknown",
            expectation=f"a public number of records for {method}",
            received=size,
            remedy="Pass size=PublicCount(n) where neighbours exchange records; where records are "
            "added or removed, use MWEM or the matrix mechanism.",
        )
