"""Histograms of every tick on an endless stream, under w-event privacy: pay when things change.

At each tick a noisy comparison says whether the tick's histogram has moved away from the last one
that was published, by more than the noise of publishing it anew. If it has not, the last one is
repeated, and its share of the budget is kept for later ticks; a publication that used what several
ticks had saved is followed by as many ticks that spend nothing. In any window of w ticks the
comparisons spend half of epsilon and the publications at most the other half.

Uniform spending, epsilon/w at every tick, is :class:`~discreet.streams.baselines.NoisePerTick` with
the unit :class:`~discreet.streams.units.WEvent`.

Source: 004c:11-9; Kellaris, Papadopoulos, Xiao and Papadias 2014 (budget absorption, Theorem 3).
Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Pure
from discreet.core.parameters import Number, count, exact
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.mechanisms.grid import LIMIT, ordinary
from discreet.mechanisms.sparse_vector.above_threshold import Live
from discreet.noise import SYSTEM, Source, discrete_laplace
from discreet.noise.randomness import require_source
from discreet.streams.contribution import ONE_COUNT, EventContribution
from discreet.streams.counter import checked_increments
from discreet.streams.stored import State, array_from_dict, array_to_dict, part, unreadable
from discreet.streams.tags import from_dict, to_dict
from discreet.streams.units import WEvent

FORM = "budget-absorption/1"
_MOST = LIMIT >> 24


@dataclass(frozen=True, kw_only=True)
class BudgetAbsorption:
    """The histogram of every tick, published anew only where it changed.

    Assumptions: neighbours differ at ticks of one window of ``unit.ticks``, by at most
    ``unit.max_per_tick`` events at each.

    Guarantee: pure epsilon under w-event privacy, on a stream without end.

    Source: 004c:11-9. Proof: ``proofs/streams.md``.

    Numerics: exact integers; spends are rationals.
    """

    epsilon: Number
    unit: WEvent
    keys: int
    contribution: EventContribution = ONE_COUNT
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_source(self.randomness)
        if not isinstance(self.unit, WEvent):
            raise InvalidParameter(
                code="not_a_stream_unit",
                expectation="a WEvent unit",
                received=type(self.unit).__name__,
                remedy="Write unit=WEvent(ticks=10, max_per_tick=1).",
            )
        object.__setattr__(self, "epsilon", ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "keys", count("keys", self.keys))

    @property
    def event(self) -> Event:
        """What any window costs, to somebody who is in one window only."""
        return mark_unprotected_event(Pure(epsilon=self.epsilon), self.randomness)

    @property
    def share(self) -> Fraction:
        """What one tick's comparison spends, and what one tick saves for publications."""
        return exact(self.epsilon) / (2 * self.unit.ticks)

    @property
    def tick_sensitivity(self) -> Fraction:
        """How far neighbours move the histogram of one tick, in L1."""
        return exact(self.contribution.l1) * self.unit.max_per_tick

    def open(self) -> LiveAbsorption:
        """Start with a histogram of zeros, which is public."""
        return LiveAbsorption(self)


class LiveAbsorption(Live):
    """A live :class:`BudgetAbsorption`."""

    def __init__(self, mechanism: BudgetAbsorption, tick: int = 0) -> None:
        """Start with nothing saved."""
        super().__init__()
        self._mechanism = mechanism
        self._tick = tick
        self._saved = 0
        self._owed = 0
        self._published = np.zeros(mechanism.keys, dtype=np.int64)
        self._spent: deque[Fraction] = deque(maxlen=mechanism.unit.ticks)

    @property
    def event(self) -> Event:
        """What any window costs, to somebody who is in one window only."""
        return self._mechanism.event

    @property
    def tick(self) -> int:
        """Ticks that were counted so far."""
        return self._tick

    @property
    def spent(self) -> Fraction:
        """What the last window spent: epsilon at most, at every tick."""
        return sum(self._spent, Fraction(0))

    @property
    def last(self) -> NDArray[Any]:
        """The latest histogram: read again, never drawn again."""
        return self._published.copy()

    def run(self, increments: Any) -> NDArray[Any]:
        """Count several ticks, one row each, and estimate the histogram of each."""
        rows = checked_increments(increments, self._mechanism.keys)
        return np.array([self.step(row) for row in rows]).reshape(rows.shape)

    def step(self, increments: Any) -> NDArray[Any]:
        """Count one tick, and estimate its histogram."""
        mechanism, source = self._mechanism, self._mechanism.randomness
        with self._lock:
            self._check_process()
            counts = checked_increments(np.asarray(increments).reshape((1, -1)), mechanism.keys)[0]
            counts = np.clip(counts, -_MOST, _MOST)
            self._tick += 1
            paid = mechanism.share
            apart = int(np.abs(counts - self._published).sum())
            apart += int(
                discrete_laplace(mechanism.tick_sensitivity / mechanism.share, 1, source)[0]
            )
            if self._owed:
                self._owed -= 1
            else:
                self._saved = min(self._saved + 1, mechanism.unit.ticks)
                spend = mechanism.share * self._saved
                if apart > mechanism.keys * mechanism.tick_sensitivity / spend:
                    noise = discrete_laplace(
                        mechanism.tick_sensitivity / spend, mechanism.keys, source
                    )
                    self._published = np.clip(counts + noise, -_MOST, _MOST)
                    self._owed, self._saved = self._saved - 1, 0
                    paid += spend
            self._spent.append(paid)
            return self._published.copy()

    def state(self) -> State:
        """All that is needed to go on; it holds what was published and no counts."""
        with self._lock:
            mechanism = self._mechanism
            return {
                "form": FORM,
                "epsilon": str(exact(mechanism.epsilon)),
                "unit": to_dict(mechanism.unit),
                "contribution": to_dict(mechanism.contribution),
                "keys": mechanism.keys,
                "tick": self._tick,
                "saved": self._saved,
                "owed": self._owed,
                "spent": [str(each) for each in self._spent],
                "published": array_to_dict(self._published),
            }


def absorption_from_state(state: State, *, randomness: Source = SYSTEM) -> LiveAbsorption:
    """Go on with the same budget saved and owed."""
    if state.get("form") != FORM:
        raise unreadable(expected="the state of budget absorption")
    mechanism = BudgetAbsorption(
        epsilon=Fraction(part(state, "epsilon", str)),
        unit=from_dict(state.get("unit")),
        contribution=from_dict(state.get("contribution")),
        keys=part(state, "keys", int),
        randomness=randomness,
    )
    live = LiveAbsorption(mechanism, part(state, "tick", int))
    live._saved, live._owed = part(state, "saved", int), part(state, "owed", int)
    live._spent.extend(Fraction(each) for each in part(state, "spent", list))
    live._published = array_from_dict(state.get("published"), (mechanism.keys,))
    return live
