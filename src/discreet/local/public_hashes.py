"""Hash functions that everybody knows: from a seed that stands in the schema."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class PublicHashes:
    """Coefficients below ``prime``. They are public, and protect nothing."""

    prime: int
    numbers: NDArray[np.int64]

    @classmethod
    def from_seed(cls, seed: int, *, prime: int, shape: tuple[int, ...]) -> PublicHashes:
        """Coefficients in this shape, the same wherever the seed is the same.

        A hash of seed and place, modulo the prime: 128 bits over at most 31, so that no coefficient
        is preferred by more than 2**-97.
        """
        flat = np.array(
            [
                int.from_bytes(hashlib.sha256(f"{seed}/{place}".encode()).digest()[:16], "little")
                % prime
                for place in range(int(np.prod(shape)))
            ],
            dtype=np.int64,
        )
        return cls(prime, flat.reshape(shape))

    def with_slopes(self) -> PublicHashes:
        """Pairs of slope and offset, without slopes of zero: those send all values to one cell."""
        numbers = self.numbers.copy()
        slopes = numbers[..., 0]
        slopes[slopes == 0] = 1
        return PublicHashes(self.prime, numbers)

    def collision(self, cells: int) -> Fraction:
        """The exact chance that two values, uniform and independent below the prime, share a cell.

        That is the sum of squared shares that the cells have of the residues.

        >>> PublicHashes(5, np.zeros(0)).collision(2)
        Fraction(13, 25)
        """
        short, more = divmod(self.prime, cells)
        squares = more * (short + 1) ** 2 + (cells - more) * short**2
        return Fraction(squares, self.prime**2)
