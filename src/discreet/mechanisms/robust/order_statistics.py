"""How far the median can move: now, and after some rows have been changed.

For rows sorted as x_1 ≤ … ≤ x_n within [0, Λ], x_i = 0 below and Λ above, and the lower median at
m = floor((n + 1)/2), the most that one changed row can move the median after k others have been
changed is A^(k) = max over 0 ≤ t ≤ k + 1 of x_(m+t) - x_(m+t-k-1). Replace-one adjacency; n is
public, odd or even.

Source: 000b:B4, B5, 004b:A18, whose printed index m+t+k-1 is wrong. Proof:
``proofs/robust-smooth-sensitivity.md``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.parameters import Number
from discreet.mechanisms.robust.lattice import Lattice


@dataclass(frozen=True)
class SortedRows:
    """Whole numbers in increasing order, all within [0, width]. Private: never released."""

    rows: NDArray[np.int64]
    width: int

    @property
    def rank(self) -> int:
        """The lower median's place, counted from one."""
        return (len(self.rows) + 1) // 2

    @property
    def median(self) -> int:
        """The lower median."""
        return int(self.rows[self.rank - 1])

    @cached_property
    def _framed(self) -> NDArray[np.int64]:
        """Rows with the ends of the range before and after them."""
        return np.concatenate(([0], self.rows, [self.width]))

    def local_sensitivity(self, distance: int = 0) -> int:
        """A^(distance): the greatest local sensitivity within so many changed rows."""
        above = np.arange(self.rank, self.rank + distance + 2)
        below = above - (distance + 1)
        last = len(self.rows) + 1
        spread = self._framed[np.minimum(above, last)] - self._framed[np.maximum(below, 0)]
        return int(spread.max())

    def distance_to_sensitivity(self, bound: int) -> int:
        """Rows to change before the local sensitivity exceeds ``bound``; n + 1 if none suffice.

        Guarantee: zero if it does now; one changed row moves it by at most one.
        """
        beyond = range(len(self.rows) + 1)
        return bisect_left(beyond, x=True, key=lambda k: self.local_sensitivity(k) > bound)

    def smooth_sensitivity(self, beta: float, *, least: float = 0.0) -> float:
        """max over k of exp(-beta k) A^(k), or ``least`` if that is more.

        Numerics: within a relative 2**-40 for results of at least one. Terms that the width
        itself could not lift above the best so far are left out, so the work is at most
        (ln(width)/beta)**2 and does not grow with n beyond that.
        """
        best = least
        for distance in range(len(self.rows) + 1):
            fade = math.exp(-beta * distance)
            if self.width * fade <= best:
                break
            best = max(best, self.local_sensitivity(distance) * fade)
        return best


def sorted_rows(data: Any, lattice: Lattice) -> SortedRows:
    """The data on the lattice, in order."""
    return SortedRows(np.sort(lattice.steps(data)), lattice.width)


@dataclass(frozen=True)
class LocalSensitivity:
    """How far one row could move the median of *this* data: a diagnosis for the data's owner.

    It is itself private, and noise scaled to it tells neighbours apart with certainty (000b:B4,
    004d:F11). So it is no number: every ``sensitivity=`` refuses it.
    """

    value: float


def local_sensitivity_of_median(data: Any, *, bounds: tuple[Number, Number]) -> LocalSensitivity:
    """For the owner's eyes. Not private; never a noise scale.

    >>> local_sensitivity_of_median([1, 2, 4, 8, 16], bounds=(0, 32))
    LocalSensitivity(value=4.0)
    """
    lattice = Lattice.between(bounds)
    return LocalSensitivity(lattice.length(sorted_rows(data, lattice).local_sensitivity()))
