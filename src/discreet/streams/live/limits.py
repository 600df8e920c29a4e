"""How many events of one person count: over the whole stream, or over any window of ticks.

Over the whole stream the first events of a person count, in the order in which that person's events
arrive. Over windows an event counts while fewer than ``cap`` earlier events of the same person,
counted or not, lie less than a window away. (Comparing with those that were *counted* would not do:
one event more at the start can then shift which ones count for ever after.) Both look at one
person's events only: how many of others count does not depend on a flood.

Where a person's events in one window are taken away, at most ``cap`` counts go in it, and at most
``cap`` others come instead on each side of it on which events can follow: after it, and before it
too where events tell their own time. So ``cap`` is what the unit allows, parted by so many. A limit
at each tick that keeps the window's by itself needs none of this.

What is kept of a person is a keyed fingerprint and numbers.

Source: contract, "Bounding inside the engine" and "Spending" (streams). Proof:
``proofs/live-streams.md``.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.streams.live.events import EventFields
from discreet.streams.units import (
    EventLevel,
    ItemLevel,
    StreamUnit,
    UserLevel,
    UserWindow,
    WEvent,
)

_TAG = 16


@dataclass(frozen=True)
class PersonLimit:
    """``cap`` events of a person in all, or within ``window`` ticks; ``per_tick`` in one tick."""

    cap: int
    per_tick: int
    window: int | None = None


def limit_of(unit: StreamUnit, fields: EventFields) -> PersonLimit | None:
    """The limit that makes neighbouring streams differ by what the unit says, and no more.

    None where the unit is one event. Refused where fields are missing, or would carry differences
    out of a window.
    """
    if isinstance(unit, EventLevel):
        return None
    if isinstance(unit, ItemLevel):
        raise InvalidParameter(
            code="not_a_stream_unit",
            expectation="a unit of events: a live stream counts what arrives, not what is present",
            received="ItemLevel",
            remedy="Feed a counter from PresentItems, or protect UserLevel(...).",
        )
    if isinstance(unit, UserWindow | WEvent) and fields.id is not None:
        raise InvalidParameter(
            code="stream_window_ids",
            expectation="no identifiers where a window is protected: what is left out as a copy "
            "in a later window would tell of an earlier one",
            received=fields.id,
            remedy="Leave id= out, or protect UserLevel(...) or EventLevel().",
        )
    if isinstance(unit, WEvent):
        return None
    if fields.person != unit.id:
        raise InvalidParameter(
            code="stream_unit_field",
            expectation=f"events whose person is the field {unit.id!r} of the unit",
            received=fields.person,
            remedy=f'Write EventFields(person="{unit.id}").',
        )
    if isinstance(unit, UserLevel):
        return PersonLimit(unit.events, unit.per_tick)
    if unit.max_per_tick is not None and unit.ticks * unit.max_per_tick <= unit.events:
        return PersonLimit(unit.max_per_tick, unit.max_per_tick, 1)  # ticks alone keep the window
    parts = 1 if unit.ticks == 1 else 2 if fields.time is None else 3
    if unit.events < parts:
        raise InvalidParameter(
            code="stream_window_cap",
            expectation=f"max_events of {parts} or more for a window: what one window leaves out "
            "may come in beside it",
            received=unit.events,
            remedy=f"Write UserWindow({unit.id!r}, ticks={unit.ticks}, max_events={parts}).",
        )
    return PersonLimit(unit.events // parts, unit.per_tick, unit.ticks)


@dataclass
class PersonCounts:
    """What each person sent, as far as it decides about later events of the same person.

    Without a window: in all by person, and at ticks that are not closed. With one: all that came,
    counted or not, by person and tick, up to the cap.
    """

    limit: PersonLimit
    total: dict[bytes, int] = field(default_factory=dict)
    at: dict[bytes, dict[int, int]] = field(default_factory=dict)

    def admit(self, person: bytes, tick: int) -> bool:
        """Whether one more event of a person counts in a tick."""
        if self.limit.window is not None:
            return self._within_window(person, tick, self.limit.window)
        if self.total.get(person, 0) >= self.limit.cap:
            return False
        if self.limit.per_tick < self.limit.cap:
            ticks = self.at.setdefault(person, {})
            if ticks.get(tick, 0) >= self.limit.per_tick:
                return False
            ticks[tick] = ticks.get(tick, 0) + 1
        self.total[person] = self.total.get(person, 0) + 1
        return True

    def _within_window(self, person: bytes, tick: int, window: int) -> bool:
        ticks = self.at.setdefault(person, {})
        near = sum(count for other, count in ticks.items() if abs(other - tick) < window)
        here = ticks.get(tick, 0)
        ticks[tick] = min(here + 1, max(self.limit.cap, self.limit.per_tick))
        return near < self.limit.cap and here < self.limit.per_tick

    def forget(self, before: int) -> None:
        """Drop what no event of tick ``before`` or later depends on."""
        last = before if self.limit.window is None else before - self.limit.window + 1
        if not self.at or (self.limit.window is not None and before % self.limit.window):
            return  # with windows a look at everybody once in a window is enough
        kept = {
            person: {tick: count for tick, count in ticks.items() if tick >= last}
            for person, ticks in self.at.items()
        }
        self.at = {person: ticks for person, ticks in kept.items() if ticks}

    def state(self) -> dict[str, Any]:
        """For the encrypted state."""
        return {
            "people": joined_tags(list(self.total)),
            "used": list(self.total.values()),
            "near": joined_tags(list(self.at)),
            "at": [[list(ticks.keys()), list(ticks.values())] for ticks in self.at.values()],
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Be where the state was."""
        self.total = dict(zip(parted_tags(state["people"]), state["used"], strict=True))
        self.at = {
            person: dict(zip(ticks, counts, strict=True))
            for person, (ticks, counts) in zip(parted_tags(state["near"]), state["at"], strict=True)
        }


def fingerprint(secret: bytes, *parts: str) -> bytes:
    """A short keyed fingerprint of texts, none of which runs into the next.

    >>> fingerprint(b"k", "a", "bc") == fingerprint(b"k", "ab", "c")
    False
    """
    mark = blake2b(digest_size=_TAG, key=secret)
    for part in parts:
        text = part.encode("utf-8", "surrogatepass")
        mark.update(len(text).to_bytes(8, "big"))
        mark.update(text)
    return mark.digest()


def joined_tags(tags: list[bytes]) -> str:
    """Fingerprints as one text."""
    return base64.b64encode(b"".join(tags)).decode("ascii")


def parted_tags(text: str) -> list[bytes]:
    """The fingerprints of a text."""
    whole = base64.b64decode(text)
    return [whole[place : place + _TAG] for place in range(0, len(whole), _TAG)]
