"""Live binary trees: one pass, a few numbers for each level and key, many ticks at once.

Ticks come in blocks of a power of two that are aligned to it. Inside a block the prefix to tick o
is the prefix to o without its lowest digit, plus one node; so all of them follow level by level,
from the top, as whole slices. The block itself is then one node, carried upward as in addition.

Source: 000b:B40; Honaker 2015. Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.streams.counter import LiveCounter, largest_increment
from discreet.streams.node_noise import noisy
from discreet.streams.resume import state_of
from discreet.streams.stored import State, array_from_dict, array_to_dict, part

if TYPE_CHECKING:
    from discreet.streams.tree import BinaryTree, ReducedTree

_AT_ONCE = 1 << 20
"""Numbers in the largest block."""


class LiveTree(LiveCounter):
    """A live :class:`~discreet.streams.tree.BinaryTree`."""

    _kind: type = np.int64

    def __init__(self, mechanism: BinaryTree, tick: int = 0) -> None:
        """Start without nodes."""
        super().__init__(mechanism, tick)
        self._height = mechanism.height
        self._noise, self._source = mechanism.noise, mechanism.randomness
        shape = (self._height, mechanism.keys)
        self._sums = np.zeros(shape, dtype=np.int64)
        self._prefixes: NDArray[Any] = np.zeros(shape, dtype=self._kind)
        self._most = largest_increment(mechanism.horizon)
        self._last: NDArray[Any] = np.zeros(mechanism.keys, dtype=self._kind)

    @property
    def last(self) -> NDArray[Any]:
        """The latest estimates, zeros before the first tick: read again, never drawn again."""
        return self._last.copy()

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys."""
        return self._sums.nbytes + self._prefixes.nbytes + self._last.nbytes

    def _run(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        rows = np.clip(rows, -self._most, self._most)
        found: NDArray[Any] = np.empty(rows.shape, dtype=self._kind)
        start, end = 0, len(rows)
        largest = max(1, _AT_ONCE // rows.shape[1]).bit_length() - 1
        while start < end:
            level = min(largest, self._height - 1, (end - start).bit_length() - 1)
            if self._tick:
                level = min(level, (self._tick & -self._tick).bit_length() - 1)
            stop = start + (1 << level)
            self._block(level, rows[start:stop], found[start:stop])
            start = stop
        if end:
            self._last = found[-1].copy()
        return found

    def _block(self, level: int, rows: NDArray[np.int64], found: NDArray[Any]) -> None:
        """Count an aligned block of 2**level ticks."""
        totals = np.zeros((len(rows) + 1, rows.shape[1]), dtype=np.int64)
        np.cumsum(rows, axis=0, out=totals[1:])
        estimate = self._inside(level, totals, found)
        found[-1] = self._carry(level, totals[-1], estimate)
        self._tick += len(rows)

    def _inside(self, level: int, totals: NDArray[np.int64], found: NDArray[Any]) -> Any:
        """Prefixes before the block's last tick: one noisy node each, on top of a shorter one."""
        if not level:
            return None
        prefixes = totals[:-1].copy()
        for low in range(level):
            prefixes[1 << low :: 2 << low] -= totals[:-1][:: 2 << low]
        prefixes[1:] = noisy(prefixes[1:], self._noise, self._source)
        prefixes[0] = self._last_prefix()
        for low in reversed(range(level)):
            prefixes[1 << low :: 2 << low] += prefixes[:: 2 << low]
        found[:-1] = prefixes[1:]
        return None

    def _last_prefix(self) -> NDArray[Any]:
        """The estimate at the last tick that was counted."""
        level = self._lowest(self._tick)
        return self._prefixes[level] if self._tick else np.zeros_like(self._prefixes[0])

    def _lowest(self, tick: int) -> int:
        """The level of the last node of the prefix to a tick."""
        return min((tick & -tick).bit_length() - 1, self._height - 1)

    def _carry(self, level: int, total: NDArray[np.int64], estimate: Any) -> NDArray[Any]:
        """Add a complete node: merge it with its left neighbours; the estimate of its prefix."""
        total, tick = total.copy(), self._tick
        while level < self._height - 1 and tick >> level & 1:
            total += self._sums[level]
            tick -= 1 << level
            level += 1
        node = noisy(total, self._noise, self._source)
        before = self._prefixes[self._lowest(tick)] if tick else 0
        self._prefixes[level] = before + node
        self._sums[level] = total
        return np.asarray(self._prefixes[level])

    def state(self) -> State:
        """All that is needed to go on, noise included; for the data owner alone."""
        with self._lock:
            return state_of(self, self.live())

    def live(self) -> State:
        """What changed since the counter was opened."""
        return {
            "tick": self._tick,
            "last": array_to_dict(self._last),
            "sums": array_to_dict(self._sums),
            "prefixes": array_to_dict(self._prefixes),
        }

    def resume(self, live: State) -> None:
        """Take up what ``state()`` of such a counter wrote."""
        shape = self._sums.shape
        self._tick = part(live, "tick", int)
        self._last = array_from_dict(live.get("last"), shape[1:]).astype(self._kind)
        self._sums = array_from_dict(live.get("sums"), shape)
        self._prefixes = array_from_dict(live.get("prefixes"), shape).astype(self._kind)


class ReducedLiveTree(LiveTree):
    """A live :class:`~discreet.streams.tree.ReducedTree`."""

    _kind = np.float64

    def __init__(self, mechanism: ReducedTree, tick: int = 0) -> None:
        """Start without nodes."""
        super().__init__(mechanism, tick)
        self._own = mechanism.own_weights
        self._estimates = np.zeros(self._prefixes.shape)

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys."""
        return super().memory() + self._estimates.nbytes

    def _noisy(self, totals: NDArray[np.int64]) -> NDArray[np.float64]:
        return noisy(totals, self._noise, self._source).astype(np.float64)

    def _inside(self, level: int, totals: NDArray[np.int64], found: NDArray[Any]) -> Any:
        """Estimates of all nodes inside the block, from the leaves; then prefixes from the top."""
        estimates = [self._noisy(np.diff(totals, axis=0))]
        for low in range(1, level + 1):
            own, below = self._own[low], estimates[-1]
            noisy_sums = self._noisy(np.diff(totals[:: 1 << low], axis=0))
            estimates.append(own * noisy_sums + (1 - own) * (below[::2] + below[1::2]))
        if level:
            prefixes = np.empty((len(found), found.shape[1]))
            prefixes[0] = self._last_prefix()
            for low in reversed(range(level)):
                prefixes[1 << low :: 2 << low] = prefixes[:: 2 << low] + estimates[low][::2]
            found[:-1] = prefixes[1:]
        return estimates[level][0]

    def _carry(self, level: int, total: NDArray[np.int64], estimate: Any) -> NDArray[Any]:
        total, tick = total.copy(), self._tick
        while level < self._height - 1 and tick >> level & 1:
            total += self._sums[level]
            below = self._estimates[level] + estimate
            tick -= 1 << level
            level += 1
            own = self._own[level]
            estimate = own * self._noisy(total) + (1 - own) * below
        before = self._prefixes[self._lowest(tick)] if tick else 0
        self._prefixes[level] = before + estimate
        self._sums[level], self._estimates[level] = total, estimate
        return np.asarray(self._prefixes[level])

    def live(self) -> State:
        """What changed since the counter was opened."""
        return {**super().live(), "estimates": array_to_dict(self._estimates)}

    def resume(self, live: State) -> None:
        """Take up what ``state()`` of such a counter wrote."""
        super().resume(live)
        self._estimates = array_from_dict(live.get("estimates"), self._sums.shape)
