"""Where the events of a live stream come from: what a source must be able to do.

A stream asks where its source ends when the public clock closes a tick, beside its other work, and
reads all that lies before that place, however much it is: a flood delays an output, and moves
nobody's event into another tick, as long as the source itself lets nobody wait for others. A
place is kept with the counts, so after a crash reading goes on at the events that are not counted.

Source: contract, "Spending" (counts, source offsets and noise commit together).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, TypeAlias

from discreet.core.errors import DiscreetError, InvalidData
from discreet.streams.live.events import EventFields, Events

Offset: TypeAlias = Mapping[str, Any]
"""A place in a source, as plain JSON."""


class EventSource(Protocol):
    """Events in an order of arrival, each at a place that can be gone back to.

    Contract: ``read_events_until`` hands out every event between the place where it stands and
    ``cut`` once, and stands behind an event as soon as it has handed it out. ``find_end_offset``
    may be called while it goes on in another thread. What cannot be reached raises
    :class:`SourceAway`, and can be tried again. A source whose places tell nothing about events has
    ``place_is_public``.
    """

    @property
    def fields(self) -> EventFields:
        """Which fields of its events say what."""

    def begin(self, offset: Offset | None) -> None:
        """Stand at a place that was kept; None: at the beginning that the source declares."""

    def find_end_offset(self) -> Offset:
        """Where the source ends now: behind all that arrived so far."""

    def read_events_until(self, cut: Offset) -> Iterator[Events]:
        """What lies between the present place and ``cut``."""

    @property
    def offset(self) -> Offset:
        """The present place, behind all that was read."""

    def committed(self, offset: Offset) -> None:
        """Be told that everything before a place is counted, durably."""

    def close(self) -> None:
        """Let go of files and connections."""


class SourceAway(DiscreetError, ConnectionError):
    """A source cannot be reached just now; nothing is lost, and it will be asked again."""


def away(*, what: str) -> SourceAway:
    """A source that does not answer; ``what`` is public."""
    return SourceAway(
        code="source_away",
        expectation="a source that answers",
        received=what,
        remedy="Nothing was lost or spent: counting goes on where it stopped once it is back, "
        "also after curator.resume(id).",
    )


def changed(*, what: str) -> InvalidData:
    """A source that is not what it was; ``what`` is public."""
    return InvalidData(
        code="source_changed",
        expectation="a source that only grows, so that the events already counted stay in it",
        received=what,
        remedy="Put it back as it was, and resume; or open a new stream, which is charged.",
    )
