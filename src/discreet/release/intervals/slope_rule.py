"""The rule by which the slope of a half-width in several noises is found.

It moves ends of intervals a little. Batches that were bought under an earlier rule are made again
from their noisy values, and come back byte for byte.

Source: contract, "Spending" (identical questions).
"""

from __future__ import annotations

from enum import Enum


class SlopeRule(Enum):
    """``BOUNDED`` by continuous variables as of today, or ``SEARCHED`` on grids as before."""

    BOUNDED = "bounded"
    SEARCHED = "searched"
