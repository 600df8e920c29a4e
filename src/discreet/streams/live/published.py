"""A file of what a stream released, for others to read: one line of JSON for each tick.

Whoever runs a stream may let its ticks stand in a file beside it; pages and programs read them
there without coming near the stream, its state or its events. All of it was released. A tick stands
in it once, whatever is repeated, and a line that a crash left without its end is written again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from discreet.core.errors import InvalidData
from discreet.streams.live.tick import Tick

_FORM = "stream-ticks/1"
_BLOCK = 1 << 16


class PublishedTicks:
    """The file of one stream."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Touch nothing yet."""
        self.path = Path(path)

    def add(self, stream: str, ticks: Iterable[Tick]) -> None:
        """Write those of a stream's ticks that do not stand in it; durable on return."""
        last = self._last(stream)
        with self.path.open("ab") as file:
            for tick in ticks:
                if tick.number > last:
                    told = {"form": _FORM, "stream": stream, **tick.to_dict()}
                    file.write(json.dumps(told, allow_nan=False).encode("ascii") + b"\n")
                    last = tick.number
            file.flush()
            os.fsync(file.fileno())

    def latest(self, count: int) -> list[Tick]:
        """The latest ticks, oldest first; fewer where there are fewer."""
        found: list[Tick] = []
        for line in reversed(self._tail(count)):
            tick = _tick(line)
            if tick is not None:
                found.append(tick)
        return found[::-1]

    def _last(self, stream: str) -> int:
        """The number of the last tick in the file; what a crash left unfinished is cut off."""
        if not self.path.exists():
            return -1
        with self.path.open("rb+") as file:
            whole = file.read()
            kept = whole.rfind(b"\n") + 1
            file.truncate(kept)
        lines = whole[:kept].splitlines()
        if not lines:
            return -1
        told = _plain(lines[-1])
        if told is None or told["stream"] != stream:
            raise InvalidData(
                code="published_elsewhere",
                expectation="a file for the ticks of this stream, or none yet",
                received=self.path.name,
                remedy="Choose another file; each stream has one of its own.",
            )
        return int(told["tick"])

    def _tail(self, count: int) -> list[bytes]:
        """The last whole lines."""
        with self.path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            block = b""
            while size and block.count(b"\n") <= count:
                step = min(_BLOCK, size)
                size -= step
                file.seek(size)
                block = file.read(step) + block
        return block[: block.rfind(b"\n") + 1].splitlines()[-count:]


def _plain(line: bytes) -> dict[str, Any] | None:
    try:
        told = json.loads(line)
    except ValueError:
        return None
    return told if isinstance(told, dict) and told.get("form") == _FORM else None


def _tick(line: bytes) -> Tick | None:
    told = _plain(line)
    if told is None:
        return None
    return Tick(
        int(told["tick"]),
        datetime.fromisoformat(told["begins"]),
        datetime.fromisoformat(told["ends"]),
        {str(key): float(value) for key, value in told["values"].items()},
        None if told["within"] is None else float(told["within"]),
        float(told["confidence"]),
    )
