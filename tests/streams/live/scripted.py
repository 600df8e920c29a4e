"""A source and a log in memory, and streams made of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from discreet.core.guarantee import PureDP
from discreet.ledger.key import OwnerKey
from discreet.noise.randomness import SYSTEM, Source
from discreet.streams.live.clock import Clock, ReplayClock
from discreet.streams.live.events import EventFields, Events
from discreet.streams.live.intake import Intake
from discreet.streams.live.limits import limit_of
from discreet.streams.live.listed_keys import KeysByList
from discreet.streams.live.live_stream import LiveStream, Speaking
from discreet.streams.live.patience import Patience
from discreet.streams.live.rules import EventRules
from discreet.streams.live.sealed_state import StateCipher
from discreet.streams.live.state_file import StateFile, StreamStore
from discreet.streams.live.ticks import Ticks
from discreet.streams.resume import from_state
from discreet.streams.sources.source import Offset, away
from discreet.streams.tree import BinaryTree
from discreet.streams.units import EventLevel, StreamUnit

START = datetime(2027, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
KEYS = ("A", "B", "C")
KEY = OwnerKey(bytes(range(32)))


def ticks(count: int = 8, **more: Any) -> Ticks:
    return Ticks(start=START, length=MINUTE, count=count, **more)


def event(key: str = "A", *, minute: float = 0, **more: Any) -> dict[str, Any]:
    return {"key": key, "at": START.timestamp() + 60 * minute, **more}


class ScriptedSource:
    """Records in a list; what the list holds has arrived. It can be made to go away."""

    def __init__(self, fields: EventFields, records: Sequence[Any] = ()) -> None:
        self.fields = fields
        self.records = list(records)
        self.place = 0
        self.failures = 0
        self.told: list[int] = []
        self.closed = False

    def begin(self, offset: Offset | None) -> None:
        self.place = 0 if offset is None else int(offset["place"])

    def find_end_offset(self) -> Offset:
        if self.failures:
            self.failures -= 1
            raise away(what="a list")
        return {"place": len(self.records)}

    def read_events_until(self, cut: Offset) -> Iterator[Events]:
        while self.place < cut["place"]:
            batch = self.records[self.place : min(self.place + 7, cut["place"])]
            self.place += len(batch)
            yield self.fields.events(batch)

    @property
    def offset(self) -> Offset:
        return {"place": self.place}

    def committed(self, offset: Offset) -> None:
        self.told.append(int(offset["place"]))

    def close(self) -> None:
        self.closed = True


class NotedTicks:
    """Ticks in a list."""

    def __init__(self) -> None:
        self.noted: list[int] = []

    def note(self, tick: int) -> None:
        self.noted.append(tick)


def live(
    source: Any,
    store: StreamStore,
    log: NotedTicks,
    *,
    unit: StreamUnit | None = None,
    rules: EventRules | None = None,
    clock: Clock | None = None,
    count: int = 8,
    lateness: timedelta = timedelta(0),
    patience: Patience | None = None,
) -> LiveStream:
    """A stream that nobody pays for; it is not begun yet."""
    unit = EventLevel() if unit is None else unit
    clock_of = ticks(count, lateness=lateness)
    rules = rules or EventRules()
    intake = Intake(
        clock_of,
        KeysByList(KEYS, rules.unlisted),
        rules,
        limit_of(unit, source.fields),
        SYSTEM.bytes(32),
    )
    quick = Patience(every=timedelta(0), most=timedelta(seconds=5))
    return LiveStream(
        Speaking("a stream", clock_of, KEYS, 0.95, patience or quick),
        intake,
        source,
        store=store,
        log=log,
        clock=clock or ReplayClock(),
        finish=lambda: None,
    )


def tree(
    count: int = 8,
    *,
    unit: StreamUnit | None = None,
    epsilon: float = 1e6,
    randomness: Source = SYSTEM,
) -> BinaryTree:
    """By default with so little noise that every estimate is the count itself."""
    return BinaryTree(
        horizon=count,
        spend=PureDP(epsilon=epsilon),
        unit=EventLevel() if unit is None else unit,
        keys=len(KEYS),
        randomness=randomness,
    )


def started(source: Any, store: StreamStore, log: NotedTicks, **more: Any) -> LiveStream:
    """A stream that was begun, with an exact counter."""
    stream = live(source, store, log, **more)
    stream.begin(tree(stream.ticks.count, unit=more.get("unit")).open(), 1)
    return stream


def resumed(
    source: Any, store: StreamStore, log: NotedTicks, *, speaker: int, **more: Any
) -> LiveStream:
    """The same in another process."""
    stream = live(source, store, log, **more)
    stream.go_on(from_state, speaker, len(log.noted))
    return stream


def state_file(folder: Path) -> StateFile:
    return StateFile(folder / "state", "a stream", StateCipher(KEY, "a stream"))


def totals(stream: LiveStream) -> list[dict[str, float]]:
    """What each tick tells, to the end."""
    return [dict(tick.values) for tick in stream]
