"""Which tick an event belongs to follows from the clock and its own arrival, not from our work.

The clock is set by hand. Reading is slow: each event of Ann, who floods the stream, takes half a
minute, in which others arrive on their schedule. Whether she does must not move what others count
at any tick.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import DiscreetError, LedgerError
from discreet.streams.live.clock import ManualClock, ReplayClock
from discreet.streams.live.closings import Closings, _watch
from discreet.streams.live.events import EventFields, Events
from discreet.streams.live.listed_keys import KeysByList
from discreet.streams.live.live_stream import LiveStream
from discreet.streams.live.patience import Patience
from discreet.streams.live.state_file import OutputsInMemory, StateInMemory
from discreet.streams.live.ticks import microseconds
from discreet.streams.sources.source import Offset, away
from discreet.streams.units import UserLevel
from tests.streams.live.scripted import (
    MINUTE,
    START,
    NotedTicks,
    ScriptedSource,
    event,
    resumed,
    started,
    state_file,
    ticks,
)

FIELDS = EventFields(key="key", person="who")
UNIT = UserLevel("who", max_events=1)
HALF = timedelta(seconds=30)


class SlowSource(ScriptedSource):
    """Others come at 15 and 45 seconds of each minute; to read one of Ann's takes half a one."""

    clock: ManualClock
    noted: Callable[[], None]

    def pass_time(self, by: timedelta) -> None:
        for _ in range(by // HALF):
            self.clock.advance(HALF / 2)
            self.records.append(event("B", who=f"p{len(self.records)}"))
            self.clock.advance(HALF / 2)
            self.noted()

    def read_events_until(self, cut: Offset) -> Iterator[Events]:
        while self.place < cut["place"]:
            record = self.records[self.place]
            self.place += 1
            if record["who"] == "ann":
                self.pass_time(HALF)
            yield self.fields.events([record])


class CutWhenReady(Closings):
    """The twin: the end of the source is asked for when there is time for it."""

    def watch(self) -> None:
        pass

    def of(self, tick: int) -> Offset:
        return self._source.find_end_offset()

    def note(self) -> float | None:
        return None


def others(
    flood: int, monkeypatch: pytest.MonkeyPatch, kind: type[Closings] = Closings
) -> list[float]:
    """What the others' key counts after each tick, where Ann sends so many events at first."""
    monkeypatch.setattr("discreet.streams.live.live_stream.Closings", kind)
    clock = ManualClock(microseconds(START))
    source = SlowSource(FIELDS, [event("A", who="ann") for _ in range(flood)])
    stream = started(source, StateInMemory(), NotedTicks(), unit=UNIT, clock=clock)
    source.clock, source.noted = clock, lambda: wait_until_noted(stream, clock)
    if kind is CutWhenReady:
        source.noted = lambda: None
    found = []
    for number in range(8):
        while clock.now() < stream.ticks.closes(number):
            source.pass_time(HALF)
        tick = stream.advance(most=0)
        assert tick is not None
        found.append(tick["B"])
    stream.pause()
    return found


def wait_until_noted(stream: LiveStream, clock: ManualClock) -> None:
    """Give the watch the moment that it has on a clock of its own."""
    end = time.monotonic() + 20
    while stream._closings._next < stream.ticks.open_at(clock.now()):
        assert time.monotonic() < end
        time.sleep(0.002)


def test_a_flood_delays_outputs_and_moves_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    assert others(0, monkeypatch) == [2, 4, 6, 8, 10, 12, 14, 16]
    assert others(9, monkeypatch) == [2, 4, 6, 8, 10, 12, 14, 16]


def test_a_twin_that_cuts_when_it_is_ready_lets_a_flood_move_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert others(0, monkeypatch, CutWhenReady) == [2, 4, 6, 8, 10, 12, 14, 16]
    assert others(9, monkeypatch, CutWhenReady) != [2, 4, 6, 8, 10, 12, 14, 16]


def test_a_place_that_was_found_is_read_again_after_a_crash(tmp_path: Path) -> None:
    clock, log = ManualClock(microseconds(START)), NotedTicks()
    source = ScriptedSource(EventFields(key="key"), [event("A")])
    stream = started(source, state_file(tmp_path), log, clock=clock)
    clock.advance(MINUTE)
    next(stream)
    source.records.append(event("B"))
    clock.advance(MINUTE)
    wait_until_noted(stream, clock)
    stream._closings.stop()  # the process ends while tick 1 is being counted
    source.records += [event("C"), event("C")]
    clock.advance(MINUTE)
    later = ScriptedSource(source.fields, source.records)
    again = resumed(later, state_file(tmp_path), log, speaker=2, clock=clock)
    assert [dict(next(again).values) for _ in range(2)] == [
        {"A": 1, "B": 1, "C": 0},
        {"A": 1, "B": 1, "C": 2},
    ]
    assert again._store.cuts() == []


def test_who_was_replaced_writes_neither_a_place_nor_a_state(tmp_path: Path) -> None:
    log, first = NotedTicks(), state_file(tmp_path)
    started(ScriptedSource(EventFields(key="key")), first, log)
    resumed(ScriptedSource(EventFields(key="key")), state_file(tmp_path), log, speaker=2)
    with pytest.raises(LedgerError, match="resumed elsewhere"):
        first.keep_cut(0, {"place": 1})
    with pytest.raises(LedgerError, match="resumed elsewhere"):
        first.commit({}, None)


def test_ticks_that_nobody_watched_share_the_first_place_that_is_found() -> None:
    clock = ManualClock(microseconds(START))
    kept: list[int] = []
    source = ScriptedSource(EventFields(key="key"), [event()])
    cuts = Closings(source, ticks(), clock, lambda tick, _: kept.append(tick))
    clock.advance(5 * MINUTE)
    assert cuts.of(0) == {"place": 1}
    source.records.append(event())
    clock.advance(MINUTE)
    assert [cuts.of(n)["place"] for n in (1, 4, 5)] == [1, 1, 2]
    assert kept == [4, 5]


def test_a_source_that_is_away_at_a_closing_is_asked_again() -> None:
    clock = ManualClock(microseconds(START))
    source = ScriptedSource(EventFields(key="key"))
    source.failures = 1
    cuts = Closings(source, ticks(), clock, lambda tick, place: None)
    cuts.watch()
    clock.advance(MINUTE)
    end = time.monotonic() + 20
    while cuts._next == 0:
        assert time.monotonic() < end
        time.sleep(0.002)
    cuts.stop()
    assert cuts.of(0) == {"place": 0}
    source.failures = 1
    clock.advance(MINUTE)
    with pytest.raises(type(away(what=""))):
        cuts.of(1)


def test_a_watch_outlives_what_fails_and_ends_where_another_speaks() -> None:
    clock = ManualClock(microseconds(START) + 10**9)
    source, tries = ScriptedSource(EventFields(key="key")), []

    def failing(tick: int, place: Offset) -> None:
        tries.append(tick)
        if len(tries) == 1:
            raise OSError

    cuts = Closings(source, ticks(), clock, failing)
    _watch(weakref.ref(cuts), cuts._stopped)  # returns when all ticks are noted
    assert tries == [7, 7]
    tries.clear()

    def taken(tick: int, place: Offset) -> None:
        tries.append(tick)
        code = "ledger_unwritable" if len(tries) == 1 else "conversation_taken"  # a disk was full
        raise LedgerError(code=code, expectation="", remedy="")

    cuts = Closings(source, ticks(), clock, taken)
    _watch(weakref.ref(cuts), cuts._stopped)
    assert tries == [7, 7]


def test_ticks_open_and_close_by_the_clock() -> None:
    clocked = ticks(lateness=HALF)
    begin = microseconds(START)
    moments = [begin - 10**12, begin, clocked.closes(0) - 1, clocked.closes(0), clocked.closes(7)]
    assert [clocked.open_at(now) for now in moments] == [0, 0, 0, 1, 8]
    assert clocked.open_at(1 << 62) == 8


def test_a_replay_is_watched_by_nobody_and_a_seized_stream_keeps_no_place() -> None:
    source: Any = ScriptedSource(EventFields(key="key"), [event()])
    cuts = Closings(source, ticks(), ReplayClock(), lambda tick, place: None)
    cuts.watch()
    assert cuts._next == 0
    store = OutputsInMemory()
    store.keep_cut(0, {"place": 1})
    assert store.cuts() == []


@pytest.mark.parametrize("failure", [away(what="a list"), OSError(), KeyboardInterrupt()])
def test_a_seized_stream_holds_no_counts_however_reading_ends(failure: BaseException) -> None:
    class Broken(ScriptedSource):
        def read_events_until(self, cut: Offset) -> Iterator[Events]:
            yield from super().read_events_until(cut)
            raise failure

    never = Patience(every=timedelta(0), most=timedelta(0))
    source = Broken(EventFields(key="key"), [event(), event()])
    stream = started(source, OutputsInMemory(), NotedTicks(), patience=never)
    with pytest.raises((DiscreetError, KeyboardInterrupt)):
        stream.advance(most=0)
    keys = stream._intake.keys
    assert isinstance(keys, KeysByList)
    assert keys._pending == {}
    assert source.place == 2


def test_work_rests_while_a_closing_is_near_until_it_is_noted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside busy work the watch was late by 5 to 17 ms, and now and then by 700; else by 0.2."""
    monkeypatch.setattr("discreet.streams.live.closings._NEAR", 5.0)
    clocked = ticks()
    clock = ManualClock(clocked.closes(0) - 1_000_000)
    cuts = Closings(
        ScriptedSource(EventFields(key="key")), clocked, clock, lambda tick, place: None
    )
    begun = time.monotonic()
    cuts.give_way()  # nobody watches
    assert time.monotonic() - begun < 1
    cuts.watch()
    later = threading.Timer(0.2, clock.set, (clocked.closes(0),))
    later.start()
    cuts.give_way()
    assert cuts._next == 1
    begun = time.monotonic()
    cuts.give_way()  # the next is far away
    assert time.monotonic() - begun < 1
    cuts.stop()


def test_reading_gives_way_between_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[int] = []

    class Counted(Closings):
        def give_way(self) -> None:
            ways.append(self._next)

    monkeypatch.setattr("discreet.streams.live.live_stream.Closings", Counted)
    source = ScriptedSource(EventFields(key="key"), [event()] * 20)
    stream = started(source, StateInMemory(), NotedTicks())
    next(stream)
    assert len(ways) == 3
