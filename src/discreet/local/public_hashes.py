"""Hash functions that everybody knows: from a seed that stands in the schema."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

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
        is preferred by more than 2**-97. The last axis alternates slopes and offsets; a slope of
        zero would send all values to one cell and is replaced by one.
        """
        flat = np.array(
            [
                int.from_bytes(hashlib.sha256(f"{seed}/{place}".encode()).digest()[:16], "little")
                % prime
                for place in range(int(np.prod(shape)))
            ],
            dtype=np.int64,
        ).reshape(shape)
        slopes = flat[..., 0::2]
        slopes[slopes == 0] = 1
        return cls(prime, flat)
