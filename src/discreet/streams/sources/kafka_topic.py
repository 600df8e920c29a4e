"""Events from a Kafka topic, whose values are JSON objects.

The place in each partition is kept with the counts; no group's place is committed to the broker,
and none is believed. Records that the broker dropped before they were counted are noticed and
refused, never passed over.

Needs the extra ``kafka``. Source: kafka-python, "KafkaConsumer".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.streams.live.events import EventFields, Events
from discreet.streams.sources.source import Offset, away, changed
from discreet.streams.sources.text_file import json_record

_POLL = 500
_PATIENCE = 30.0


class KafkaTopic:
    """All partitions of one topic.

    ``servers`` are addresses such as ``"localhost:9092"``; ``options`` go to the consumer, for
    passwords and certificates.
    """

    fields: EventFields

    def __init__(
        self, servers: str | Sequence[str], topic: str, fields: EventFields, **options: Any
    ) -> None:
        """Connect at the first use."""
        try:
            import kafka  # type: ignore[import-untyped]
            from kafka.errors import KafkaError  # type: ignore[import-untyped]
        except ModuleNotFoundError:
            raise InvalidParameter(
                code="package_missing",
                expectation="the package kafka-python",
                remedy="Install it: pip install 'discreet[kafka]'.",
            ) from None
        self.fields = fields
        self._topic = topic
        self._partition: Callable[[str, int], Any] = kafka.TopicPartition
        self._failures = KafkaError
        self._make: Callable[[], Any] = lambda: kafka.KafkaConsumer(
            bootstrap_servers=servers,
            group_id=None,
            enable_auto_commit=False,
            auto_offset_reset="none",
            **{"bootstrap_timeout_ms": _PATIENCE * 1000, **options},
        )
        self._consumer: Any = None
        self._watching: Any = None  # of its own: places are asked for while records are read
        self._places: dict[int, int] = {}

    def begin(self, offset: Offset | None) -> None:
        """Stand at the kept places; without any, at the first record that is still there."""
        self._places = {} if offset is None else {int(p): int(at) for p, at in offset.items()}
        self._assigned(fresh=offset is None)

    def find_end_offset(self) -> Offset:
        """Where every partition ends; nothing that reading uses is touched."""
        if self._watching is None:
            self._watching = self._ask_server(self._make)
        partitions = self._there(self._watching)
        starts = self._ask_server(self._watching.beginning_offsets, partitions)
        ends = self._ask_server(self._watching.end_offsets, partitions)
        for each, end in ends.items():
            place = self._places.get(each.partition, 0)
            if end < place:
                raise changed(what=f"topic {self._topic}, which lost records that were counted")
            self._require_kept(place, starts[each])
        return {str(each.partition): end for each, end in ends.items()}

    def read_events_until(self, cut: Offset) -> Iterator[Events]:
        ends = {int(partition): int(end) for partition, end in cut.items()}
        self._assigned(fresh=False)
        partitions = self._partitions(ends)
        # One after the other: how much others sent must not decide which of a person's come first.
        for each in partitions:
            if self._places.setdefault(each.partition, 0) < ends[each.partition]:
                yield from self._read_partition(each, ends[each.partition])
        self._consumer.assign(self._partitions(self._places))
        self._seek()  # back before what arrived after the cut

    def _read_partition(self, each: Any, end: int) -> Iterator[Events]:
        self._consumer.assign([each])
        self._consumer.seek(each, self._places[each.partition])
        patience = time.monotonic() + _PATIENCE
        while self._places[each.partition] < end:
            polled = self._ask_server(self._consumer.poll, timeout_ms=_POLL)
            values = [record.value for record in polled.get(each, ()) if record.offset < end]
            reached = min(self._ask_server(self._consumer.position, each), end)
            if reached > self._places[each.partition]:
                self._places[each.partition] = reached
                patience = time.monotonic() + _PATIENCE
            elif time.monotonic() > patience:
                raise away(what=f"Kafka, for the topic {self._topic}")
            if values:
                yield self.fields.events(map(_record, values))

    @property
    def offset(self) -> Offset:
        return {str(partition): place for partition, place in sorted(self._places.items())}

    def committed(self, offset: Offset) -> None:
        """Nothing to tell: the place is ours."""

    def close(self) -> None:
        for consumer in (self._consumer, self._watching):
            if consumer is not None:
                consumer.close()
        self._consumer = self._watching = None

    def _assigned(self, *, fresh: bool) -> list[Any]:
        """All partitions there are by now, each at its place."""
        if self._consumer is None:
            self._consumer = self._ask_server(self._make)
        partitions = self._there(self._consumer)
        starts = self._ask_server(self._consumer.beginning_offsets, partitions)
        for each, start in starts.items():
            # A partition that is added later is new, and counted from its first record.
            place = self._places.setdefault(each.partition, start if fresh else 0)
            self._require_kept(place, start)
        if set(self._consumer.assignment()) != set(partitions):
            self._consumer.assign(partitions)
            self._seek()
        return partitions

    def _there(self, consumer: Any) -> list[Any]:
        numbers = self._ask_server(consumer.partitions_for_topic, self._topic)
        if not numbers:
            raise away(what=f"topic {self._topic}, which is not there")
        return self._partitions(numbers)

    def _require_kept(self, place: int, start: int) -> None:
        if start > place:
            raise changed(what=f"topic {self._topic}, which dropped records before they counted")

    def _seek(self) -> None:
        for partition, place in self._places.items():
            self._consumer.seek(self._partition(self._topic, partition), place)

    def _partitions(self, numbers: Any) -> list[Any]:
        return [self._partition(self._topic, number) for number in sorted(numbers)]

    def _ask_server(self, ask: Callable[..., Any], *given: Any, **named: Any) -> Any:
        try:
            return ask(*given, **named)
        except self._failures:
            raise away(what=f"Kafka, for the topic {self._topic}") from None


def _record(value: bytes | None) -> Any:
    return None if value is None else json_record(value)
