"""Packed bits of reports: reading them, checking them, adding them up by column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_ROWS = 255


def unused_bits(size: int) -> int:
    """The mask of bits in the last byte that stand for no value."""
    return 0xFF & ~((1 << ((size - 1) % 8 + 1)) - 1)


def from_hex(payload: object, size: int) -> NDArray[np.uint8] | None:
    """Packed bits from the text of a report; None if it is none, or has bits too many."""
    if not isinstance(payload, str) or len(payload) != 2 * -(-size // 8):
        return None
    try:
        found = np.frombuffer(bytes.fromhex(payload), dtype=np.uint8)
    except ValueError:
        return None
    if 2 * len(found) != len(payload) or found[-1] & unused_bits(size):
        return None  # hexadecimal text may hold spaces
    return found


def canonical(bits: NDArray[np.uint8], size: int) -> NDArray[np.bool_]:
    """Which rows have no bit that stands for no value."""
    return np.asarray((bits[:, -1] & np.uint8(unused_bits(size))) == 0)


def column_sums(bits: NDArray[np.uint8], size: int) -> NDArray[np.int64]:
    """How many rows have each bit set.

    Up to 255 rows are added in single bytes, which cannot overflow.
    """
    total = np.zeros(8 * bits.shape[1], dtype=np.int64)
    many = 16 * _ROWS
    for start in range(0, len(bits), many):
        part = np.unpackbits(bits[start : start + many], axis=1, bitorder="little")
        for first in range(0, len(part), _ROWS):
            total += np.add.reduce(part[first : first + _ROWS], axis=0, dtype=np.uint8)
    return total[:size]


def packed(places: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Rows of booleans as packed bits."""
    return np.packbits(places, axis=1, bitorder="little")
