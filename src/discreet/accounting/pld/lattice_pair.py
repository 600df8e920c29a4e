"""The dominating pair of discrete Gaussian noise on integer vectors.

Noise with P(x) proportional to exp(-x**2 / 2 sigma**2) on the integers, in each coordinate. If the
vector moves by v, the privacy loss depends on Y = v·x alone and is (2 Y - |v|**2) / 2 sigma**2:
a law on a lattice, and by symmetry P[Y > j] = Q[Y > j - |v|**2]. Of all v with |v|**2 <= S it is
enough to look at the ways to write S as a sum of squares; where there is more than one, the pair
is the upper envelope of theirs. No way is always the worst: all of them share every moment of
whole order, as log-normal laws do, and none has the others below it.

Source: modern-data:N1; contract, "Numbers". Proof: ``proofs/discrete_gaussian.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from discreet.accounting.pld.pair import ULP, AtomicPair, DominatingPair
from discreet.core.arrays import Floats

Direction: TypeAlias = tuple[int, ...]

_EXPONENT = 690.0
_LEAST = 1e-280
"""Tails below this are not told apart: they count as this much of P, and as nothing of Q."""


@dataclass(frozen=True)
class LatticePair(DominatingPair):
    """Discrete normal noise of ``sigma`` steps, for moves with squares up to ``square``.

    It has atoms only, and says so by its tails: an atom at a loss z belongs to ``below`` z.
    """

    sigma: float
    square: int

    def above(self, losses: Floats) -> tuple[Floats, Floats]:
        """P[Z > z] and Q[Z > z] of the direction whose curve is the highest at z."""
        j, tables = self._places(losses), self._tables()
        chosen = self._worst(losses, j, tables)
        return _at(tables, chosen, j - self.square), _at(tables, chosen, j)

    def below(self, losses: Floats) -> tuple[Floats, Floats]:
        """P[Z <= z] and Q[Z <= z]: the rest, from the side on which it is small."""
        j, tables = self._places(losses), self._tables()
        chosen = self._worst(losses, j, tables)
        return _at(tables, chosen, self.square - 1 - j), _at(tables, chosen, -1 - j)

    def _places(self, losses: Floats) -> Floats:
        """The largest Y whose loss is at most z."""
        with np.errstate(over="ignore"):
            return np.floor(losses * self.sigma * self.sigma + self.square / 2)

    def _tables(self) -> Floats:
        return _tails(self.sigma, self.square)

    def _worst(self, losses: Floats, j: Floats, tables: Floats) -> Floats:
        if len(tables) == 1:
            return np.zeros(len(losses), dtype=np.intp)
        grown = np.exp(np.minimum(losses, 700.0))
        curves = [
            _at(tables, np.full(len(losses), i), j - self.square)
            - grown * _at(tables, np.full(len(losses), i), j)
            for i in range(len(tables))
        ]
        return np.asarray(np.argmax(curves, axis=0))

    def rounding(self, losses: Floats) -> Floats:
        """Exponents up to 690, sums of positive terms; everything where next to nothing is left."""
        p, q = self.above(losses)
        return np.where((p > _LEAST) & (q > _LEAST), self._error(), 1.0)

    def _error(self) -> float:
        """Of any mass or tail, relative to itself."""
        columns: int = self._tables().shape[1]
        return ULP * self.square * (8 * _EXPONENT + 2 * columns)

    def blur(self, losses: Floats) -> Floats:
        """What rounding sigma squared and a product do to the place of an atom."""
        return 8 * ULP * (np.abs(losses) + self.square / (2 * self.sigma * self.sigma))

    def reach(self, tail: float) -> tuple[float, float]:
        """Losses beyond which no direction has more than ``tail``."""
        tails = self._tables().max(axis=0)
        middle = len(tails) // 2
        # tails[middle + j] bounds Q[Y > j], and under P it is Y - square that has this law.
        small = np.flatnonzero(tails[middle:] <= tail)
        far = int(small[0]) if len(small) else middle
        unit = 2 * self.sigma * self.sigma
        return (self.square - 2 * (far + 1)) / unit, (self.square + 2 * (far + 1)) / unit

    def lattice(self) -> tuple[float, float] | None:
        """Where Y is the square, and steps of one in Y; an envelope has its corners elsewhere."""
        if len(self._tables()) > 1:
            return None
        unit = self.sigma * self.sigma
        return self.square / (2 * unit), 1 / unit

    def convert_to_atoms(self, tail: float) -> DominatingPair:
        """The atoms within reach, where there is one direction; masses lowered by their error."""
        lattice = self.lattice()
        if lattice is None:
            return self
        low, high = (int(j) for j in self._places(np.array(self.reach(max(tail, _LEAST)))))
        j = np.arange(low, high + 1, dtype=np.float64)
        losses = lattice[0] + lattice[1] * (j - self.square)
        law = _laws(self.sigma, self.square)[0]
        masses = law[(j - self.square + len(law) // 2).astype(np.intp)]
        masses = masses * (1 - self._error())
        return AtomicPair(tuple(losses.tolist()), tuple(masses.tolist()))

    def still(self) -> float:
        """P[Z = 0]: what neither side of zero has."""
        (p,), (q,) = self.above(np.zeros(1))
        return max(0.0, 1 - float(p) - float(q)) + 8 * ULP

    def distance(self) -> float:
        """The curve at zero."""
        (p,), (q,) = self.above(np.zeros(1))
        return float(p) - float(q)


def directions(square: int, most: int | None = None) -> list[Direction]:
    """All ways to write ``square`` as a sum of squares, largest first: moves up to sign and order.

    >>> directions(5)
    [(2, 1), (1, 1, 1, 1, 1)]
    """
    if square == 0:
        return [()]
    largest = min(math.isqrt(square), most or square)
    return [
        (first, *rest)
        for first in range(largest, 0, -1)
        for rest in directions(square - first * first, first)
    ]


def _at(tables: Floats, chosen: Floats, j: Floats) -> Floats:
    """The tails Q[Y > j] in the chosen tables; beyond their ends, those at the ends."""
    middle = tables.shape[1] // 2
    place = np.clip(j + middle, 0, tables.shape[1] - 1).astype(np.intp)
    return np.asarray(tables[chosen, place])


@lru_cache(maxsize=32)
def _laws(sigma: float, square: int) -> list[Floats]:
    """The law of Y under Q for each direction, of odd length with Y = 0 in the middle."""
    laws = []
    for direction in directions(square):
        law, done = np.ones(1), 0
        for step in direction:
            done += step * step
            law = _trimmed(np.convolve(law, _stretched(sigma, step)), _reach(sigma, done))
        laws.append(law / law.sum())
    return laws


@lru_cache(maxsize=32)
def _tails(sigma: float, square: int) -> Floats:
    """Rows: Q[Y > j] for j from -R to R, one for each direction."""
    reach = math.ceil(_reach(sigma, square)) + 1
    rows = []
    for law in _laws(sigma, square):
        own = len(law) // 2
        # Q[Y > own - 1] is the last mass. What was cut off is far below what is told apart.
        row = np.ones(2 * reach + 1)
        row[reach - own - 1 : reach + own] = np.cumsum(law[::-1])[::-1]
        row[reach + own :] = 0.0
        rows.append(np.maximum(row, _LEAST))
    return np.array(rows)


def _reach(sigma: float, square: int) -> float:
    return math.sqrt(2 * _EXPONENT * square) * sigma


def _stretched(sigma: float, step: int) -> Floats:
    """The weights of ``step`` times discrete noise, on all integers."""
    far = math.floor(_reach(sigma, 1))
    x = np.arange(-far, far + 1, dtype=np.float64)
    weights = np.zeros(2 * far * step + 1)
    weights[::step] = np.exp(-(x * x) / (2 * sigma * sigma))
    return weights


def _trimmed(law: Floats, reach: float) -> Floats:
    middle, far = len(law) // 2, math.floor(reach)
    return law[max(middle - far, 0) : middle + far + 1]
