"""From events to whole numbers: which tick and key each event counts for, if it counts.

An event passes five questions in this order: is its key listed, does it have what the stream needs,
which tick is it of, was it seen before, does its person have anything left. Each looks at the
event, at the public clock and at what the same person sent; so to take one person away changes the
counts of a stream by that person's own at most, which are ``cap``.

Once admitted an event is one unit of a count and nothing else: what waits for its tick are numbers.

Source: contract, "Spending" (streams). Proof: ``proofs/live-streams.md``.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.streams.live.events import Events
from discreet.streams.live.limits import (
    PersonCounts,
    PersonLimit,
    fingerprint,
    joined_tags,
    parted_tags,
)
from discreet.streams.live.rules import CountAs, EventRules, LeaveOut
from discreet.streams.live.ticks import Ticks

_NO_TIME = -(1 << 62)


@dataclass
class Intake:
    """Takes events in, and hands out the counts of one tick after the other.

    Contract: ``secret`` is random and stays within the encrypted state. ``limit`` is None where
    the unit is one event; then an identifier is the event.

    Attributes:
        ticks: The public clock.
        keys: All keys that are ever released.
        rules: What is done with late, repeated and unlisted events.
        limit: How many events of a person count.
        secret: Under which people and identifiers are fingerprinted.
    """

    ticks: Ticks
    keys: tuple[str, ...]
    rules: EventRules
    limit: PersonLimit | None
    secret: bytes
    left_out: Tally[str] = field(default_factory=Tally)

    def __post_init__(self) -> None:
        """Start with nothing."""
        self._places = {key: place for place, key in enumerate(self.keys)}
        if len(self._places) != len(self.keys) or not self.keys:
            raise InvalidParameter(
                code="stream_keys",
                expectation="a list of keys, each of them once",
                received=len(self.keys),
                remedy='Write keys=["A", "B", "C"].',
            )
        self._other: int | None = None
        if isinstance(self.rules.unlisted, CountAs):
            self._other = self._places.get(self.rules.unlisted.key)
            if self._other is None:
                raise InvalidParameter(
                    code="stream_keys",
                    expectation="CountAs to name a key of the list",
                    received=self.rules.unlisted.key,
                    remedy="Add it to keys=, or leave unlisted= out.",
                )
        self._pending: dict[int, Tally[int]] = {}
        self._seen: dict[bytes, int] = {}
        self._people = None if self.limit is None else PersonCounts(self.limit)

    def take(self, events: Events, tick: int) -> None:
        """Take events in while ``tick`` is the one that is open."""
        if self._people is None and events.times is None and events.ids is None:
            self.take_counts(Tally(key for key in events.keys if key is not None), tick)
            return
        count = len(events)
        nobody: Sequence[None] = (None,) * count
        places = [self._place(key) for key in events.keys]
        for place, person, mark, own in zip(
            places,
            events.people or nobody,
            events.ids or nobody,
            self._ticks(events, tick),
            strict=True,
        ):
            if place is None:
                self.left_out["unlisted"] += 1
            elif self._people is not None and person is None:
                self.left_out["nobody's"] += 1
            elif (events.ids is not None and mark is None) or own >= self.ticks.count:
                self.left_out["unreadable"] += 1
            else:
                self._admit(place, person or "", mark, own, tick)

    def take_counts(self, counts: Mapping[str, int], tick: int) -> None:
        """Take in what was counted elsewhere; only where the unit is one event."""
        assert self._people is None
        if tick >= self.ticks.count:
            self.left_out["late"] += sum(counts.values())
            return
        pending = self._pending.setdefault(tick, Tally())
        for key, count in counts.items():
            place = self._place(key)
            if place is None:
                self.left_out["unlisted"] += count
            else:
                pending[place] += count

    def close(self, tick: int) -> NDArray[np.int64]:
        """The counts of a tick, over all keys; nothing counts in it afterwards."""
        counts = np.zeros(len(self.keys), dtype=np.int64)
        for place, count in self._pending.pop(tick, Tally[int]()).items():
            counts[place] = count
        if self._people is not None:
            self._people.forget(tick + 1)
        remembered = self.rules.duplicates.remembered
        if remembered is not None:
            old = tick + 1 - remembered
            self._seen = {mark: seen for mark, seen in self._seen.items() if seen >= old}
        return counts

    def _place(self, key: str | None) -> int | None:
        return None if key is None else self._places.get(key, self._other)

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

    def _admit(self, place: int, person: str, mark: str | None, own: int, tick: int) -> None:
        if own < tick:
            if isinstance(self.rules.late, LeaveOut):
                self.left_out["late"] += 1
                return
            own = tick
        seen = None
        if mark is not None:
            owner = "" if self._people is None else person
            seen = fingerprint(self.secret, "event", owner, mark)
            if seen in self._seen:
                self.left_out["repeated"] += 1
                return
        if self._people is not None and not self._people.admit(
            fingerprint(self.secret, "person", person), own
        ):
            self.left_out["over the limit"] += 1
            return
        if seen is not None:
            self._seen[seen] = max(own, tick)
        self._pending.setdefault(own, Tally())[place] += 1

    def state(self) -> dict[str, Any]:
        """All of it, for the encrypted state."""
        return {
            "secret": self.secret.hex(),
            "pending": {
                str(tick): [list(counts.keys()), list(counts.values())]
                for tick, counts in self._pending.items()
            },
            "seen": joined_tags(list(self._seen)),
            "seen_at": list(self._seen.values()),
            "people": None if self._people is None else self._people.state(),
            "left_out": dict(self.left_out),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Be where the state was."""
        self.secret = bytes.fromhex(state["secret"])
        self._pending = {
            int(tick): Tally(dict(zip(places, counts, strict=True)))
            for tick, (places, counts) in state["pending"].items()
        }
        self._seen = dict(zip(parted_tags(state["seen"]), state["seen_at"], strict=True))
        self.left_out = Tally(state["left_out"])
        if self._people is not None:
            self._people.restore(state["people"])
