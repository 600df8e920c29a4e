"""The pan-private counter: its memory hides every event, and so do its outputs, both together.

Noise of the same scale starts in the counter itself, which only ever adds up events, and is drawn
for each dyadic interval of ticks with its first tick; an output adds the noises of all intervals
that contain its tick. When an interval ends its noise is erased: written over, and in no state.

Source: 000b:B42 (Figure 12.2, Theorem 12.5). Proof: ``proofs/pan-private.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Pure
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number, count, exact
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.distributions.distribution import DiscreteLaplaceDistribution
from discreet.mechanisms.distributions.symmetric import Distribution
from discreet.mechanisms.grid import LIMIT, ordinary
from discreet.noise import SYSTEM, Source, discrete_laplace
from discreet.noise.randomness import require_source
from discreet.streams.contribution import ONE_COUNT, EventContribution
from discreet.streams.counter import (
    RunningCounter,
    checked_increments,
    largest_increment,
    require_horizon,
)
from discreet.streams.pan_private.checkpoints import Checkpoints, Seizable
from discreet.streams.stored import State, array_from_dict, array_to_dict, part, unreadable
from discreet.streams.tags import from_dict, spend_from_dict, spend_to_dict, to_dict
from discreet.streams.tails import sum_half_width
from discreet.streams.units import StreamUnit, require_unit

FORM = "pan-private-counter/1"


@dataclass(frozen=True, kw_only=True)
class PanPrivateCounter:
    """A counter over ``horizon`` ticks whose memory may be seen once, by surprise.

    Assumptions: as for every counter; one look at the memory between two ticks, at any time.

    Contract: every output, at every tick, has the same error: 1 + L draws of Laplace noise of scale
    (1 + L) / epsilon for one event, where L levels of intervals cover the horizon.

    Guarantee: pure epsilon for all outputs and one state together.

    >>> from discreet.streams.pan_private.checkpoints import NO_CHECKPOINT
    >>> from discreet.streams.units import EventLevel
    >>> counter = PanPrivateCounter(
    ...     horizon=8, epsilon=1, unit=EventLevel(), checkpoints=NO_CHECKPOINT
    ... )
    >>> counter.draws, counter.event
    (4, Pure(epsilon=1))

    Source: 000b:B42. Proof: ``proofs/pan-private.md``.

    Numerics: exact integers throughout.
    """

    horizon: int
    epsilon: Number
    unit: StreamUnit
    checkpoints: Checkpoints
    keys: int = 1
    contribution: EventContribution = ONE_COUNT
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_source(self.randomness)
        require_unit(self.unit)
        object.__setattr__(self, "epsilon", ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "keys", count("keys", self.keys))
        object.__setattr__(self, "horizon", require_horizon(self.horizon))

    @property
    def levels(self) -> int:
        """Lengths of intervals: 1, 2, 4 and so on, without the one that is everything."""
        return max(1, (self.horizon - 1).bit_length())

    @property
    def draws(self) -> int:
        """Noises in every output."""
        return 1 + self.levels

    @property
    def event(self) -> Event:
        """What all outputs and one look at the memory cost together."""
        return mark_unprotected_event(Pure(epsilon=self.epsilon), self.randomness)

    @cached_property
    def distribution(self) -> Distribution:
        """The law of each noise."""
        return DiscreteLaplaceDistribution(float(self._scale), 1.0)

    @property
    def _scale(self) -> Any:
        moved = self.unit.events * exact(self.contribution.l1)
        return moved * self.draws / exact(self.epsilon)

    def variance(self, t: int = 1) -> float:
        """The variance of every output: 2 (1 + L)**3 / epsilon**2 for one event."""
        self._require_tick(t)
        return self.draws * self.distribution.std**2

    def error(self, t: int = 1, *, confidence: float) -> float:
        """How far any output may be off, with this confidence."""
        self._require_tick(t)
        return sum_half_width([(1.0, self.draws)], self.distribution, confidence=confidence)

    def memory(self) -> int:
        """Bytes that a live counter holds for all keys."""
        return 8 * self.keys * (1 + self.levels)

    def open(self) -> LivePanPrivateCounter:
        """Start counting; the first noise is drawn now."""
        return LivePanPrivateCounter(self)

    def _require_tick(self, t: object) -> int:
        return min(count("t", t), self.horizon)

    def draw(self, size: int) -> NDArray[np.int64]:
        """Fresh noise of the one law."""
        return discrete_laplace(self._scale, size, self.randomness)


class LivePanPrivateCounter(Seizable, RunningCounter[PanPrivateCounter]):
    """A live :class:`PanPrivateCounter`. Outputs are not kept, nor noise whose interval ended."""

    def __init__(self, mechanism: PanPrivateCounter, tick: int = 0, written: int = 0) -> None:
        """Draw the counter's own noise; that of an interval comes with its first tick."""
        super().__init__(mechanism.checkpoints, written)
        self._mechanism = mechanism
        self._tick = tick
        self._most = largest_increment(mechanism.horizon)
        self._counter = mechanism.draw(mechanism.keys)
        self._noise = np.zeros((mechanism.levels, mechanism.keys), dtype=np.int64)

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys."""
        return self._counter.nbytes + self._noise.nbytes

    def step(self, increments: Any) -> NDArray[Any]:
        """Count one tick, one number for each key, and estimate every total so far."""
        with self._lock:
            self._check_process()
            row = checked_increments(np.asarray(increments).reshape((1, -1)), self.keys)[0]
            self._require_left(1)
            self._begin()
            self._counter += np.clip(row, -self._most, self._most)
            found: NDArray[Any] = self._counter + self._noise.sum(axis=0)
            self._tick += 1
            self._erase()
            return np.asarray(np.clip(found, -LIMIT, LIMIT))

    def run(self, increments: Any) -> NDArray[Any]:
        """Count several ticks, one row each, and estimate every total after each of them."""
        rows = checked_increments(increments, self.keys)
        return np.array([self.step(row) for row in rows]).reshape(rows.shape)

    def _begin(self) -> None:
        """Draw the noise of all intervals that begin with this tick, and not before it.

        Drawn any earlier, it would be in the memory while the event that it hides is to come.
        """
        many = self._at_border()
        self._noise[:many] = self._mechanism.draw(many * self.keys).reshape((many, self.keys))

    def _erase(self) -> None:
        """Write over the noise of all intervals that ended with the last tick."""
        self._noise[: self._at_border()] = 0

    def _at_border(self) -> int:
        """How many levels have an interval that ends at the last tick, and one that begins."""
        levels = self._mechanism.levels
        return min((self._tick & -self._tick).bit_length(), levels) if self._tick else levels

    def state(self) -> State:
        """The memory as an intruder would find it; an intrusion, and counted as one."""
        with self._lock:
            self._count_checkpoint()
            return self._memory()

    def _memory(self) -> State:
        mechanism = self._mechanism
        return {
            "form": FORM,
            "horizon": mechanism.horizon,
            "keys": mechanism.keys,
            "spend": spend_to_dict(PureDP(epsilon=mechanism.epsilon)),
            "unit": to_dict(mechanism.unit),
            "contribution": to_dict(mechanism.contribution),
            "tick": self._tick,
            "written": self._written,
            "counter": array_to_dict(self._counter),
            "noise": array_to_dict(self._noise),
        }


def from_checkpoint(state: State, *, randomness: Source = SYSTEM) -> LivePanPrivateCounter:
    """Go on from the one state that was written; nothing that was kept is drawn again."""
    if state.get("form") != FORM:
        raise unreadable(expected="the state of a pan-private counter")
    spend = spend_from_dict(state.get("spend"))
    assert isinstance(spend, PureDP)
    mechanism = PanPrivateCounter(
        horizon=part(state, "horizon", int),
        keys=part(state, "keys", int),
        epsilon=spend.epsilon,
        unit=from_dict(state.get("unit")),
        contribution=from_dict(state.get("contribution")),
        checkpoints=Checkpoints(1),
        randomness=randomness,
    )
    live = LivePanPrivateCounter(mechanism, part(state, "tick", int), part(state, "written", int))
    live._counter = array_from_dict(state.get("counter"), (mechanism.keys,))
    live._noise = array_from_dict(state.get("noise"), (mechanism.levels, mechanism.keys))
    return live
