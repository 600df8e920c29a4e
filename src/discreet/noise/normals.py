"""Normal and uniform variables whose bits are revealed as they are needed.

A variable is a sign, a cell and a place in it, of which 63 bits are drawn at once. Normals come by
rejection: a cell of an eighth of a standard deviation from an exact table, a uniform place, and a
coin. Once a place is kept, its further bits are plain uniform bits: no law is ever cut off.

Source: von Neumann 1951, Karney 2016. Proof: ``proofs/norm.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.noise import table
from discreet.noise.bins import MARGIN
from discreet.noise.enclosure import exp_minus
from discreet.noise.randomness import integer, words64
from discreet.noise.table import OutcomeWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.randomness import Source

CELL_BITS = 3
MORE = 64
_TWICE_VARIANCE = 2 << 2 * CELL_BITS
_EXTRA = 64


@dataclass(frozen=True)
class Variables:
    """Real variables of which some bits are known.

    Variable i lies between ``cells + places / 2**bits`` and one unit of its last place above, in
    eighths for normals and in ones for uniforms, negated where ``negative``. Bits not yet revealed
    are independent and uniform. The few variables of which more is known are in ``deeper``, as
    (places, bits).
    """

    cells: NDArray[np.int64]
    places: NDArray[np.uint64]
    negative: NDArray[np.bool_]
    bits: int
    deeper: dict[int, tuple[int, int]] = field(default_factory=dict)

    def rough(self) -> NDArray[np.float64]:
        """Magnitudes at the middle of what is known."""
        return self.cells + (self.places + 0.5) * 2.0**-self.bits

    def list_known_bits(self, first: int, last: int) -> list[tuple[int, int]]:
        """Bits of variables ``first`` to ``last``, cell included, and their numbers."""
        plain = [(int(place), self.bits) for place in self.places[first:last]]
        revealed = [self.deeper.get(i, plain[i - first]) for i in range(first, last)]
        cells = self.cells[first:last].tolist()
        return [((c << bits) + p, bits) for c, (p, bits) in zip(cells, revealed, strict=True)]


@dataclass(frozen=True)
class HalfNormalCells:
    """The law of the cell a proposal for 8 |N| lies in: its largest density exp(-h**2/128)."""

    def weights(self, bits: int) -> OutcomeWeights:
        """From cell 64 on each weighs less than half the last: the rest is below the last."""
        work = bits + _EXTRA
        rungs: list[tuple[int, int]] = []
        floor = 1 << (work - bits - _EXTRA // 2)
        while len(rungs) <= _TWICE_VARIANCE or rungs[-1][1] > floor:
            rungs.append(exp_minus(Fraction(len(rungs) ** 2, _TWICE_VARIANCE), work))
        low, high = zip(*rungs, strict=True)
        return OutcomeWeights(low, high, high[-1])

    def values(self, count: int) -> NDArray[np.int64]:
        return np.arange(count, dtype=np.int64)


def uniforms(size: int, bits: int, source: Source) -> Variables:
    """Uniform variables on [-1, 1]."""
    words = words64(source, size) >> np.uint64(63 - bits)
    places = words & np.uint64((1 << bits) - 1)
    return Variables(np.zeros(size, np.int64), places, words >> np.uint64(bits) == 1, bits)


def normals(size: int, bits: int, source: Source) -> Variables:
    """Standard normal variables, in eighths: a place p of cell h is kept by chance exp(-t)."""
    cells = np.empty(size, dtype=np.int64)
    places = np.empty(size, dtype=np.uint64)
    negative = np.empty(size, dtype=np.bool_)
    deeper: dict[int, tuple[int, int]] = {}
    waiting = np.arange(size)
    while len(waiting):
        h = table.draw(HalfNormalCells(), len(waiting), source)
        trial = uniforms(len(waiting), bits, source)
        coins = words64(source, len(waiting)) >> np.uint64(64 - bits)
        p = trial.rough()
        gap = np.exp(-p * (2 * h + p) / _TWICE_VARIANCE) - coins * 2.0**-bits
        kept = gap > 0
        for i in np.flatnonzero(np.abs(gap) < MARGIN + (h + 2) * 2.0**-bits):
            found = _keep(int(h[i]), int(trial.places[i]), int(coins[i]), bits, source)
            kept[i] = found is not None
            if found is not None and found[1] > bits:
                deeper[int(waiting[i])] = found
        cells[waiting], places[waiting], negative[waiting] = h, trial.places, trial.negative
        waiting = waiting[~kept]
    return Variables(cells, places, negative, bits, deeper)


def _keep(cell: int, place: int, coin: int, bits: int, source: Source) -> tuple[int, int] | None:
    """What is then known of the place of a proposal that is kept, else nothing."""
    while True:
        unit, start = _TWICE_VARIANCE << 2 * bits, cell << bits
        near, far = (Fraction((start + q) ** 2 - start**2, unit) for q in (place, place + 1))
        if coin + 1 <= exp_minus(far, bits)[0]:
            return place, bits
        if coin >= exp_minus(near, bits)[1]:
            return None
        coin = coin << MORE | integer(source, MORE)
        place = place << MORE | integer(source, MORE)
        bits += MORE
