"""Laws too wide for one table: draw a bin, a uniform place in it, and accept or draw again.

Bins are powers of two wide and their law, in which each bin weighs its width times its largest
probability, comes from an exact :class:`~discreet.noise.table.GuideTable`. A place ``v`` in the bin
is kept with probability ``exp(-t(v))``, where t grows with v. Bins are narrow against the scale,
so a few random bits almost always suffice to keep; else floating point with a margin decides;
and within the margin, certified integer bounds do. Proof: ``proofs/bins.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.noise.enclosure import exp_minus
from discreet.noise.randomness import integer, words32, words64
from discreet.noise.table import CHUNK, GuideTable, OutcomeDistribution, OutcomeWeights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from discreet.noise.randomness import Source

    _Columns = tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.int64]]

MARGIN = 2.0**-40
"""Far above any error of evaluating exp(-t) in double precision for the t that occur."""

FAR = 1 << 13
"""Bins from here on, never seen in practice, are left to exact arithmetic altogether."""

SATURATION = 1 << 62
"""Draws beyond this magnitude are replaced by it, so that sums fit 64 bits. A sum with such a draw
would show what it hides: callers clamp values and sums to half of this (``proofs/bins.md``)."""


class BinnedDistribution(OutcomeDistribution, Protocol):
    """A law on bins, with the rule that thins each bin to the law wanted.

    ``values`` returns the integer each bin starts from. ``place_bits`` is the logarithm of the
    bin width; ``fraction_bits`` is 0 for a law on integers and positive for a continuous law
    that is rounded, whose place has a fractional part too.
    """

    @property
    def place_bits(self) -> int:
        """Bins hold ``2**place_bits`` integers."""

    @property
    def fraction_bits(self) -> int:
        """Fractional bits revealed before a doubtful place is decided.

        Contract: zero, or so many that over half a unit of the last of them exp(-t) moves by
        less than ``MARGIN / 4`` in bins below ``FAR``; at most 52.
        """

    def directions(self, count: int) -> NDArray[np.int64]:
        """+1, -1 or 0 for each bin: where its places lead from its start."""

    def exponents(
        self, bins: NDArray[np.int64], places: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """``t`` at real places of bins, in double precision."""

    def exponent(self, index: int, place: Fraction) -> Fraction:
        """``t`` exactly, growing with ``place``."""


@dataclass(frozen=True)
class BinNumbers:
    """A binned law seen as a law on bin numbers."""

    law: BinnedDistribution

    def weights(self, bits: int) -> OutcomeWeights:
        """Those of the bins."""
        return self.law.weights(bits)

    def values(self, count: int) -> NDArray[np.int64]:
        return np.arange(count, dtype=np.int64)


class Bins:
    """Draws from a binned law.

    Contract: draws are independent with exactly the law's distribution, except that values
    beyond ±2**62 are replaced by ±2**62: callers clamp values and sums to ±2**61.
    """

    def __init__(
        self, law: BinnedDistribution, *, guide_bits: int | None = None, word_bits: int = 64
    ) -> None:
        """Prepare the table of bins and the threshold below which every place is kept."""
        self._law = law
        self._table = GuideTable(BinNumbers(law), guide_bits=guide_bits, word_bits=word_bits)
        # One 32-bit word holds place and coin while at least six bits remain for the coin.
        self._narrow = law.place_bits <= 26
        self._coin_bits = min(8, 32 - law.place_bits) if self._narrow else 8
        self._columns = self._prepare(self._table.outcomes)

    def _prepare(self, count: int) -> _Columns:
        """Per-bin columns; called again in the rare case of a bin beyond the table."""
        bins = np.arange(count, dtype=np.int64)
        width = 1 << self._law.place_bits
        worst = np.exp(-self._law.exponents(bins, np.full(count, float(width))))
        always = np.floor((worst - MARGIN) * (1 << self._coin_bits)).astype(np.int16)
        always[FAR:] = -1
        return always, self._law.values(count), self._law.directions(count)

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """``size`` independent values of the law."""
        out = np.empty(size, dtype=np.int64)
        for start in range(0, size, CHUNK):
            part = out[start : start + CHUNK]
            waiting = self._attempt(part, source)
            while len(waiting):
                again = np.empty(len(waiting), dtype=np.int64)
                rejected = self._attempt(again, source)
                part[waiting] = again
                waiting = waiting[rejected]
            np.clip(part, -SATURATION, SATURATION, out=part)
        return out

    def _attempt(self, out: NDArray[np.int64], source: Source) -> NDArray[np.intp]:
        """Fill ``out`` with proposals and return the positions that must be drawn again."""
        bins = self._table.draw(len(out), source)
        columns = self._columns
        if int(bins.max(initial=0)) >= len(columns[0]):
            columns = self._columns = self._prepare(int(bins.max()) + 1)
        always, starts, directions = columns
        words = (words32 if self._narrow else words64)(source, len(out))
        places = words & words.dtype.type((1 << self._law.place_bits) - 1)
        coins = (words >> words.dtype.type(8 * words.itemsize - self._coin_bits)).astype(np.int16)
        np.multiply(np.take(directions, bins), places, out=out, casting="unsafe")
        out += np.take(starts, bins)
        doubtful = np.flatnonzero(coins >= np.take(always, bins))
        if not len(doubtful):
            return doubtful
        kept = self._consider(
            bins[doubtful], places[doubtful].astype(np.int64), coins[doubtful], source
        )
        return doubtful[~kept]

    def _consider(
        self,
        bins: NDArray[np.int64],
        places: NDArray[np.int64],
        coins: NDArray[np.int16],
        source: Source,
    ) -> NDArray[np.bool_]:
        """Keep each place with probability exp(-t), its first coin bits being given."""
        size = len(bins)
        words = (coins.astype(np.uint64) << np.uint64(64 - self._coin_bits)) | (
            words64(source, size) >> np.uint64(self._coin_bits)
        )
        shift = self._law.fraction_bits
        fractions = words64(source, size) >> np.uint64(64 - shift) if shift else None
        exact_places = places.astype(np.float64)
        if fractions is not None:
            exact_places += (fractions + 0.5) * 2.0**-shift
        gap = np.exp(-self._law.exponents(bins, exact_places)) - words * 2.0**-64
        kept = gap > 0
        for i in np.flatnonzero((np.abs(gap) < MARGIN) | (bins >= FAR)):
            fraction = 0 if fractions is None else int(fractions[i])
            kept[i] = self._decide(
                int(bins[i]), (int(places[i]) << shift) + fraction, int(words[i]), source
            )
        return kept

    def _decide(self, index: int, place: int, word: int, source: Source) -> bool:
        """The same decision for one place, with as many bits as it takes."""
        shift, bits = self._law.fraction_bits, 64
        while True:
            lower = upper = Fraction(place, 1 << shift)
            if shift:
                upper = Fraction(place + 1, 1 << shift)
            if word + 1 <= exp_minus(self._law.exponent(index, upper), bits)[0]:
                return True
            if word >= exp_minus(self._law.exponent(index, lower), bits)[1]:
                return False
            word = word << 64 | integer(source, 64)
            bits += 64
            if shift:
                place = place << 64 | integer(source, 64)
                shift += 64


def rungs(numbers: NDArray[np.int64], place_bits: int) -> NDArray[np.int64]:
    """Bin starts ``number * 2**place_bits``, saturating long before 64 bits overflow."""
    return np.minimum(numbers, SATURATION >> place_bits) << place_bits


def two_sided_starts(count: int, place_bits: int) -> NDArray[np.int64]:
    """Starts 0, -1, w, -1-w, 2w and so on, of bins that lead away from zero."""
    outcome = np.arange(count, dtype=np.int64)
    start = rungs(outcome >> 1, place_bits)
    return np.where(outcome & 1, ~start, start)


def two_sided_directions(count: int) -> NDArray[np.int64]:
    """Even outcomes lead upward, odd ones downward."""
    return 1 - 2 * (np.arange(count, dtype=np.int64) & 1)


def centred_starts(count: int, place_bits: int) -> NDArray[np.int64]:
    """Starts 0, 1, -1, 1+w, -1-w and so on, where zero stands alone."""
    outcome = np.arange(count, dtype=np.int64)
    start = rungs((outcome - 1) >> 1, place_bits) + 1
    return np.where(outcome == 0, 0, np.where(outcome & 1, start, -start))


def centred_directions(count: int) -> NDArray[np.int64]:
    """Zero stays; odd outcomes lead upward, even ones downward."""
    outcome = np.arange(count, dtype=np.int64)
    return np.where(outcome == 0, 0, 2 * (outcome & 1) - 1)


@lru_cache(maxsize=64)
def _cached(law: BinnedDistribution) -> Bins:
    return Bins(law)


def draw(law: BinnedDistribution, size: int, source: Source) -> NDArray[np.int64]:
    """``size`` draws of ``law``; its bins are built once and kept."""
    return _cached(law).draw(size, source)
