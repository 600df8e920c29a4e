"""Counts under continual observation: what every counter offers, before and while it runs.

A *mechanism* is a frozen description with a price for the whole horizon, errors and memory, all
known before any event. ``open()`` starts a live :class:`Counter` that takes the increments of one
public clock tick after another, for every declared key, and answers each tick with estimates of
all totals so far. Whoever publishes an answer first writes ``state()`` where it lasts.

Source: 000b:B36, B39, B40; contract, "Spending" (streams). Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import Exhausted, InvalidData, InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.grid import LIMIT
from discreet.mechanisms.sparse_vector.above_threshold import Live
from discreet.noise.randomness import SYSTEM, Source, require_source
from discreet.streams.contribution import ONE_COUNT, EventContribution, StreamSensitivity
from discreet.streams.node_noise import NodeNoise, noise_for_spend
from discreet.streams.stored import State
from discreet.streams.tails import sum_half_width
from discreet.streams.units import StreamUnit, require_unit

LONGEST = 1 << 40
"""Ticks of the longest horizon."""


@runtime_checkable
class Counter(Protocol):
    """A live counter: one price, fixed when it was opened, for all ticks to its horizon."""

    @property
    def event(self) -> Event:
        """What the whole stream costs, however much of it is used."""

    @property
    def horizon(self) -> int | None:
        """The last tick; None where there is none."""

    @property
    def keys(self) -> int:
        """How many streams are counted side by side."""

    @property
    def tick(self) -> int:
        """Ticks that were counted so far."""

    @property
    def last(self) -> NDArray[Any]:
        """The latest estimates, zeros before the first tick: read again, never drawn again."""

    def step(self, increments: Any) -> NDArray[Any]:
        """Count one tick, one number for each key, and estimate every total so far."""

    def run(self, increments: Any) -> NDArray[Any]:
        """Count several ticks, one row each, and estimate every total after each of them."""

    def error(self, t: int, *, confidence: float) -> float:
        """How far the estimate of one key at tick ``t`` may be off, from noise."""

    def memory(self) -> int:
        """Bytes that the live counter holds for all keys."""

    def state(self) -> State:
        """All that is needed to go on, noise included; for the data owner alone."""


@dataclass(frozen=True, kw_only=True)
class ContinualCounter(ABC):
    """What the descriptions of counters share.

    Assumptions: neighbouring streams differ by at most ``unit.events`` events, at most
    ``unit.per_tick`` of them at one tick, each of which moves its tick's increments by at most
    ``contribution``; ticks and keys are public.

    Guarantee: ``event`` is the price of everything that the live counter ever outputs, for events
    that may depend on earlier outputs.
    """

    kind: ClassVar[str]
    """The name under which states hold it; it never changes."""

    horizon: int
    spend: Guarantee
    unit: StreamUnit
    keys: int = 1
    contribution: EventContribution = ONE_COUNT
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse a horizon, unit or number of keys that is none."""
        require_source(self.randomness)
        require_unit(self.unit)
        object.__setattr__(self, "keys", count("keys", self.keys))
        object.__setattr__(self, "horizon", require_horizon(self.horizon))

    @cached_property
    def noise(self) -> NodeNoise:
        """The noise of every number that is released."""
        return noise_for_spend(self.spend, self.sensitivity())

    @property
    def event(self) -> Event:
        """What the whole stream costs; marked if its noise was not private."""
        return mark_unprotected_event(self.noise.event, self.randomness)

    @abstractmethod
    def sensitivity(self) -> StreamSensitivity:
        """How far neighbouring streams move all that is measured."""

    @abstractmethod
    def terms(self, t: int) -> Sequence[tuple[float, int]]:
        """Coefficients of the draws in the error at tick ``t``, and how often each occurs."""

    @abstractmethod
    def memory(self) -> int:
        """Bytes that a live counter holds for all keys."""

    @abstractmethod
    def open(self) -> Counter:
        """Start counting, from the first tick."""

    def shape(self) -> State:
        """The fields of this kind of counter alone, by their frozen names."""
        return {}

    def variance(self, t: int) -> float:
        """The variance of the error of one key at tick ``t``."""
        squares = sum(many * c * c for c, many in self.terms(self.require_tick(t)))
        return float(squares * self.noise.distribution.std**2)

    def error(self, t: int, *, confidence: float) -> float:
        """How far the estimate of one key at tick ``t`` may be off, with this confidence.

        Noise only: what caps leave out is not an error of it. Known before any event.
        """
        terms = self.terms(self.require_tick(t))
        return sum_half_width(terms, self.noise.distribution, confidence=confidence)

    def worst_tick(self) -> int:
        """A tick whose error is as large as any."""
        return self.horizon

    def require_tick(self, t: object) -> int:
        """``t`` if it is a tick of the horizon."""
        tick = count("t", t)
        if tick > self.horizon:
            raise InvalidParameter(
                code="tick_beyond_horizon",
                expectation=f"a tick between 1 and the horizon, {self.horizon}",
                received=tick,
                remedy="Ask about a tick within the horizon.",
            )
        return tick


