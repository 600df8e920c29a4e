"""Events from a real Redis server, which may go away, come back, and lose what it should keep."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import InvalidData
from discreet.streams.live.events import EventFields
from discreet.streams.live.patience import Patience
from discreet.streams.sources.redis_stream import RedisStream
from discreet.streams.sources.source import SourceAway
from discreet.streams.units import UserLevel
from tests import redis_server
from tests.streams.live.scripted import NotedTicks, resumed, started, state_file

pytestmark = pytest.mark.skipif(
    redis_server.missing() is not None, reason=redis_server.missing() or ""
)
FIELDS = EventFields(key="key", person="who")
UNIT = UserLevel("who", max_events=2)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[redis_server.RedisServer]:
    server = redis_server.RedisServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def client(server: redis_server.RedisServer) -> Iterator[Any]:
    import redis

    with redis.Redis.from_url(server.address) as client:
        yield client


def add(client: Any, first: int, count: int) -> None:
    with client.pipeline(transaction=False) as many:
        for n in range(first, first + count):
            many.xadd("visits", {"key": "ABC"[n % 3], "who": f"p{n}"})
        many.execute()


def everything(source: RedisStream) -> int:
    return sum(len(events) for events in source.read_events_until(source.find_end_offset()))


def test_entries_are_read_once_in_order_up_to_the_cut(server: Any, client: Any) -> None:
    add(client, 0, 25_000)
    source = RedisStream(server.address, "visits", FIELDS)
    source.begin(None)
    cut = source.find_end_offset()
    add(client, 25_000, 10)
    assert sum(len(events) for events in source.read_events_until(cut)) == 25_000
    assert everything(source) == 10
    assert everything(source) == 0
    source.close()


def test_a_stream_that_does_not_exist_yet_is_empty(server: Any, client: Any) -> None:
    source = RedisStream(server.address, "visits", FIELDS)
    source.begin(None)
    assert everything(source) == 0
    add(client, 0, 3)
    assert everything(source) == 3
    source.close()


def test_reading_goes_on_at_a_kept_place(server: Any, client: Any) -> None:
    add(client, 0, 10)
    client.xtrim("visits", maxlen=6, approximate=False)  # before we began: not ours
    first = RedisStream(server.address, "visits", FIELDS)
    first.begin(None)
    assert everything(first) == 6
    client.xtrim("visits", maxlen=0, approximate=False)  # counted already
    add(client, 10, 4)
    second = RedisStream(server.address, "visits", FIELDS)
    second.begin(first.offset)
    assert everything(second) == 4
    first.close()
    second.close()


@pytest.mark.parametrize("how", ["trimmed", "deleted"])
def test_entries_that_are_gone_uncounted_are_noticed(server: Any, client: Any, how: str) -> None:
    add(client, 0, 5)
    source = RedisStream(server.address, "visits", FIELDS)
    source.begin(None)
    everything(source)
    add(client, 5, 5)
    if how == "trimmed":
        client.xtrim("visits", maxlen=2, approximate=False)
    else:
        client.xdel("visits", client.xrevrange("visits", count=2)[1][0])
    with pytest.raises(InvalidData, match="source_changed"):
        everything(source)
    source.close()


@pytest.mark.parametrize("begin", [False, True])
def test_a_stream_that_was_removed_is_noticed(server: Any, client: Any, begin: Any) -> None:
    add(client, 0, 5)
    source = RedisStream(server.address, "visits", FIELDS)
    source.begin(None)
    everything(source)
    client.delete("visits")
    if begin:
        with client.pipeline() as again:
            again.xadd("visits", {"key": "A"}, id="1-1")
            again.execute()
    with pytest.raises(InvalidData, match="source_changed"):
        source.find_end_offset()
    source.close()


def test_a_broker_that_is_killed_and_comes_back_loses_no_event(
    tmp_path: Path, server: Any, client: Any
) -> None:
    add(client, 0, 30)
    source = RedisStream(server.address, "visits", FIELDS)
    source.begin(None)
    log = NotedTicks()
    short = Patience(every=timedelta(milliseconds=10), most=timedelta(milliseconds=50))
    stream = started(source, state_file(tmp_path), log, unit=UNIT, patience=short)
    assert sum(next(stream).values.values()) == 30
    server.kill()
    with pytest.raises(SourceAway, match="source_away"):
        next(stream)
    server.start()
    add(client, 30, 12)
    assert sum(next(stream).values.values()) == 42
    source.close()
    again = RedisStream(server.address, "visits", FIELDS)
    add(client, 0, 42)  # everybody once more: up to their cap of two
    add(client, 0, 42)
    stream = resumed(again, state_file(tmp_path), log, speaker=2, unit=UNIT, patience=short)
    *_, last = stream
    assert sum(last.values.values()) == 84
    again.close()
