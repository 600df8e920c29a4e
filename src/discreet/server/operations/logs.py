"""Logs as lines of JSON, without private values.

Of an error its kind and its place in the program are written, never its text: a message of a
database may quote what somebody asked. The owner's log of failed questions is another file, which
the workers write.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

_EXTRA = ("request", "method", "route", "status", "seconds", "job", "code", "left_out")
_WINDOW, _LINES, _WARNINGS = 60.0, 1000, 20
"""Seconds, and lines of one kind that are written in as many; of warnings and errors."""
_MOST_KINDS = 1000


class JsonLines(logging.Formatter):
    """One object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The line of a record; only what is listed of what came with it."""
        told: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage() if record.name.startswith("discreet") else record.msg,
        }
        told |= {name: record.__dict__[name] for name in _EXTRA if name in record.__dict__}
        if record.exc_info and record.exc_info[0] is not None:
            told["error"] = record.exc_info[0].__name__
            frames = traceback.extract_tb(record.exc_info[2])
            told["at"] = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        return json.dumps(told, default=str)


class SparingLines(logging.Filter):
    """Lets pass so many lines of one kind in a while; the next one tells how many were left out.

    Whoever can have a line written, by a request or a connection, can have it written at will.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Count from now on."""
        super().__init__()
        self._clock = clock
        self._kinds: dict[tuple[object, ...], tuple[float, int]] = {}
        self._counting = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        place = (record.pathname, record.lineno, record.levelno)
        kind: tuple[object, ...] = (
            *place,
            record.__dict__.get("route"),
            record.__dict__.get("status"),
        )
        most = _LINES if record.levelno < logging.WARNING else _WARNINGS
        with self._counting:
            if kind not in self._kinds and len(self._kinds) >= _MOST_KINDS:
                kind = ()
            now = self._clock()
            began, count = self._kinds.get(kind, (now, 0))
            if now - began >= _WINDOW:
                if count > most:
                    record.left_out = count - most
                began, count = now, 0
            self._kinds[kind] = (began, count + 1)
        return count < most


def to_stream(stream: TextIO | None = None, level: int = logging.INFO) -> logging.Handler:
    """Send all logs to a stream, by default standard error."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(SparingLines())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level)
    for noisy in ("httpx", "httpcore", "sqlalchemy", "asyncio", "multipart", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    return handler
