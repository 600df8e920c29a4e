"""Exact whole numbers, whatever the number of records.

Source: contract, "Numbers" (sums are exact integers; an overflow would break every sensitivity).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_MOST = 2.0**61


def roomy(counts: NDArray[np.int64], *, moved: int) -> NDArray[np.int64]:
    """Counts in whole numbers that hold their measurements: 64 bits where these suffice.

    A record moves no measurement by more than ``moved``, so none exceeds that times their number.
    Python's integers take over beyond; the mechanisms saturate those at 2**61 steps, which moves
    no two values further apart.
    """
    if float(np.abs(counts).sum(dtype=np.float64)) * moved > _MOST:
        return np.asarray(counts, dtype=object)
    return np.asarray(counts, dtype=np.int64)
