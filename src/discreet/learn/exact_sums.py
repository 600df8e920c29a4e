"""Sums over rows in exact integers, at the speed of matrix products.

Doubles add and multiply whole numbers exactly as long as every partial result is at most 2**53,
in any order and on any hardware. So steps of 36 bits are cut into two limbs of 18, blocks of 2**13
rows are multiplied as matrices of doubles, and the results are put together in Python's integers.

Source: contract, "Numbers" (summed in exact integers). Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats

Whole: TypeAlias = NDArray[Any]
"""Python integers of any size, as objects."""

LIMB = 18
ROWS = 1 << 13
"""Rows of one block. 2**17 products of at most 2**36 would still be exact; fewer stay in cache."""


def slices(rows: int) -> Iterator[slice]:
    """Blocks of rows, in order."""
    return (slice(start, start + ROWS) for start in range(0, rows, ROWS))


def products(blocks: Iterator[Floats], width: int) -> Whole:
    """Sums over rows of all products of two columns, in steps of 2**-72.

    Contract: blocks of at most ``ROWS`` rows of whole numbers within ±2**36, each with one line
    for each of ``width`` columns.
    """
    total = np.zeros((width, width), dtype=object)
    for steps in blocks:
        both = np.empty((2 * width, steps.shape[1]))
        high, low = both[:width], both[width:]
        np.multiply(steps, 2.0**-LIMB, out=high)
        np.rint(high, out=high)
        np.multiply(high, 2.0**LIMB, out=low)
        np.subtract(steps, low, out=low)
        block = (both @ both.T).astype(np.int64).astype(object)
        mixed = block[:width, width:] + block[width:, :width]
        total += (block[:width, :width] << 2 * LIMB) + (mixed << LIMB) + block[width:, width:]
    return total


def sums(steps: Floats, block: NDArray[np.int64], blocks: int) -> Whole:
    """Sums of the columns over the rows of each block, in the steps of the input.

    Contract: whole numbers within ±2**36; rows whose ``block`` is not in ``0 … blocks-1`` count
    nowhere.
    """
    total = np.zeros((blocks, steps.shape[1]), dtype=object)
    for part in slices(len(steps)):
        member = (block[part, None] == np.arange(blocks)).astype(np.float64)
        total += (member.T @ steps[part]).astype(np.int64).astype(object)
    return total
