"""Interleaved bits: one order of all cells in which every box that halving makes is an interval.

The first bits of all attributes come first, then their second bits, and so on; an attribute whose
bits are used up has no more say. The cells that share the first bits of their codes fill a box, and
each further bit halves it. Sizes that are no power of two are cut from the next one: boxes are
clipped to the universe, and some of them are empty, as everybody knows.

Source: 004b:A8, A9 (a space-filling order; halving every dimension).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.arrays import Ints
from discreet.core.errors import InvalidParameter

MOST_BITS = 62
"""Codes are 64-bit integers."""


@dataclass(frozen=True)
class Interleaving:
    """The order of the cells of a universe of this shape."""

    shape: tuple[int, ...]

    def __post_init__(self) -> None:
        """Refuse what 64-bit codes cannot hold."""
        if self.bits > MOST_BITS:
            raise InvalidParameter(
                code="universe_too_large",
                expectation=f"at most {MOST_BITS} bits for the positions of all attributes",
                received=self.bits,
                remedy="Use fewer attributes or coarser bins.",
            )

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """The bits of each attribute."""
        return tuple((size - 1).bit_length() for size in self.shape)

    @property
    def bits(self) -> int:
        """The bits of a code."""
        return sum(self.widths)

    @property
    def depth(self) -> int:
        """How often all attributes can be halved until single cells remain."""
        return max(self.widths)

    def length(self, depth: int) -> int:
        """How many bits of a code are known after all attributes were halved ``depth`` times."""
        return sum(min(depth, width) for width in self.widths)

    @cached_property
    def _turns(self) -> tuple[tuple[int, int], ...]:
        """The attribute, and which of its bits, behind each bit of a code; first bits first."""
        return tuple(
            (axis, width - 1 - level)
            for level in range(self.depth)
            for axis, width in enumerate(self.widths)
            if level < width
        )

    def codes(self, positions: Ints) -> Ints:
        """The codes of cells, given a row of positions for each."""
        found = np.zeros(len(positions), dtype=np.int64)
        for axis, bit in self._turns:
            found = (found << 1) | ((positions[:, axis] >> bit) & 1)
        return found

    def boxes(self, prefixes: Ints, length: int) -> tuple[Ints, Ints]:
        """First and last-but-one positions of the boxes that share the first ``length`` bits."""
        lows = np.zeros((len(prefixes), len(self.shape)), dtype=np.int64)
        spans = np.array([1 << width for width in self.widths], dtype=np.int64)
        for place, (axis, bit) in enumerate(self._turns[:length]):
            lows[:, axis] |= ((prefixes >> (length - 1 - place)) & 1) << bit
            spans[axis] >>= 1
        ends = np.asarray(self.shape, dtype=np.int64)
        return np.minimum(lows, ends), np.minimum(lows + spans, ends)
