"""From events to whole numbers: which tick and key each event counts for, if it counts.

An event passes five questions in this order: is its key listed, does it have what the stream needs,
which tick is it of, was it seen before, does its person have anything left. Each looks at the
event, at the public clock and at what the same person sent; so to take one person away changes the
counts of a stream by that person's own at most, which are ``cap``.

Once admitted an event is a part of numbers that wait for its tick (``listed_keys``), or for a name
of its key (``found_keys``).

Source: contract, "Spending" (streams). Proof: ``proofs/live-streams.md``.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.streams.live.events import Events
from discreet.streams.live.limits import (
    PersonCounts,
    PersonLimit,
    fingerprint,
    joined_tags,
    parted_tags,
)
from discreet.streams.live.listed_keys import KeysByList
from discreet.streams.live.rules import EventRules, LeaveOut
from discreet.streams.live.ticks import Ticks

_NO_TIME = -(1 << 62)


class Keys(Protocol):
    """Which keys have numbers, and what waits for its tick of each: listed, or found."""

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that are told of by now, in the order of their numbers."""

    @property
    def valued(self) -> bool:
        """Whether an event needs a value."""

    def place(self, key: str | None) -> Any:
        """Where events of a key count; None where nowhere."""

    def add(self, tick: int, place: Any, person: bytes | None, value: float | None) -> None:
        """Count an event that was admitted in its tick."""

    def settle(self) -> None:
        """Keep nothing of the events of a batch but numbers."""

    def close(self, tick: int) -> NDArray[np.int64]:
        """The numbers of a tick; nothing counts in it afterwards."""

    def state(self) -> dict[str, Any]:
        """For the encrypted state."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Be where the state was."""


@dataclass
class Intake:
    """Takes events in, and hands out the counts of one tick after the other.

    Contract: ``secret`` is random and stays within the encrypted state. ``limit`` is None where
    the unit is one event; then an identifier is the event.

    Attributes:
        ticks: The public clock.
        keys: What is counted by.
        rules: What is done with late and repeated events.
        limit: How many events of a person count.
        secret: Under which people and identifiers are fingerprinted.
    """

    ticks: Ticks
    keys: Keys
    rules: EventRules
    limit: PersonLimit | None
    secret: bytes
    left_out: Tally[str] = field(default_factory=Tally)

    def __post_init__(self) -> None:
        """Start with nothing."""
        self._seen: dict[bytes, int] = {}
        self._people = None if self.limit is None else PersonCounts(self.limit)

    def take(self, events: Events, tick: int) -> None:
        """Take events in while ``tick`` is the one that is open."""
        plain = events.times is None and events.ids is None and isinstance(self.keys, KeysByList)
        if plain and self._people is None and not self.keys.valued:
            self.take_counts(Tally(key for key in events.keys if key is not None), tick)
            return
        count = len(events)
        nobody: Sequence[None] = (None,) * count
        places = [self.keys.place(key) for key in events.keys]
        for place, person, mark, value, own in zip(
            places,
            events.people or nobody,
            events.ids or nobody,
            events.values or nobody,
            self._ticks(events, tick),
            strict=True,
        ):
            if place is None:
                self.left_out["unlisted"] += 1
            elif self._people is not None and person is None:
                self.left_out["nobody's"] += 1
            elif own >= self.ticks.count or (mark is None and events.ids is not None):
                self.left_out["unreadable"] += 1
            elif value is None and self.keys.valued:
                self.left_out["without a value"] += 1
            elif (admitted := self._admitted(person or "", mark, own, tick)) is not None:
                self.keys.add(admitted[0], place, admitted[1], value)
        self.keys.settle()

    def take_counts(self, counts: Mapping[str, int], tick: int) -> None:
        """Take in what was counted elsewhere; only where the unit is one event."""
        assert self._people is None
        assert isinstance(self.keys, KeysByList)
        if tick >= self.ticks.count:
            self.left_out["late"] += sum(counts.values())
        elif unlisted := self.keys.add_counts(counts, tick):
            self.left_out["unlisted"] += unlisted

    def close(self, tick: int) -> NDArray[np.int64]:
        """The counts of a tick, over all keys; nothing counts in it afterwards."""
        counts = self.keys.close(tick)
        if self._people is not None:
            self._people.forget(tick + 1)
        remembered = self.rules.duplicates.remembered
        if remembered is not None:
            old = tick + 1 - remembered
            self._seen = {mark: seen for mark, seen in self._seen.items() if seen >= old}
        return counts

    def _ticks(self, events: Events, open_tick: int) -> list[int]:
        """The tick of each event by its own time; one beyond the end where it has none."""
        if events.times is None:
            return [open_tick] * len(events)
        raw = [_NO_TIME if time is None else time for time in events.times]
        times = np.array(raw, dtype=np.int64)
        own = self.ticks.of(times)
        # Before the start, or without a time, an event is of no tick at all.
        own[(own < 0) | (times == _NO_TIME)] = self.ticks.count
        found: list[int] = own.tolist()
        return found

    def _admitted(
        self, person: str, mark: str | None, own: int, tick: int
    ) -> tuple[int, bytes | None] | None:
        """The tick in which an event counts, and whose it is; None where it does not count."""
        if own < tick:
            if isinstance(self.rules.late, LeaveOut):
                self.left_out["late"] += 1
                return None
            own = tick
        seen = None
        if mark is not None:
            owner = "" if self._people is None else person
            seen = fingerprint(self.secret, "event", owner, mark)
            if seen in self._seen:
                self.left_out["repeated"] += 1
                return None
        who = None
        if self._people is not None:
            who = fingerprint(self.secret, "person", person)
            if not self._people.admit(who, own):
                self.left_out["over the limit"] += 1
                return None
        if seen is not None:
            self._seen[seen] = max(own, tick)
        return own, who

    def state(self) -> dict[str, Any]:
        """All of it, for the encrypted state."""
        return {
            "secret": self.secret.hex(),
            "pending": self.keys.state(),
            "seen": joined_tags(list(self._seen)),
            "seen_at": list(self._seen.values()),
            "people": None if self._people is None else self._people.state(),
            "left_out": dict(self.left_out),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Be where the state was."""
        self.secret = bytes.fromhex(state["secret"])
        self.keys.restore(state["pending"])
        self._seen = dict(zip(parted_tags(state["seen"]), state["seen_at"], strict=True))
        self.left_out = Tally(state["left_out"])
        if self._people is not None:
            self._people.restore(state["people"])
