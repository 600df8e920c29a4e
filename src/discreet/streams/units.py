"""Whose events are hidden in a stream: one event, a person, or what a person does in a window.

Two streams are neighbours if they differ by events of one unit, added or removed. What matters to
noise is how many events that can be in all, and how many at one tick; both are declared and
enforced where events come in, as a function of that person's own events only. A person without a
cap over the whole stream has no bound, and is refused.

Source: 000b:B36, B38, 004c:11-9; contract, "Units and neighbours". Proof: ``proofs/streams.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.core.unit import Person, PrivacyUnit, Row, TickWindow


@dataclass(frozen=True)
class EventLevel:
    """One event, whoever it belongs to. Somebody with many events is protected once for each.

    >>> EventLevel().privacy_unit
    Row()
    """

    @property
    def events(self) -> int:
        """How many events neighbours differ by at most."""
        return 1

    @property
    def per_tick(self) -> int:
        """How many of them can fall into one tick."""
        return 1

    @property
    def privacy_unit(self) -> PrivacyUnit:
        """The unit that guarantees carry."""
        return Row()


@dataclass(frozen=True)
class UserLevel:
    """All events of one person, at most ``max_events`` over the whole stream.

    ``max_per_tick`` limits them at one tick too; without it all may come at once. ``of`` names the
    people in words, as ``dp.Person(..., of="patients")`` does, where events call them otherwise.

    >>> UserLevel("user_id", max_events=20).per_tick
    20
    """

    id: str
    max_events: int | None = None
    max_per_tick: int | None = None
    of: str | None = None

    def __post_init__(self) -> None:
        """Refuse a person without a cap."""
        _check_caps(self.max_events, self.max_per_tick, "the whole stream")
        _ = self.privacy_unit

    @property
    def events(self) -> int:
        """How many events neighbours differ by at most."""
        assert self.max_events is not None
        return self.max_events

    @property
    def per_tick(self) -> int:
        """How many of them can fall into one tick."""
        return min(self.max_per_tick or self.events, self.events)

    @property
    def privacy_unit(self) -> PrivacyUnit:
        """The unit that guarantees carry."""
        return _person(self.id, self.events, self.max_per_tick, self.of)


@dataclass(frozen=True)
class ItemLevel:
    """All events of one item that comes and goes, of which ``max_flips`` changes count.

    For the number of items that are present: whatever :class:`PresentItems` feeds to a counter. An
    item adds +1 and -1 in turns, so it moves the sum of any run of ticks by one at most.

    >>> ItemLevel("badge", max_flips=20).per_tick
    1
    """

    id: str
    max_flips: int | None = None

    def __post_init__(self) -> None:
        """Refuse an item without a cap."""
        _check_caps(
            self.max_flips, None, "the whole stream", name="max_flips", of="changes of one item"
        )
        _ = self.privacy_unit

    @property
    def events(self) -> int:
        """How many changes neighbours differ by at most."""
        assert self.max_flips is not None
        return self.max_flips

    @property
    def per_tick(self) -> int:
        """How many of them can fall into one tick."""
        return 1

    @property
    def privacy_unit(self) -> PrivacyUnit:
        """The unit that guarantees carry: all events of an item."""
        return _person(self.id, self.events, 1)


@dataclass(frozen=True)
class UserWindow:
    """All events of one person in any ``ticks`` consecutive ticks, at most ``max_events``.

    >>> UserWindow("user_id", ticks=24, max_events=5).privacy_unit.ticks
    24
    """

    id: str
    ticks: int
    max_events: int | None = None
    max_per_tick: int | None = None

    def __post_init__(self) -> None:
        """Refuse windows that are not whole, and a person without a cap in them."""
        object.__setattr__(self, "ticks", count("ticks", self.ticks))
        _check_caps(self.max_events, self.max_per_tick, f"any {self.ticks} consecutive ticks")
        _ = self.privacy_unit

    @property
    def events(self) -> int:
        """How many events neighbours differ by at most."""
        assert self.max_events is not None
        return min(self.max_events, self.ticks * (self.max_per_tick or self.max_events))

    @property
    def per_tick(self) -> int:
        """How many of them can fall into one tick."""
        return min(self.max_per_tick or self.events, self.events)

    @property
    def privacy_unit(self) -> TickWindow:
        """The unit that guarantees carry."""
        person = _person(self.id, self.events, self.max_per_tick)
        return TickWindow(person, self.ticks)


@dataclass(frozen=True)
class WEvent:
    """w-event privacy: up to ``max_per_tick`` events at each of some w consecutive ticks.

    Streams are neighbours if all ticks at which they differ lie in one window of ``ticks`` ticks,
    and they differ by at most ``max_per_tick`` events at each.

    >>> WEvent(ticks=10, max_per_tick=1).events
    10
    """

    ticks: int
    max_per_tick: int

    def __post_init__(self) -> None:
        """Refuse windows and limits that are not whole."""
        object.__setattr__(self, "ticks", count("ticks", self.ticks))
        object.__setattr__(self, "max_per_tick", count("max_per_tick", self.max_per_tick))

    @property
    def events(self) -> int:
        """How many events neighbours differ by at most."""
        return self.ticks * self.max_per_tick

    @property
    def per_tick(self) -> int:
        """How many of them can fall into one tick."""
        return self.max_per_tick

    @property
    def privacy_unit(self) -> TickWindow:
        """The unit that guarantees carry."""
        return TickWindow(Row(), self.ticks)


StreamUnit: TypeAlias = EventLevel | UserLevel | ItemLevel | UserWindow | WEvent
"""Whose events neighbouring streams differ by."""


def require_unit(unit: object) -> StreamUnit:
    """``unit`` if it is one for streams; nothing is assumed about whose events they are."""
    if not isinstance(unit, EventLevel | UserLevel | ItemLevel | UserWindow | WEvent):
        raise InvalidParameter(
            code="not_a_stream_unit",
            expectation="EventLevel(), UserLevel(...), ItemLevel(...), UserWindow(...) or "
            "WEvent(...)",
            received=type(unit).__name__,
            remedy='Write unit=UserLevel("user_id", max_events=20), with a public cap.',
        )
    return unit


def _check_caps(
    max_events: object,
    max_per_tick: object,
    over: str,
    *,
    name: str = "max_events",
    of: str = "events of one person",
) -> None:
    if max_events is None:
        raise InvalidParameter(
            code="user_without_cap",
            expectation=f"{name}, the most {of} that count over {over}",
            remedy=f"Declare a public cap; {of} beyond it are left out.",
        )
    count(name, max_events)
    if max_per_tick is not None:
        count("max_per_tick", max_per_tick)


def _person(name: str, events: int, per_tick: int | None, of: str | None = None) -> Person:
    return Person(name, max_rows=events, max_rows_per_group=per_tick, of=of)
