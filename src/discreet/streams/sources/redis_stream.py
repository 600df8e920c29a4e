"""Events from a Redis stream (``XADD``), read by their place.

The place of the last entry that was counted is kept with the counts, not with the server: there is
no consumer group, and reading changes nothing. Entries that were deleted or trimmed before they
were counted cannot be counted any more; that is noticed, since the server tells how many it ever
took, and refused, never passed over.

Needs the extra ``redis`` and a server from version 7. Source: redis.io, "XRANGE", "XINFO STREAM".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.streams.live.events import EventFields, Events
from discreet.streams.sources.source import Offset, away, changed

_BATCH = 2_000
_BEGINNING = "0-0"


class RedisStream:
    """The entries of one stream, whose fields are texts."""

    fields: EventFields

    def __init__(self, address: str, name: str, fields: EventFields) -> None:
        """Connect at the first use; ``address`` is ``redis://host:port/0``."""
        try:
            import redis
        except ModuleNotFoundError:
            raise InvalidParameter(
                code="package_missing",
                expectation="the package redis",
                remedy="Install it: pip install 'discreet[redis]'.",
            ) from None
        self.fields = fields
        self._name = name
        self._failures = (redis.ConnectionError, redis.TimeoutError)
        self._refusals = redis.ResponseError
        self._client = redis.Redis.from_url(
            address, decode_responses=False, socket_timeout=10, socket_connect_timeout=5
        )
        self._last, self._added = _BEGINNING, 0

    def begin(self, offset: Offset | None) -> None:
        """Stand at a kept place; without one before the first entry that is there."""
        if offset is not None:
            self._last, self._added = str(offset["id"]), int(offset["added"])
            self.find_end_offset()
            return
        told = self._fetch_stream_info()
        self._last, self._added = _BEGINNING, 0
        if told is not None:
            self._added = int(told["entries-added"]) - int(told["length"])

    def find_end_offset(self) -> Offset:
        """The newest entry, and how many there ever were: both of one moment."""
        told = self._fetch_stream_info()
        if told is None:
            if self._last != _BEGINNING:
                raise changed(what=f"no stream {self._name}, which was there")
            return self.offset
        newest = _text(told["last-generated-id"])
        if _order(newest) < _order(self._last):
            raise changed(what=f"stream {self._name}, which lost entries that were counted")
        return {"id": newest, "added": int(told["entries-added"])}

    def read_events_until(self, cut: Offset) -> Iterator[Events]:
        """The entries up to the cut; refused at their end where one of them is missing."""
        end = str(cut["id"])
        while _order(self._last) < _order(end):
            found = self._ask_server(
                self._client.xrange, self._name, min=f"({self._last}", max=end, count=_BATCH
            )
            if not found:
                break
            self._last, self._added = _text(found[-1][0]), self._added + len(found)
            yield self.fields.events(_record(values) for _, values in found)
        if self._added != cut["added"]:
            raise changed(what=f"stream {self._name}, from which entries were deleted uncounted")

    @property
    def offset(self) -> Offset:
        return {"id": self._last, "added": self._added}

    def committed(self, offset: Offset) -> None:
        """Nothing to tell: trimming is the owner's, up to the place in ``offset``."""

    def close(self) -> None:
        self._client.close()

    def _fetch_stream_info(self) -> Mapping[str, Any] | None:
        """What the server says of the stream; None where there is none."""
        try:
            told: Mapping[str, Any] = self._ask_server(self._client.xinfo_stream, self._name)
        except self._refusals:
            return None
        return told

    def _ask_server(self, ask: Callable[..., Any], *given: Any, **named: Any) -> Any:
        try:
            return ask(*given, **named)
        except self._failures:
            raise away(what=f"Redis, for the stream {self._name}") from None


def _record(values: Mapping[bytes, bytes]) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in values.items()}


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _order(place: str) -> tuple[int, int]:
    first, _, second = place.partition("-")
    return int(first), int(second or 0)
