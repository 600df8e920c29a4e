"""Exact draws of the logarithmic law: P(k) proportional to a**k / k for whole k >= 1.

Integers are grouped in dyadic bins [2**j, 2**(j+1)), each as heavy as if all its members were as
probable as its first: the scale does not matter, sixty bins hold every law. A uniform place v in
the bin is kept with probability a**v / (1 + v / 2**j). Draws are returned modulo 2**64, so that
sums of them are right modulo 2**64 and no draw is cut off.

Source: the series form of the negative binomial law (Quenouille 1949), for 000b:B16, 004a:C34.
Proof: ``proofs/shares.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
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

_EXTRA = 64
_WIDEST = 63
_STEEPEST = 1 << 60


@dataclass(frozen=True)
class Octaves:
    """The law of the bin j = 0, 1, 2, … that holds the proposal."""

    scale: Fraction

    def weights(self, bits: int) -> OutcomeWeights:
        """Bin j weighs a**(2**j - 1); from one half down, each weighs less than half the last."""
        work = bits + _EXTRA
        rungs = [(1 << work, 1 << work)]
        floor = 1 << (work - bits - _EXTRA // 2)
        while rungs[-1][1] > floor:
            rungs.append(exp_minus(((1 << len(rungs)) - 1) / self.scale, work))
        low, high = zip(*rungs, strict=True)
        return OutcomeWeights(low, high, high[-1])

    def values(self, count: int) -> NDArray[np.int64]:
        return np.arange(count, dtype=np.int64)


@dataclass(frozen=True)
class Logarithmic:
    """P(k) proportional to exp(-k/scale) / k for k >= 1.

    ``coin_bits`` is the length of the first word a place is judged by; it affects speed only.
    """

    scale: Fraction
    coin_bits: int = 64

    def draw(self, size: int, source: Source) -> NDArray[np.uint64]:
        """``size`` independent draws, modulo 2**64."""
        out = np.empty(size, dtype=np.uint64)
        waiting = np.arange(size)
        while len(waiting):
            values, kept = self._attempt(len(waiting), source)
            out[waiting[kept]] = values[kept]
            waiting = waiting[~kept]
        return out

    def _attempt(self, size: int, source: Source) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Proposals, and which of them to keep.

        Numerics: the chance is off by less than 2**-48 whatever the exponent, as t exp(-t) < 1/2;
        the coin's unrevealed bits add ``2**-coin_bits``. ``MARGIN`` exceeds the former by far.
        """
        octaves = table.draw(Octaves(self.scale), size, source)
        shifts = np.minimum(octaves, _WIDEST).astype(np.uint64)
        starts = np.uint64(1) << shifts
        places = words64(source, size) & (starts - np.uint64(1))
        coins = words64(source, size) >> np.uint64(64 - self.coin_bits)
        rate = float(min(1 / self.scale, Fraction(_STEEPEST)))
        along = places.astype(np.float64)
        chance = np.exp(-along * rate) / (1 + along / starts.astype(np.float64))
        gap = chance - coins * 2.0**-self.coin_bits
        values, kept = starts + places, gap > 0
        doubtful = np.abs(gap) < MARGIN + 2.0**-self.coin_bits
        for i in np.flatnonzero(doubtful | (octaves > _WIDEST)):
            octave, place, coin = int(octaves[i]), int(places[i]), int(coins[i])
            if octave > _WIDEST:
                place = place << octave - _WIDEST | integer(source, octave - _WIDEST)
            values[i] = (1 << octave) + place & (1 << 64) - 1
            kept[i] = self._decide(octave, place, coin, source)
        return values, kept

    def _decide(self, octave: int, place: int, coin: int, source: Source) -> bool:
        """Keep one place or not, revealing as much of its coin as it takes."""
        bits = self.coin_bits
        start = 1 << octave
        while True:
            low, high = exp_minus(place / self.scale, bits)
            if coin + 1 <= low * start // (start + place):
                return True
            if coin >= -(-high * start // (start + place)):
                return False
            coin = coin << bits | integer(source, bits)
            bits *= 2
