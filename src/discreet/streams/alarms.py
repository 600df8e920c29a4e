"""Alarms over live numbers: told when a number passes a threshold, for a limited number of times.

Every tick asks whether the number of the last ticks is above a public threshold. Ticks at which it
is not are free: the sparse vector technique pays for alarms alone, whose number is fixed when the
monitor is opened. Each question's value moves by at most what one unit adds within the window.

Source: 000a:E1–E3. Proof: ``proofs/sparse_vector.md``, ``proofs/streams.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import Exhausted
from discreet.core.events.event import Event
from discreet.core.guarantee import ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, count, exact, finite
from discreet.mechanisms.for_spend import additive_spend, epsilon_for
from discreet.mechanisms.scores import GENERAL, MONOTONE
from discreet.mechanisms.sparse_vector.hidden import HiddenThreshold, Rounds
from discreet.mechanisms.sparse_vector.sparse import Sparse, SparseSession
from discreet.noise import SYSTEM, Source
from discreet.streams.contribution import ONE_COUNT, EventContribution
from discreet.streams.counter import checked_increments, largest_increment
from discreet.streams.stored import State, array_from_dict, array_to_dict, part, unreadable
from discreet.streams.tags import from_dict, spend_from_dict, spend_to_dict, to_dict
from discreet.streams.units import EventLevel, StreamUnit, UserLevel, require_unit

FORM = "stream-alarms/1"
_HOUSED = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Alarms:
    """At most ``alarms`` alarms, raised where the total of the last ``window`` ticks is too high.

    Assumptions: one unit's events move the total by at most ``sensitivity``; where events are
    counted, and no other contribution is declared, upward only.

    Contract: one stream of counts; the threshold is public. After the last alarm the monitor is
    used up, and says so.

    Guarantee: the spend for all ticks together, however many there are without an alarm.

    >>> from discreet.streams.units import EventLevel, UserLevel
    >>> monitor = Alarms(
    ...     threshold=100, window=10, alarms=3, spend=PureDP(epsilon=1), unit=EventLevel()
    ... )
    >>> round(monitor.error(ticks=1000, confidence=0.95), 1)
    71.0

    Source: 000a:E3. Proof: ``proofs/sparse_vector.md``.
    """

    threshold: Number
    window: int
    alarms: int
    spend: Guarantee
    unit: StreamUnit
    contribution: EventContribution = ONE_COUNT
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        require_unit(self.unit)
        object.__setattr__(self, "threshold", finite("threshold", self.threshold))
        for name in ("window", "alarms"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        _ = self.mechanism

    @property
    def sensitivity(self) -> Number:
        """How far one unit moves the total of one window."""
        events = min(self.unit.events, self.unit.per_tick * self.window)
        return exact(self.contribution.largest) * events

    @property
    def _one_way(self) -> bool:
        """Whether a unit that comes moves every total up: in a window, others may go meanwhile."""
        return self.contribution == ONE_COUNT and isinstance(self.unit, EventLevel | UserLevel)

    @property
    def mechanism(self) -> Sparse:
        """The sparse vector that answers."""
        given: dict[str, Any] = {
            "cutoff": self.alarms,
            "threshold": self.threshold,
            "sensitivity": self.sensitivity,
            "scores": MONOTONE if self._one_way else GENERAL,
            "randomness": self.randomness,
        }
        match self.spend:
            case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon, delta=0):
                return Sparse.pure(epsilon=epsilon, **given)
            case ApproxDP(epsilon=epsilon, delta=delta, by=None):
                return Sparse.approximate(epsilon=epsilon, delta=delta, **given)
        plain = {name: value for name, value in given.items() if name != "randomness"}
        each = epsilon_for(
            additive_spend(self.spend), lambda e: Sparse(epsilon_each=e, **plain).event
        )
        return Sparse(epsilon_each=each, **given)

    @property
    def event(self) -> Event:
        """What the whole stream costs."""
        return self.mechanism.event

    def error(self, *, ticks: int, confidence: float) -> float:
        """How far from the threshold a wrong answer can be, over so many ticks.

        With this confidence no alarm is raised for a total below the threshold less this, and none
        is missed for one above the threshold plus this, before the alarms are used up. By the law
        of the noise, with what the grid rounds off.
        """
        return self.mechanism.reach(confidence=confidence, questions=count("ticks", ticks))

    def open(self) -> LiveAlarms:
        """Start watching; the first threshold is drawn now."""
        return LiveAlarms(self, self.mechanism.open())


class LiveAlarms:
    """A live monitor. It keeps exact totals and the noisy threshold to itself."""

    def __init__(self, monitor: Alarms, session: SparseSession, tick: int = 0) -> None:
        """Start with an empty window."""
        self._monitor = monitor
        self._session = session
        self._tick = tick
        self._most = largest_increment(max(monitor.window, _HOUSED))
        self._recent = np.zeros(monitor.window, dtype=np.int64)

    @property
    def event(self) -> Event:
        """What the whole stream costs."""
        return self._monitor.event

    @property
    def tick(self) -> int:
        """Ticks that were watched so far."""
        return self._tick

    @property
    def alarms_left(self) -> int:
        """Alarms that can still be raised."""
        return self._session.positive_answers_left

    def step(self, increments: Any) -> bool:
        """Count one tick, and say whether its window is above the threshold, noisily."""
        return bool(self.run(np.asarray(increments).reshape((1, -1)))[0])

    def run(self, increments: Any) -> NDArray[np.bool_]:
        """Count several ticks; one answer for each, up to the last alarm, and none after it."""
        rows = checked_increments(increments, 1)[:, 0]
        if not self.alarms_left:
            raise Exhausted(
                code="alarms_used_up",
                expectation="a monitor that has alarms left",
                remedy="Open a new one, which is charged anew.",
            )
        found: list[bool] = []
        for added in np.clip(rows, -self._most, self._most):
            if not self.alarms_left:
                break
            self._recent[self._tick % len(self._recent)] = added
            self._tick += 1
            found.append(self._session.ask(int(self._recent.sum())))
        return np.array(found, dtype=np.bool_)

    def state(self) -> State:
        """All that is needed to go on, the hidden threshold included; for the data owner alone."""
        monitor, hidden = self._monitor, self._session.hidden()
        return {
            "form": FORM,
            "threshold": str(exact(monitor.threshold)),
            "window": monitor.window,
            "alarms": monitor.alarms,
            "spend": spend_to_dict(monitor.spend),
            "unit": to_dict(monitor.unit),
            "contribution": to_dict(monitor.contribution),
            "epsilon_each": str(exact(monitor.mechanism.epsilon_each)),
            "tick": self._tick,
            "left": self.alarms_left,
            "hidden": None if hidden is None else str(hidden.steps),
            "recent": array_to_dict(self._recent),
        }


def alarms_from_state(state: State, *, randomness: Source = SYSTEM) -> LiveAlarms:
    """Go on with a monitor: the same hidden threshold, the same alarms left."""
    if state.get("form") != FORM:
        raise unreadable(expected="the state of a monitor")
    monitor = Alarms(
        threshold=Fraction(part(state, "threshold", str)),
        window=part(state, "window", int),
        alarms=part(state, "alarms", int),
        spend=spend_from_dict(state.get("spend")),
        unit=from_dict(state.get("unit")),
        contribution=from_dict(state.get("contribution")),
        randomness=randomness,
    )
    if str(exact(monitor.mechanism.epsilon_each)) != part(state, "epsilon_each", str):
        raise unreadable(expected="a monitor whose alarms are priced as when it was opened")
    hidden = state.get("hidden")
    before = Rounds(
        yeses=monitor.alarms - part(state, "left", int),
        hidden=None if hidden is None else HiddenThreshold(int(hidden)),
    )
    session = monitor.mechanism.open(before)
    live = LiveAlarms(monitor, session, part(state, "tick", int))
    live._recent = array_from_dict(state.get("recent"), (monitor.window,))
    return live
