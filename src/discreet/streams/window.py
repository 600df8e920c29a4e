"""Counts of the last ticks, on a stream without end: the error depends on the window alone.

Every aligned block of 1, 2, 4, ... ticks up to the window's length gets noise once, when it is
complete. A window is made of at most two blocks of each length, and blocks that left it are
forgotten; so one price, fixed at the start, covers a stream of any length.

Source: 000b:B40 (range counts from the same nodes). Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.parameters import count
from discreet.streams.contribution import StreamSensitivity
from discreet.streams.counter import LONGEST, ContinualCounter, LiveCounter, largest_increment
from discreet.streams.node_noise import noisy
from discreet.streams.resume import state_of
from discreet.streams.stored import State, array_from_dict, array_to_dict, part


@dataclass(frozen=True, kw_only=True)
class SlidingWindow(ContinualCounter):
    """Totals of the last ``window`` ticks, at every tick; of all ticks while there are fewer.

    Contract: as for all counters, but an output is the total of the window. Memory is about four
    numbers for each tick of the window and key.

    Guarantee: one release of all blocks, of which an event moves one of each length.

    >>> from discreet.core.guarantee import PureDP
    >>> from discreet.streams.units import EventLevel
    >>> hour = SlidingWindow(window=60, spend=PureDP(epsilon=1), unit=EventLevel())
    >>> hour.event, len(hour.blocks(1000))
    (DiscreteLaplace(epsilon=1, steps=6), 4)

    Source: 000b:B40. Proof: ``proofs/streams.md``.

    Numerics: exact integers throughout.
    """

    kind: ClassVar[str] = "window/1"

    window: int
    horizon: int = LONGEST

    def __post_init__(self) -> None:
        """Refuse a window that is none."""
        super().__post_init__()
        object.__setattr__(self, "window", count("window", self.window))

    @property
    def height(self) -> int:
        """Lengths of blocks."""
        return self.window.bit_length()

    def sensitivity(self) -> StreamSensitivity:
        """One block of each length for each event; those of one person may meet in a block."""
        events, at_once = self.unit.events, self.unit.per_tick
        squares = sum(events * min(events, at_once << level) for level in range(self.height))
        return StreamSensitivity(
            Fraction(self.contribution.l1) * events * self.height,
            Fraction(self.contribution.l2_squared) * squares,
        )

    def blocks(self, t: int) -> list[tuple[int, int]]:
        """Blocks that make up the window at tick ``t``: their levels and their numbers."""
        place, end, found = max(0, self.require_tick(t) - self.window), t, []
        while place < end:
            level = min((end - place).bit_length(), self.height) - 1
            if place:
                level = min(level, (place & -place).bit_length() - 1)
            found.append((level, place >> level))
            place += 1 << level
        return found

    def terms(self, t: int) -> Sequence[tuple[float, int]]:
        return [(1.0, len(self.blocks(t)))]

    def worst_tick(self) -> int:
        """The worst of all ways in which a window can lie."""
        period = 1 << self.height
        return max(range(period, 2 * period), key=lambda t: len(self.blocks(t)))

    def count_kept_blocks(self, level: int) -> int:
        """Blocks of a level that a window can need, and one more."""
        return (self.window >> level) + 2

    def memory(self) -> int:
        blocks = sum(self.count_kept_blocks(level) for level in range(self.height))
        return 8 * self.keys * (blocks + self.height + 1)

    def shape(self) -> State:
        return {"window": self.window}

    def open(self) -> LiveWindow:
        return LiveWindow(self)


class LiveWindow(LiveCounter):
    """A live :class:`SlidingWindow`."""

    _mechanism: SlidingWindow

    def __init__(self, mechanism: SlidingWindow, tick: int = 0) -> None:
        """Start without blocks."""
        super().__init__(mechanism, tick)
        keys, levels = mechanism.keys, range(mechanism.height)
        self._most = largest_increment(1 << mechanism.height)
        self._blocks = [
            np.zeros((mechanism.count_kept_blocks(each), keys), np.int64) for each in levels
        ]
        self._sums = np.zeros((mechanism.height, keys), np.int64)
        self._last = np.zeros(keys, np.int64)

    @property
    def horizon(self) -> int | None:
        """The last tick; there is none."""
        return None

    @property
    def last(self) -> NDArray[Any]:
        """The latest estimates, zeros before the first tick: read again, never drawn again."""
        return self._last.copy()

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys."""
        return sum(b.nbytes for b in self._blocks) + self._sums.nbytes + self._last.nbytes

    def _run(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        rows = np.clip(rows, -self._most, self._most)
        found = np.empty(rows.shape, dtype=np.int64)
        for place, row in enumerate(rows):
            found[place] = self._one(row)
        if len(rows):
            self._last = found[-1].copy()
        return found

    def _one(self, row: NDArray[np.int64]) -> NDArray[np.int64]:
        mechanism = self._mechanism
        self._tick += 1
        self._sums += row
        ended = min((self._tick & -self._tick).bit_length(), mechanism.height)
        released = noisy(self._sums[:ended], mechanism.noise, mechanism.randomness)
        self._sums[:ended] = 0
        for level in range(ended):
            kept = self._blocks[level]
            kept[((self._tick >> level) - 1) % len(kept)] = released[level]
        used = mechanism.blocks(self._tick)
        parts = [self._blocks[level][n % len(self._blocks[level])] for level, n in used]
        total: NDArray[np.int64] = np.sum(parts, axis=0)
        return total

    def state(self) -> State:
        """All that is needed to go on, noise included; for the data owner alone."""
        with self._lock:
            live = {"tick": self._tick, "last": array_to_dict(self._last)}
            blocks = [array_to_dict(each) for each in self._blocks]
            return state_of(self, {**live, "sums": array_to_dict(self._sums), "blocks": blocks})

    def resume(self, live: State) -> None:
        """Take up what ``state()`` of such a counter wrote."""
        self._tick = part(live, "tick", int)
        self._last = array_from_dict(live.get("last"), self._last.shape)
        self._sums = array_from_dict(live.get("sums"), self._sums.shape)
        kept = part(live, "blocks", list)
        self._blocks = [
            array_from_dict(plain, mine.shape)
            for plain, mine in zip(kept, self._blocks, strict=True)
        ]
