"""A stream speaks at every tick, once; what it wrote is what it goes on from."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import DiscreetError, EngineFailed, Exhausted, LedgerError, Mismatch
from discreet.ledger.key import OwnerKey
from discreet.streams.live.clock import ManualClock, SystemClock
from discreet.streams.live.events import EventFields
from discreet.streams.live.patience import Patience
from discreet.streams.live.sealed_state import StateCipher
from discreet.streams.live.state_file import StateFile, StateInMemory
from discreet.streams.live.ticks import microseconds
from discreet.streams.sources.source import SourceAway
from discreet.streams.units import UserLevel
from tests.streams.live.scripted import (
    KEYS,
    MINUTE,
    START,
    NotedTicks,
    ScriptedSource,
    event,
    resumed,
    started,
    state_file,
    totals,
    tree,
)

FIELDS = EventFields(key="key", time="at")
EVENTS = [event("ABC"[n % 3], minute=n / 4) for n in range(24)]


def source(**more: Any) -> ScriptedSource:
    return ScriptedSource(FIELDS, more.get("records", EVENTS))


def test_each_tick_tells_of_every_key_empty_or_not(tmp_path: Path) -> None:
    log = NotedTicks()
    found = list(started(source(), state_file(tmp_path), log))
    assert [tick.number for tick in found] == log.noted == list(range(8))
    assert all(tuple(tick) == KEYS for tick in found)
    assert sum(found[-1].values.values()) == 24
    assert found[5].values == found[7].values  # nothing came after minute six
    assert found[0].begins == START
    assert found[0].ends == START + MINUTE


def test_async_gives_the_same_ticks(tmp_path: Path) -> None:
    async def listen() -> list[dict[str, float]]:
        stream = started(source(), state_file(tmp_path), NotedTicks())
        return [dict(tick.values) async for tick in stream]

    (tmp_path / "other").mkdir()
    plain = totals(started(source(), state_file(tmp_path / "other"), NotedTicks()))
    assert asyncio.run(listen()) == plain


def test_async_leaves_other_tasks_their_turn(tmp_path: Path) -> None:
    clock = ManualClock(microseconds(START))

    async def both() -> int:
        stream = started(source(), state_file(tmp_path), NotedTicks(), clock=clock)
        waiting = asyncio.create_task(anext(stream))
        await asyncio.sleep(0.05)
        assert not waiting.done()
        clock.advance(MINUTE)
        return (await waiting).number

    assert asyncio.run(both()) == 0


def test_a_tick_waits_for_its_lateness_and_no_longer(tmp_path: Path) -> None:
    clock = ManualClock(microseconds(START))
    stream = started(
        source(), state_file(tmp_path), NotedTicks(), clock=clock, lateness=timedelta(seconds=30)
    )
    clock.advance(timedelta(seconds=89))
    assert stream.advance(most=0) is None
    clock.advance(timedelta(seconds=1))
    tick = stream.advance(most=0)
    assert tick is not None
    assert tick.number == 0
    assert stream.advance(most=0) is None


def test_after_a_pause_missed_ticks_follow_one_by_one(tmp_path: Path) -> None:
    clock = ManualClock(microseconds(START))
    log = NotedTicks()
    stream = started(source(), state_file(tmp_path), log, clock=clock)
    clock.advance(5 * MINUTE)
    assert [next(stream).number for _ in range(5)] == [0, 1, 2, 3, 4]
    clock.set(0)  # going back changes nothing
    assert stream.advance(most=0) is None


def test_what_was_written_is_told_again_and_never_drawn_again(tmp_path: Path) -> None:
    log, store = NotedTicks(), state_file(tmp_path)
    first = ScriptedSource(FIELDS, EVENTS)
    stream = started(first, store, log)
    told = [next(stream) for _ in range(3)]
    again = resumed(source(), state_file(tmp_path), log, speaker=2)
    assert list(again.released()) == told
    assert totals(again)[-1] == {"A": 8, "B": 8, "C": 8}


def test_noisy_estimates_are_the_same_when_read_again(tmp_path: Path) -> None:
    log = NotedTicks()
    stream = started(source(), state_file(tmp_path), log)
    noisy = tree(epsilon=0.1).open()
    stream._counting = noisy
    told = [next(stream).values for _ in range(5)]
    again = resumed(source(), state_file(tmp_path), log, speaker=2)
    assert [tick.values for tick in again.released()] == told
    assert again._counter.state() == noisy.state()


def test_an_output_that_was_written_and_not_seen_comes_first(tmp_path: Path) -> None:
    log = NotedTicks()
    stream = started(source(), state_file(tmp_path), log)
    next(stream)
    seen = next(stream)
    log.noted.pop()  # as if the process had ended between the state and the ledger
    again = resumed(source(), state_file(tmp_path), log, speaker=2)
    assert log.noted == [0, 1]
    assert next(again) == seen
    assert next(again).number == 2


def test_an_older_copy_of_the_state_is_refused(tmp_path: Path) -> None:
    log = NotedTicks()
    stream = started(source(), state_file(tmp_path), log)
    next(stream)
    copy = (tmp_path / "state").read_bytes()
    next(stream)
    (tmp_path / "state").write_bytes(copy)
    with pytest.raises(LedgerError, match="stream_state_damaged"):
        resumed(source(), state_file(tmp_path), log, speaker=2)


@pytest.mark.parametrize("length", [0, 100, 512, 4000])
def test_a_state_file_that_was_cut_short_is_refused(tmp_path: Path, length: int) -> None:
    log = NotedTicks()
    stream = started(source(), state_file(tmp_path), log)
    next(stream)
    path = tmp_path / "state"
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(LedgerError, match="stream_state_damaged"):
        resumed(source(), state_file(tmp_path), log, speaker=2)


def test_a_missing_state_and_one_of_another_stream_are_refused(tmp_path: Path) -> None:
    log = NotedTicks()
    with pytest.raises(LedgerError, match="stream_state_damaged"):
        resumed(source(), state_file(tmp_path), log, speaker=2)
    next(started(source(), state_file(tmp_path), log))
    other = StateFile(tmp_path / "state", "another", StateCipher(OwnerKey(bytes(32)), "another"))
    with pytest.raises(LedgerError, match="stream_state_damaged"):
        resumed(source(), other, log, speaker=2)
    wrong = StateFile(tmp_path / "state", "a stream", StateCipher(OwnerKey(bytes(32)), "a stream"))
    with pytest.raises(LedgerError, match="stream_state_damaged"):
        resumed(source(), wrong, log, speaker=2)


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    cipher = StateCipher(OwnerKey(bytes(32)), "a stream")
    sealed = cipher.sealed("here", {"a": 1})
    for place in (0, 40, len(sealed) - 1):
        changed = bytearray(sealed)
        changed[place] ^= 1
        with pytest.raises(LedgerError, match="stream_state_damaged"):
            cipher.opened("here", bytes(changed))
    with pytest.raises(LedgerError, match="stream_state_damaged"):
        cipher.opened("there", sealed)


def test_the_file_shows_nothing_without_the_key(tmp_path: Path) -> None:
    fields = EventFields(key="key", person="who", id="id")
    named = [event("A", who="annabel", id="visit-77") for _ in range(3)]
    stream = started(
        ScriptedSource(fields, named),
        state_file(tmp_path),
        NotedTicks(),
        unit=UserLevel("who", max_events=2),
    )
    next(stream)
    content = (tmp_path / "state").read_bytes()
    for text in (b"annabel", b"visit-77", b"counter", b"pending", b"place"):
        assert text not in content
    assert (tmp_path / "state").stat().st_mode & 0o077 == 0


def test_equal_states_look_different_and_have_rounded_lengths() -> None:
    cipher = StateCipher(OwnerKey(bytes(32)), "a stream")
    first, second = cipher.sealed("here", {"a": 1}), cipher.sealed("here", {"a": 1})
    assert first != second
    assert len(first) == len(cipher.sealed("here", {"a": "x" * 900}))


def test_whoever_resumes_ends_the_earlier_speaker(tmp_path: Path) -> None:
    log = NotedTicks()
    old = started(source(), state_file(tmp_path), log)
    next(old)
    new = resumed(source(), state_file(tmp_path), log, speaker=2)
    with pytest.raises(LedgerError, match="conversation_taken"):
        next(old)
    assert log.noted == [0]
    assert next(new).number == 1
    with pytest.raises(LedgerError, match="conversation_taken"):
        resumed(source(), state_file(tmp_path), log, speaker=2)


def test_a_tick_that_could_not_be_written_is_not_seen(tmp_path: Path) -> None:
    log = NotedTicks()
    stream = started(source(), state_file(tmp_path), log)
    next(stream)
    holder = sqlite3.connect(tmp_path / "state", isolation_level=None)
    holder.execute("DROP TABLE ticks")
    holder.close()
    with pytest.raises(DiscreetError):
        next(stream)
    assert log.noted == [0]
    with pytest.raises(Exhausted, match="conversation_interrupted"):
        next(stream)


class FailingLog(NotedTicks):
    def note(self, tick: int) -> None:
        if tick == 1:
            raise OSError
        super().note(tick)


def test_a_tick_that_the_ledger_does_not_know_is_not_seen(tmp_path: Path) -> None:
    log = FailingLog()
    stream = started(source(), state_file(tmp_path), log)
    next(stream)
    with pytest.raises(EngineFailed, match="engine_failed"):
        next(stream)
    honest = NotedTicks()
    honest.noted = list(log.noted)
    again = resumed(source(), state_file(tmp_path), honest, speaker=2)
    assert next(again).number == 1


class Leaking(ScriptedSource):
    def read_events_until(self, cut: Any) -> Any:
        message = "annabel was here"
        raise RuntimeError(message)


def test_what_fails_while_events_are_read_tells_nothing(tmp_path: Path) -> None:
    stream = started(Leaking(FIELDS), state_file(tmp_path), NotedTicks())
    with pytest.raises(EngineFailed, match="engine_failed") as caught:
        next(stream)
    assert "annabel" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_source_that_goes_away_is_waited_for_and_nothing_is_lost(tmp_path: Path) -> None:
    away = source()
    stream = started(away, state_file(tmp_path), NotedTicks())
    away.failures = 3
    assert totals(stream)[-1] == {"A": 8, "B": 8, "C": 8}


def test_patience_ends_and_the_stream_goes_on_later(tmp_path: Path) -> None:
    away = source()
    stream = started(
        away,
        state_file(tmp_path),
        NotedTicks(),
        patience=Patience(every=timedelta(seconds=1), most=timedelta(0)),
    )
    away.failures = 1
    with pytest.raises(SourceAway, match="source_away"):
        next(stream)
    assert totals(stream)[-1] == {"A": 8, "B": 8, "C": 8}


def test_a_source_is_told_only_of_what_is_durable(tmp_path: Path) -> None:
    told = source()
    log = NotedTicks()
    stream = started(told, state_file(tmp_path), log)
    assert told.told == []
    next(stream)
    assert told.told == [24]


def test_paused_and_closed_streams_say_so(tmp_path: Path) -> None:
    watched = source()
    with started(watched, state_file(tmp_path), NotedTicks()) as stream:
        next(stream)
    assert watched.closed
    with pytest.raises(Exhausted, match="conversation_interrupted"):
        next(stream)


def test_threads_share_a_stream_and_each_tick_comes_once(tmp_path: Path) -> None:
    stream = started(source(), state_file(tmp_path), NotedTicks())
    found: list[int] = []

    def listen() -> None:
        found.extend(tick.number for tick in stream)

    threads = [threading.Thread(target=listen) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(8))


def test_a_state_in_memory_serves_its_process(tmp_path: Path) -> None:
    log, store = NotedTicks(), StateInMemory()
    stream = started(source(), store, log)
    told = [next(stream) for _ in range(2)]
    assert list(stream.released()) == told


# The clock --------------------------------------------------------------------------------------


def test_a_clock_that_jumps_stops_the_stream_before_anything_is_spent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = START.timestamp() + 1
    monkeypatch.setattr("discreet.streams.live.clock.time.time", lambda: wall)
    monkeypatch.setattr("discreet.streams.live.clock.time.monotonic", lambda: 5.0)
    log = NotedTicks()
    clock = SystemClock(tolerance=timedelta(minutes=2))
    stream = started(source(), state_file(tmp_path), log, clock=clock)
    wall += 3600
    with pytest.raises(Mismatch, match="clock_jumped"):
        stream.advance(most=0)
    assert log.noted == []
    wall -= 3600
    assert stream.advance(most=0) is None


def test_a_clock_that_is_corrected_backwards_never_goes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wall = 1000.0
    monkeypatch.setattr("discreet.streams.live.clock.time.time", lambda: wall)
    monkeypatch.setattr("discreet.streams.live.clock.time.monotonic", lambda: 5.0)
    clock = SystemClock()
    before = clock.now()
    wall -= 10
    assert clock.now() == before


def test_the_systems_clock_waits() -> None:
    clock = SystemClock()
    now = clock.now()
    assert not clock.wait(now + 10**9, most=0.01)
    assert clock.wait(now + 10_000, most=5)
