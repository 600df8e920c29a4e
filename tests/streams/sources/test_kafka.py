"""Events from Kafka: our reading of a topic, against a consumer that behaves like the real one.

With a Java distribution of Kafka in ``KAFKA_HOME`` the same is tried on a broker of its own.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import InvalidData
from discreet.streams.live.events import EventFields
from discreet.streams.sources import kafka_topic
from discreet.streams.sources.kafka_topic import KafkaTopic
from discreet.streams.sources.source import SourceAway
from tests.streams.live.scripted import NotedTicks, resumed, started, state_file

kafka = pytest.importorskip("kafka", reason="kafka-python is not installed (the extra `kafka`)")

FIELDS = EventFields(key="key")
Record = namedtuple("Record", "offset value")


class Broker:
    """Partitions as lists; None marks a place that holds no record, as transactions leave them."""

    def __init__(self, partitions: int = 2) -> None:
        self.logs: list[list[bytes | None]] = [[] for _ in range(partitions)]
        self.starts = [0] * partitions
        self.away = False

    def add(self, count: int, key: str = "A") -> None:
        for n in range(count):
            value = json.dumps({"key": key}).encode()
            self.logs[n % len(self.logs)].append(value)


class Consumer:
    """What KafkaConsumer does, as far as it is used; it hands out at most three at a time."""

    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._at: dict[Any, int] = {}
        self.closed = False

    def _reached(self) -> None:
        if self._broker.away:
            raise kafka.errors.KafkaConnectionError

    def partitions_for_topic(self, topic: str) -> set[int]:
        self._reached()
        return set(range(len(self._broker.logs)))

    def beginning_offsets(self, partitions: list[Any]) -> dict[Any, int]:
        self._reached()
        return {each: self._broker.starts[each.partition] for each in partitions}

    def end_offsets(self, partitions: list[Any]) -> dict[Any, int]:
        self._reached()
        return {each: len(self._broker.logs[each.partition]) for each in partitions}

    def assignment(self) -> set[Any]:
        return set(self._at)

    def assign(self, partitions: list[Any]) -> None:
        self._at = dict.fromkeys(partitions, -1)

    def seek(self, partition: Any, offset: int) -> None:
        self._at[partition] = offset

    def position(self, partition: Any) -> int:
        self._reached()
        return self._at[partition]

    def poll(self, timeout_ms: int) -> dict[Any, list[Record]]:
        self._reached()
        found = {}
        for each, place in self._at.items():
            log = self._broker.logs[each.partition]
            end = min(place + 3, len(log))
            records = [Record(n, log[n]) for n in range(place, end) if log[n] is not None]
            self._at[each] = end
            if records:
                found[each] = records
        return found

    def close(self) -> None:
        self.closed = True


def topic(broker: Broker, fields: EventFields = FIELDS) -> KafkaTopic:
    found = KafkaTopic("127.0.0.1:1", "visits", fields)
    found._make = lambda: Consumer(broker)
    return found


def everything(source: KafkaTopic) -> int:
    return sum(len(events) for events in source.read_events_until(source.find_end_offset()))


def test_records_of_all_partitions_are_read_once_up_to_the_cut() -> None:
    broker = Broker()
    broker.add(20)
    source = topic(broker)
    source.begin(None)
    cut = source.find_end_offset()
    broker.add(9)
    assert sum(len(events) for events in source.read_events_until(cut)) == 20
    assert everything(source) == 9
    assert everything(source) == 0
    assert source.offset == {"0": 15, "1": 14}


def test_a_place_is_found_while_records_are_read_and_moves_no_reader() -> None:
    broker = Broker(1)
    broker.add(20)
    source = topic(broker)
    source.begin(None)
    first, found, places = source.find_end_offset(), 0, []
    for events in source.read_events_until(first):
        found += len(events)
        broker.add(1)
        places.append(source.find_end_offset()["0"])
    assert found == 20
    assert places == list(range(21, 21 + len(places)))
    assert sum(len(events) for events in source.read_events_until({"0": places[2]})) == 3
    assert everything(source) == len(places) - 3
    source.close()
    assert source._consumer is source._watching is None


@pytest.mark.parametrize("others", [0, 40])
def test_what_others_send_does_not_order_a_persons_events(others: int) -> None:
    """A cap admits a person's first events: which those are is that person's own affair."""
    broker = Broker(2)
    filler = json.dumps({"key": "Z"}).encode()
    broker.logs[0] = [*[filler] * others, b'{"key": "A"}']
    broker.logs[1] = [b'{"key": "B"}']
    source = topic(broker)
    source.begin(None)
    keys = [
        key
        for events in source.read_events_until(source.find_end_offset())
        for key in events.keys
        if key != "Z"
    ]
    assert keys == ["A", "B"]


def test_places_without_a_record_are_passed() -> None:
    broker = Broker(1)
    broker.logs[0] = [None, b'{"key": "A"}', None, None, None, None, b'{"key": "B"}', None]
    source = topic(broker)
    source.begin(None)
    assert everything(source) == 2


def test_values_that_are_no_objects_are_events_without_a_key() -> None:
    broker = Broker(1)
    broker.logs[0] = [b"\xff", b"[1]", b'{"key": "A"}']
    source = topic(broker)
    source.begin(None)
    assert [e.keys for e in source.read_events_until(source.find_end_offset())] == [
        [None, None, "A"]
    ]


def test_reading_begins_with_what_is_there_and_goes_on_at_a_kept_place() -> None:
    broker = Broker(1)
    broker.add(10)
    broker.starts[0] = 4
    first = topic(broker)
    first.begin(None)
    assert everything(first) == 6
    broker.add(3)
    second = topic(broker)
    second.begin(first.offset)
    assert everything(second) == 3


def test_partitions_that_are_added_are_read_from_their_first_record() -> None:
    broker = Broker(1)
    broker.add(2)
    source = topic(broker)
    source.begin(None)
    everything(source)
    broker.logs.append([b'{"key": "B"}'])
    broker.starts.append(0)
    assert everything(source) == 1


def test_records_that_are_gone_uncounted_are_noticed() -> None:
    broker = Broker(1)
    broker.add(5)
    source = topic(broker)
    source.begin(None)
    everything(source)
    broker.add(5)
    broker.starts[0] = 7
    with pytest.raises(InvalidData, match="source_changed"):
        source.find_end_offset()
    broker.starts[0] = 0
    broker.logs[0] = broker.logs[0][:3]
    with pytest.raises(InvalidData, match="source_changed"):
        source.find_end_offset()


def test_a_broker_that_goes_away_loses_no_event(tmp_path: Path) -> None:
    broker = Broker()
    broker.add(10)
    source = topic(broker)
    source.begin(None)
    log = NotedTicks()
    stream = started(source, state_file(tmp_path), log)
    assert next(stream)["A"] == 10
    broker.add(5)
    broker.away = True
    with pytest.raises(SourceAway, match="source_away"):
        source.find_end_offset()
    broker.away = False
    assert next(stream)["A"] == 15
    broker.add(2)
    *_, last = resumed(topic(broker), state_file(tmp_path), log, speaker=2)
    assert last["A"] == 17


def test_a_broker_that_hands_out_nothing_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_topic, "_PATIENCE", 0.0)
    broker = Broker(1)
    broker.add(1)
    source = topic(broker)
    source.begin(None)
    monkeypatch.setattr(Consumer, "poll", lambda self, timeout_ms: {})
    with pytest.raises(SourceAway, match="source_away"):
        everything(source)


def test_an_address_where_nobody_is() -> None:
    def nobody() -> Any:
        raise kafka.errors.KafkaTimeoutError

    source = KafkaTopic("127.0.0.1:1", "visits", FIELDS)
    source._make = nobody
    with pytest.raises(SourceAway, match="source_away"):
        source.begin(None)
    source.close()


def home() -> Path | None:
    """Where a Java distribution of Kafka lies, if there is one."""
    place = os.environ.get("KAFKA_HOME")
    script = Path(place or "/opt/kafka") / "bin" / "kafka-server-start.sh"
    return script.parent.parent if script.exists() and shutil.which("java") else None


@pytest.mark.slow
@pytest.mark.skipif(home() is None, reason="no Java distribution of Kafka in KAFKA_HOME")
def test_a_real_broker(tmp_path: Path) -> None:
    from tests.streams.sources.kafka_broker import broker

    distribution = home()
    assert distribution is not None
    with broker(distribution, tmp_path) as address:
        producer = kafka.KafkaProducer(bootstrap_servers=address)
        for n in range(100):
            producer.send("visits", json.dumps({"key": "ABC"[n % 3]}).encode())
        producer.flush()
        source = KafkaTopic(address, "visits", FIELDS)
        source.begin(None)
        assert everything(source) == 100
        source.close()
