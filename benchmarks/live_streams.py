"""How fast a live stream takes events in, and what a tick costs; run by itself, without peers.

Times are processor seconds of one core; where a disk is waited for, that is said.
"""

from __future__ import annotations

import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import discreet as dp
from discreet.ledger.key import OwnerKey
from discreet.streams import BinaryTree, EventLevel, UserLevel
from discreet.streams.live import EventFields, EventRules, Events, LeaveOut, ReplayClock, Ticks
from discreet.streams.live.intake import Intake
from discreet.streams.live.limits import limit_of
from discreet.streams.live.listed_keys import KeysByList
from discreet.streams.live.sealed_state import StateCipher
from discreet.streams.live.state_file import StateFile
from discreet.streams.sources import JSONLines

EVENTS = 10**6
KEYS = tuple(f"k{number}" for number in range(100))
TICKS = Ticks(start=datetime(2027, 1, 1, tzinfo=UTC), length=timedelta(minutes=1), count=100)
PERSON = EventFields(key="ward", person="who")


def bench(name: str, number: float, unit: str) -> None:
    """One figure on a line."""
    print(f"BENCH live_streams.{name} {number:.4g} {unit}")


def intake_of(people: bool) -> Intake:  # noqa: FBT001
    """An intake with or without a limit on people."""
    limit = limit_of(UserLevel("who", max_events=3), PERSON) if people else None
    return Intake(TICKS, KeysByList(KEYS, LeaveOut()), EventRules(), limit, b"secret")


def main(folder: Path) -> None:
    """All figures."""
    keys = [KEYS[number % 100] for number in range(EVENTS)]
    plain, limited = intake_of(people=False), intake_of(people=True)
    start = time.process_time()
    plain.take(Events(keys), 0)
    bench("events", EVENTS / (time.process_time() - start), "events/s")
    people = [f"p{number}" for number in range(EVENTS)]
    start = time.process_time()
    limited.take(Events(keys, people), 0)
    bench("events_of_people", EVENTS / (time.process_time() - start), "events/s")

    store = StateFile(folder / "big", "s", StateCipher(OwnerKey(bytes(32)), "s"))
    store.begin({}, 1)
    start = time.process_time()
    store.commit({"intake": limited.state()}, None)
    bench("commit_of_a_million_people", time.process_time() - start, "s")
    bench("state_of_a_million_people", (folder / "big").stat().st_size / 1e6, "MB")

    lines = folder / "events.jsonl"
    with lines.open("w") as file:
        file.writelines(f'{{"ward":"{KEYS[n % 100]}","who":"p{n}"}}\n' for n in range(EVENTS))
    source = JSONLines(lines, EventFields(key="ward"))
    source.begin(None)
    start = time.process_time()
    for events in source.read_events_until(source.find_end_offset()):
        plain.take(events, 0)
    bench("json_lines", EVENTS / (time.process_time() - start), "events/s")

    lines.write_text("")
    with dp.Curator(
        unit=dp.Row(), budget=dp.PureDP(epsilon=1), ledger=folder / "ledger"
    ) as curator:
        stream = curator.stream(
            JSONLines(lines, EventFields(key="ward")),
            unit=EventLevel(),
            keys=KEYS,
            ticks=TICKS,
            mechanism=BinaryTree,
            spend=dp.PureDP(epsilon=1),
            state=folder / "state",
            clock=ReplayClock(),
        )
        start, wall = time.process_time(), time.perf_counter()
        ticks = len(list(stream))
        bench("tick", (time.process_time() - start) / ticks * 1e3, "ms")
        bench("tick_with_disk", (time.perf_counter() - wall) / ticks * 1e3, "ms")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(Path(place))
