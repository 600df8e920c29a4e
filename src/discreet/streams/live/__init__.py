"""Streams that go on: public ticks, what is done with each event, and the state that lasts.

Importing this package loads nothing else; every public name is loaded on first use.
"""

from typing import TYPE_CHECKING

from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.streams.live.clock import ManualClock, ReplayClock, SystemClock
    from discreet.streams.live.events import EventFields, Events
    from discreet.streams.live.found_keys import FoundKeys
    from discreet.streams.live.live_stream import LiveStream
    from discreet.streams.live.pan_private import pan_private
    from discreet.streams.live.patience import Patience
    from discreet.streams.live.published import PublishedTicks
    from discreet.streams.live.rules import CountAs, CountWhenSeen, Duplicates, EventRules, LeaveOut
    from discreet.streams.live.series import QuantileSeries
    from discreet.streams.live.tick import Tick
    from discreet.streams.live.ticks import Ticks

__all__ = [
    "CountAs",
    "CountWhenSeen",
    "Duplicates",
    "EventFields",
    "EventRules",
    "Events",
    "FoundKeys",
    "LeaveOut",
    "LiveStream",
    "ManualClock",
    "Patience",
    "PublishedTicks",
    "QuantileSeries",
    "ReplayClock",
    "SystemClock",
    "Tick",
    "Ticks",
    "pan_private",
]

_NAMES = {
    "clock": (
        "ManualClock",
        "ReplayClock",
        "SystemClock",
    ),
    "events": (
        "Events",
        "EventFields",
    ),
    "found_keys": ("FoundKeys",),
    "live_stream": ("LiveStream",),
    "pan_private": ("pan_private",),
    "patience": ("Patience",),
    "published": ("PublishedTicks",),
    "rules": (
        "CountAs",
        "CountWhenSeen",
        "Duplicates",
        "EventRules",
        "LeaveOut",
    ),
    "series": ("QuantileSeries",),
    "tick": ("Tick",),
    "ticks": ("Ticks",),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    __getattr__ = loader(__name__, _NAMES)
