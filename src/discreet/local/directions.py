"""Random directions that everybody can make from a seed: whole numbers, nearly normal.

A coordinate is a sum of four numbers, one for each byte of a 32-bit word that a fixed mixture makes
of seed and place. The numbers are the values of an odd polynomial of degree five, chosen so that
the cumulants of order four and six vanish up to rounding, as a normal law's do. Clients and servers
compute the same whole numbers. They protect nothing; accuracy alone rests on them.
"""

from __future__ import annotations

from functools import cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

LINEAR, CUBIC, SCALE = 1783121194, 65225, 300_000_000
DEVIATION = sqrt(1183982)
"""Standard deviation of a coordinate: exactly the root of four times the mean square of bytes."""


@cache
def byte_values() -> NDArray[np.int64]:
    """What each byte stands for; byte b and byte 255 - b have opposite signs."""
    odd = np.arange(1, 256, 2, dtype=np.int64)
    high = (odd * (LINEAR - CUBIC * odd**2 + odd**4) + SCALE // 2) // SCALE
    return np.concatenate([-high[::-1], high])


def directions(
    seeds: NDArray[np.int64], places: NDArray[np.int64], dimensions: int
) -> NDArray[np.int64]:
    """For each seed and place a row of ``dimensions`` whole numbers."""
    counters = places[..., None] * dimensions + np.arange(dimensions)
    words = _mixed(_mixed(counters.astype(np.uint32)) + seeds[..., None].astype(np.uint32))
    values = byte_values()
    total: NDArray[np.int64] = values[words & np.uint32(255)]
    for shift in (8, 16, 24):
        total = total + values[(words >> np.uint32(shift)) & np.uint32(255)]
    return total


def _mixed(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """A bijection of 32-bit words in which every bit depends on every other."""
    words = words ^ (words >> np.uint32(16))
    words = words * np.uint32(0x7FEB352D)
    words = words ^ (words >> np.uint32(15))
    words = words * np.uint32(0x846CA68B)
    return words ^ (words >> np.uint32(16))
