"""Many coins of one chance over 2**64, eight to a byte: what local reports consist of.

Eight coins are one of 256 outcomes, whose chances are products of whole numbers; a guide table
draws the byte from sixteen random bits, and from more only where these leave it open. So a coin
takes two random bits, not sixteen, and its law is exact.

Source: 000a:A11, 004a:C6. Proof: ``proofs/table.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import SYSTEM
from discreet.noise.table import GuideTable, OutcomeWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.randomness import Source

_WHOLE = 1 << 64


@dataclass(frozen=True)
class EightCoins:
    """The law of a byte of independent bits, each set with ``chance`` over 2**64."""

    chance: int

    def weights(self, bits: int) -> OutcomeWeights:
        """Exact products, whatever precision is asked for."""
        powers = [self.chance**ones * (_WHOLE - self.chance) ** (8 - ones) for ones in range(9)]
        exactly = [powers[byte.bit_count()] for byte in range(256)]
        return OutcomeWeights(exactly, exactly, 0)

    def values(self, count: int) -> NDArray[np.int64]:
        """The bytes themselves."""
        return np.arange(count, dtype=np.int64)


def packed_coins(chance: int, size: int, source: Source = SYSTEM) -> NDArray[np.uint8]:
    """``size`` bytes of eight coins each, heads with ``chance`` over 2**64."""
    if not 0 < chance < _WHOLE:
        raise InvalidParameter(
            code="chance_out_of_range",
            expectation="a chance strictly between 0 and 2**64",
            received=chance,
            remedy="Pass the numerator of the chance over 2**64.",
        )
    return _table(chance).draw(size, source).astype(np.uint8)


@lru_cache(maxsize=16)
def _table(chance: int) -> GuideTable:
    return GuideTable(EightCoins(chance))
