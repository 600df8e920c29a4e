"""The two simple counters: noise on every tick, and noise on every prefix.

Source: 000b:B39. Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.streams.contribution import StreamSensitivity
from discreet.streams.counter import ContinualCounter, LiveCounter, largest_increment
from discreet.streams.node_noise import noisy
from discreet.streams.resume import state_of
from discreet.streams.stored import State, array_from_dict, array_to_dict, part


@dataclass(frozen=True, kw_only=True)
class NoisePerTick(ContinualCounter):
    """Each tick's increments get noise once, and are added up: the error grows with the root of t.

    Best for a handful of ticks, and the only one whose price does not depend on the horizon.

    Guarantee: one release of all increments, which one event moves once.

    Source: 000b:B39 (variance 2 t / epsilon**2). Proof: ``proofs/streams.md``.
    """

    kind: ClassVar[str] = "per-tick/1"

    def sensitivity(self) -> StreamSensitivity:
        """Each event moves one tick."""
        events = self.unit.events
        return StreamSensitivity(
            Fraction(self.contribution.l1) * events,
            Fraction(self.contribution.l2_squared) * events * min(events, self.unit.per_tick),
        )

    def terms(self, t: int) -> Sequence[tuple[float, int]]:
        return [(1.0, self.require_tick(t))]

    def memory(self) -> int:
        return 8 * self.keys * 2

    def open(self) -> LiveTotals:
        return LiveTotals(self)


@dataclass(frozen=True, kw_only=True)
class NoisePerPrefix(ContinualCounter):
    """Each total gets fresh noise: one release of ``horizon`` totals, all of which an event moves.

    Guarantee: the L1 sensitivity of the totals, ``horizon`` times the events of the unit.

    Source: 000b:B39 (variance 2 T**2 / epsilon**2). Proof: ``proofs/streams.md``.
    """

    kind: ClassVar[str] = "per-prefix/1"

    def sensitivity(self) -> StreamSensitivity:
        """Each event moves all totals from its tick on."""
        events = self.unit.events
        return StreamSensitivity(
            Fraction(self.contribution.l1) * events * self.horizon,
            Fraction(self.contribution.l2_squared) * events**2 * self.horizon,
        )

    def terms(self, t: int) -> Sequence[tuple[float, int]]:
        self.require_tick(t)
        return [(1.0, 1)]

    def memory(self) -> int:
        return 8 * self.keys * 2

    def open(self) -> LiveTotals:
        return LiveTotals(self)


class LiveTotals(LiveCounter):
    """A live counter with noise per tick or per prefix."""

    def __init__(self, mechanism: NoisePerTick | NoisePerPrefix, tick: int = 0) -> None:
        """Start from zero."""
        super().__init__(mechanism, tick)
        self._per_tick = isinstance(mechanism, NoisePerTick)
        self._total = np.zeros(mechanism.keys, dtype=np.int64)
        self._last = np.zeros(mechanism.keys, dtype=np.int64)

    @property
    def last(self) -> NDArray[Any]:
        """The latest estimates, zeros before the first tick: read again, never drawn again."""
        return self._last.copy()

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys."""
        return self._total.nbytes + self._last.nbytes

    def _run(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        noise, source = self._mechanism.noise, self._mechanism.randomness
        most = largest_increment(self._mechanism.horizon)
        rows = np.clip(rows, -most, most)
        if self._per_tick:
            found = self._last + np.cumsum(noisy(rows, noise, source), axis=0)
        else:
            totals = self._total + np.cumsum(rows, axis=0)
            found = noisy(totals, noise, source)
            if len(rows):
                self._total = totals[-1]
        if len(rows):
            self._last = found[-1].copy()
        self._tick += len(rows)
        return np.asarray(found)

    def state(self) -> State:
        """All that is needed to go on, noise included; for the data owner alone."""
        with self._lock:
            live = {"tick": self._tick, "last": array_to_dict(self._last)}
            return state_of(self, {**live, "total": array_to_dict(self._total)})

    def resume(self, live: State) -> None:
        """Take up what ``state()`` of such a counter wrote."""
        shape = self._last.shape
        self._tick = part(live, "tick", int)
        self._last = array_from_dict(live.get("last"), shape)
        self._total = array_from_dict(live.get("total"), shape)
