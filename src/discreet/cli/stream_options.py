"""What the options of ``discreet stream`` mean: addresses of sources, times such as ``5m``."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.core.errors import InvalidParameter

if TYPE_CHECKING:
    from discreet.streams.live.events import EventFields
    from discreet.streams.live.found_keys import FoundKeys
    from discreet.streams.sources.source import EventSource

_SPAN = re.compile(r"(?P<count>\d+(?:\.\d+)?)(?P<unit>ms|s|m|h|d)")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_REDIS = re.compile(r"(?P<address>rediss?://[^#]+)#(?P<name>.+)")
_KAFKA = re.compile(r"kafka://(?P<servers>[^/]+)/(?P<topic>.+)")
_SOCKET = re.compile(r"socket:(?P<port>\d+)")


class CounterName(StrEnum):
    """Kinds of counters."""

    TREE = "tree"
    REDUCED = "reduced"
    PAN_PRIVATE = "pan-private"


def counter_of(name: CounterName) -> Any:
    """The counter that a name stands for."""
    if name is CounterName.PAN_PRIVATE:
        from discreet.streams.live.pan_private import pan_private

        return pan_private
    from discreet.streams.tree import BinaryTree, ReducedTree

    return BinaryTree if name is CounterName.TREE else ReducedTree


def span_of(text: str) -> timedelta:
    """A length of time.

    >>> span_of("90s"), span_of("5m")
    (datetime.timedelta(seconds=90), datetime.timedelta(seconds=300))
    """
    found = _SPAN.fullmatch(text.strip())
    if found is None:
        raise InvalidParameter(
            code="tick_length",
            expectation="a length of time such as 30s, 5m, 1h or 1d",
            received=text,
            remedy="Write --every 5m.",
        )
    return timedelta(**{_UNITS[found["unit"]]: float(found["count"])})


def start_of(text: str | None, *, replay: bool) -> datetime:
    """When the first tick begins: as written, in UTC where no zone is; else now."""
    if text is None and not replay:
        return datetime.now(UTC)
    try:
        found = datetime.fromisoformat(text or "")
    except ValueError:
        raise InvalidParameter(
            code="tick_start",
            expectation="a moment such as 2027-01-01T08:00; with --replay one is needed",
            received=text,
            remedy="Write --start 2027-01-01T08:00.",
        ) from None
    return found if found.utcoffset() is not None else found.replace(tzinfo=UTC)


def source_of(text: str, fields: EventFields) -> EventSource:
    """A file, a folder of Parquet files, or what an address leads to."""
    from discreet.streams import sources

    if found := _REDIS.fullmatch(text):
        return sources.RedisStream(found["address"], found["name"], fields)
    if found := _KAFKA.fullmatch(text):
        return sources.KafkaTopic(found["servers"].split(","), found["topic"], fields)
    if found := _SOCKET.fullmatch(text):
        return sources.LineSocket(fields, port=int(found["port"]))
    path = Path(text)
    if path.is_dir():
        return sources.ParquetFiles(path, fields)
    match path.suffix.lower():
        case ".csv":
            return sources.CSVLines(path, fields)
        case ".jsonl" | ".ndjson" | ".json":
            return sources.JSONLines(path, fields)
    raise InvalidParameter(
        code="stream_source",
        expectation="a file .csv or .jsonl, a folder of Parquet files, redis://host:6379/0#stream, "
        "kafka://host:9092/topic or socket:7070",
        received=path.name,
        remedy="Name the file by what it holds, or write an address.",
    )


def keys_of(
    listed: str | None, most: int | None, every: int | None
) -> list[str] | FoundKeys | None:
    """The list of keys; or how many are to be found, after every so many ticks."""
    if most is None and every is None:
        return None if listed is None else [each.strip() for each in listed.split(",")]
    if listed is not None or most is None or every is None:
        raise InvalidParameter(
            code="stream_keys",
            expectation="--keys, or --find-keys together with --find-every",
            remedy="Write --keys A,B,C; or --find-keys 50 --find-every 12 and a --delta.",
        )
    from discreet.streams.live import found_keys

    return found_keys.FoundKeys(most=most, every=every)
