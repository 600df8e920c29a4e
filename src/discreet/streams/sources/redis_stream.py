"""Events from a Redis stream (``XADD``), read by their place.

The place of the last entry that was counted is kept with the counts, not with the server: there is
no consumer group, and reading changes nothing. Entries that were deleted or trimmed before they
were counted cannot be counted any more; that is noticed and refused, never passed over.

Needs the extra ``redis`` and a server from version 7. Source: redis.io, "XRANGE", "XINFO STREAM".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from discreet.core.errors import InvalidParameter
from discreet.streams.live.events import Events, Fields
from discreet.streams.sources.source import Offset, away, changed

_BATCH = 10_000
_BEGINNING = "0-0"

Result = TypeVar("Result")


class RedisStream:
    """The entries of one stream, whose fields are texts."""

    def __init__(self, address: str, name: str, fields: Fields) -> None:
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
        self._last = _BEGINNING

    def begin(self, offset: Offset | None) -> None:
        self._last = _BEGINNING if offset is None else str(offset["id"])
        self._require_whole()

    def cut(self) -> Offset:
        self._require_whole()
        newest = self._asked(lambda: self._client.xrevrange(self._name, count=1))
        return {"id": _text(newest[0][0]) if newest else self._last}

    def read(self, cut: Offset) -> Iterator[Events]:
        end = str(cut["id"])
        while _order(self._last) < _order(end):
            first = f"({self._last}"
            found = self._asked(
                lambda first=first: self._client.xrange(
                    self._name, min=first, max=end, count=_BATCH
                )
            )
            self._require_whole(found)
            if not found:
                return
            self._last = _text(found[-1][0])
            yield self.fields.events(_record(values) for _, values in found)

    @property
    def offset(self) -> Offset:
        return {"id": self._last}

    def committed(self, offset: Offset) -> None:
        """Nothing to tell: trimming is the owner's, up to the place in ``offset``."""

    def close(self) -> None:
        self._client.close()

    def _require_whole(self, found: object = None) -> None:
        """Refuse where entries behind the present place are gone."""
        try:
            told = self._asked(lambda: self._client.xinfo_stream(self._name))
        except self._refusals:
            if self._last == _BEGINNING:
                return  # not begun yet
            raise changed(f"no stream {self._name}, which was there") from None
        deleted, newest = told.get("max-deleted-entry-id"), told.get("last-generated-id")
        before = _BEGINNING if not found else self._last
        if newest is not None and _order(_text(newest)) < _order(self._last):
            raise changed(f"stream {self._name}, which lost entries that were counted")
        gone = deleted is not None and _order(_text(deleted)) > _order(self._last)
        if gone and before == _BEGINNING:
            raise changed(f"stream {self._name}, from which entries were deleted uncounted")

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except self._failures:
            raise away(f"Redis, for the stream {self._name}") from None


def _record(values: Mapping[bytes, bytes]) -> dict[str, str]:
    return {_text(name): _text(value) for name, value in values.items()}


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "replace")


def _order(place: str) -> tuple[int, int]:
    first, _, second = place.partition("-")
    return int(first), int(second or 0)
