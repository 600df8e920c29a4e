"""Exact inversion of a discrete law: a guide table first, more bits only when a draw needs them.

A uniform number U is revealed bit by bit. Sixteen bits usually decide which outcome's interval
of the distribution function U falls in, and one table look-up returns it. Where an interval
border lies inside the 16-bit cell, 48 further bits decide; where even these do not (about once
in 2**60 draws), certified bounds at growing precision do. The law drawn is therefore exactly
the stated one, whatever the table's precision.

Source: 000a:A11, 004d:F28. Proof: ``proofs/table.md``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

import numpy as np

from discreet.noise.randomness import integer, words8, words16, words64

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from discreet.noise.randomness import Source

CHUNK = 1 << 16
_FEW_CELLS = 14
_UNDECIDED = np.iinfo(np.int64).min


@dataclass(frozen=True)
class OutcomeWeights:
    """Unnormalised probabilities of the first outcomes of a law, enclosed in integers.

    ``low[i] <= c * P(i) <= high[i]`` for one common positive ``c``; all outcomes beyond the
    list together weigh at most ``tail``.
    """

    low: Sequence[int]
    high: Sequence[int]
    tail: int


class OutcomeDistribution(Hashable, Protocol):
    """A law on outcomes 0, 1, 2, … in a fixed order, known as closely as asked."""

    def weights(self, bits: int) -> OutcomeWeights:
        """Enclosures whose relative widths, and tail, are near ``2**-bits`` of the total."""

    def values(self, count: int) -> NDArray[np.int64]:
        """What the first ``count`` outcomes stand for."""


class GuideTable:
    """Draws from a :class:`OutcomeDistribution` by exact inversion.

    Contract: every draw is independent and has exactly the law's distribution, provided the
    source's bits are independent and uniform. ``guide_bits`` and ``word_bits`` affect speed
    only; tests make them small to reach the rare branches. Where a law has few outcomes, so that
    borders fall into few of 256 cells, the guide takes 8 bits of randomness instead of 16.
    """

    def __init__(
        self, law: OutcomeDistribution, *, guide_bits: int | None = None, word_bits: int = 64
    ) -> None:
        """Bound the law's distribution function at ``word_bits``."""
        self._law = law
        self._word_bits = word_bits
        surely_below, maybe_below = borders(law, word_bits)
        top = (1 << 64) - 1
        self._surely = np.array([min(b, top) for b in surely_below], dtype=np.uint64)
        self._maybe = np.array([min(b, top) for b in maybe_below], dtype=np.uint64)
        self._values = law.values(len(surely_below))
        crowded = (
            len(np.unique(self._maybe >> np.uint64(word_bits - 8))) if word_bits == 64 else 256
        )
        self._guide_bits = guide_bits or (8 if crowded <= _FEW_CELLS else 16)
        self._guide: NDArray[np.int64] | None = None

    @property
    def outcomes(self) -> int:
        """How many outcomes have borders here; all further ones are negligible together."""
        return len(self._surely)

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """``size`` independent values of the law."""
        out = np.empty(size, dtype=np.int64)
        if size < CHUNK >> 4:
            out[:] = self._from_words(self._words(size, source), source)
            return out
        guide = self._guide_table()
        shift = np.uint64(self._word_bits - self._guide_bits)
        for start in range(0, size, CHUNK):
            part = out[start : start + CHUNK]
            cells = self._cells(len(part), source)
            np.take(guide, cells, out=part, mode="wrap")
            straddling = np.flatnonzero(part == _UNDECIDED)
            if len(straddling):
                fine = words64(source, len(straddling)) >> (np.uint64(64) - shift)
                words = (cells[straddling].astype(np.uint64) << shift) | fine
                part[straddling] = self._from_words(words, source)
        return out

    def _cells(self, size: int, source: Source) -> NDArray[np.uint8] | NDArray[np.uint16]:
        """Uniform numbers of ``guide_bits`` bits."""
        if self._guide_bits == 8:
            return words8(source, size)
        words = words16(source, size)
        spare = 16 - self._guide_bits
        return words >> np.uint16(spare) if spare else words

    def _words(self, size: int, source: Source) -> NDArray[np.uint64]:
        return words64(source, size) >> np.uint64(64 - self._word_bits)

    def _lookup(self, words: NDArray[np.uint64]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Outcome index for each word, and whether the word decides it."""
        index = np.searchsorted(self._maybe, words, side="right")
        last = len(self._surely) - 1
        decided = (index <= last) & (words < self._surely[np.minimum(index, last)])
        return index, decided

    def _from_words(self, words: NDArray[np.uint64], source: Source) -> NDArray[np.int64]:
        index, decided = self._lookup(words)
        if decided.all():
            return self._values[index]
        values = self._values[np.where(decided, index, 0)]
        for i in np.flatnonzero(~decided):
            values[i] = self._decide(int(words[i]), source)
        return values

    def _decide(self, word: int, source: Source) -> int:
        """Resolve one word by revealing more bits of U until its outcome is certain."""
        bits = self._word_bits
        while True:
            word = word << bits | integer(source, bits)
            bits *= 2
            surely, maybe = _fine_borders(self._law, bits)
            index = bisect_right(maybe, word)
            if index < len(surely) and word < surely[index]:
                return int(self._law.values(index + 1)[index])

    def _guide_table(self) -> NDArray[np.int64]:
        if self._guide is None:
            shift = np.uint64(self._word_bits - self._guide_bits)
            first = np.arange(1 << self._guide_bits, dtype=np.uint64) << shift
            last = first + ((np.uint64(1) << shift) - np.uint64(1))
            low, low_decided = self._lookup(first)
            high, high_decided = self._lookup(last)
            same = low_decided & high_decided & (low == high)
            values = self._values[np.where(same, low, 0)]
            values[~same] = _UNDECIDED
            self._guide = values
        return self._guide


def borders(law: OutcomeDistribution, bits: int) -> tuple[list[int], list[int]]:
    """Enclose the distribution function F at each outcome: floors and ceilings of ``2**bits F``.

    A word w of ``bits`` bits means U in [w, w+1) / 2**bits. If ``w < surely[i]`` then U < F(i);
    if ``w >= maybe[i]`` then U >= F(i).
    """
    weights = law.weights(bits)
    total_low = sum(weights.low)
    total_high = sum(weights.high) + weights.tail
    surely = [(c << bits) // total_high for c in accumulate(weights.low)]
    maybe = [-((-c << bits) // total_low) for c in accumulate(weights.high)]
    return surely, maybe


_fine_borders = lru_cache(maxsize=8)(borders)


@lru_cache(maxsize=64)
def _cached(law: OutcomeDistribution) -> GuideTable:
    return GuideTable(law)


def draw(law: OutcomeDistribution, size: int, source: Source) -> NDArray[np.int64]:
    """``size`` draws of ``law``; its table is built once and kept."""
    return _cached(law).draw(size, source)