class Opened(Protocol):
    """What a running counter reads of the description that it was opened from."""

    @property
    def event(self) -> Event:
        """What the whole stream costs."""

    @property
    def horizon(self) -> int:
        """The last tick."""

    @property
    def keys(self) -> int:
        """How many streams are counted side by side."""

    def error(self, t: int, *, confidence: float) -> float:
        """How far the estimate of one key at a tick may be off."""


Description = TypeVar("Description", bound=Opened)


class RunningCounter(Live, Generic[Description]):
    """What every counter tells of itself while it runs, whatever its state may show."""

    _mechanism: Description
    _tick: int

    @property
    def mechanism(self) -> Description:
        """What this counter was opened from."""
        return self._mechanism

    @property
    def event(self) -> Event:
        """What the whole stream costs, however much of it is used."""
        return self._mechanism.event

    @property
    def horizon(self) -> int | None:
        """The last tick; None where there is none."""
        return self._mechanism.horizon

    @property
    def keys(self) -> int:
        """How many streams are counted side by side."""
        return self._mechanism.keys

    @property
    def tick(self) -> int:
        """Ticks that were counted so far."""
        return self._tick

    def error(self, t: int, *, confidence: float) -> float:
        """How far the estimate of one key at tick ``t`` may be off, from noise."""
        return self._mechanism.error(t, confidence=confidence)

    def _require_left(self, ticks: int) -> None:
        """Refuse more ticks than were paid for."""
        if self.horizon is not None and self._tick + ticks > self.horizon:
            raise Exhausted(
                code="horizon_reached",
                expectation=f"at most {self.horizon - self._tick} more ticks",
                received=ticks,
                remedy="Open another stream, which is charged anew, or one without a horizon.",
            )


class LiveCounter(RunningCounter[ContinualCounter], ABC):
    """What live counters share: public ticks, checked increments, one process."""

    def __init__(self, mechanism: ContinualCounter, tick: int = 0) -> None:
        """Start at ``tick``, which was the last that was counted."""
        super().__init__()
        self._mechanism = mechanism
        self._tick = tick

    def step(self, increments: Any) -> NDArray[Any]:
        """Count one tick, one number for each key, and estimate every total so far."""
        one = np.asarray(increments)
        return np.asarray(self.run(one.reshape((1, -1)) if one.ndim < 2 else one)[-1])

    def run(self, increments: Any) -> NDArray[Any]:
        """Count several ticks, one row each, and estimate every total after each of them."""
        with self._lock:
            self._check_process()
            rows = checked_increments(increments, self.keys)
            self._require_left(len(rows))
            return self._run(rows)

    @abstractmethod
    def _run(self, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Count checked rows, and move the tick."""

    def __repr__(self) -> str:
        """Only what is public."""
        return f"{type(self).__name__}(tick={self._tick}, horizon={self.horizon}, keys={self.keys})"


def checked_increments(increments: Any, keys: int) -> NDArray[np.int64]:
    """Whole numbers, one row for each tick and one column for each key."""
    rows = np.asarray(increments)
    if rows.ndim == 1:
        rows = rows.reshape((-1, 1)) if keys == 1 else rows.reshape((1, -1))
    if rows.dtype.kind not in "iub" or rows.ndim != 2 or rows.shape[1] != keys:
        raise InvalidData(
            code="increments_do_not_fit",
            expectation=f"whole numbers, one for each of {keys} keys, in a row for each tick",
            received=f"array of {rows.dtype.type.__name__} with {rows.ndim} dimensions",
            remedy="Send a number for every declared key at every tick; zeros where nothing came.",
        )
    if rows.dtype.kind == "u":
        rows = np.minimum(rows, np.uint64(LIMIT))
    return np.asarray(rows, dtype=np.int64)


def require_horizon(horizon: object) -> int:
    """A number of ticks that is known in advance."""
    ticks = count("horizon", horizon)
    if ticks > LONGEST:
        raise InvalidParameter(
            code="horizon_too_long",
            expectation=f"a horizon of at most 2**{LONGEST.bit_length() - 1} ticks",
            received=ticks,
            remedy="Choose longer ticks.",
        )
    return ticks


def largest_increment(ticks: int) -> int:
    """What increments are clamped to, so that a total over so many ticks stays within 2**61."""
    return LIMIT // ticks
