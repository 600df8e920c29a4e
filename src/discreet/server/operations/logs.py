"""Logs as lines of JSON, without private values.

Of an error its kind and its place in the program are written, never its text: a message of a
database may quote what somebody asked. The owner's log of failed questions is another file, which
the workers write.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import TextIO

_EXTRA = ("request", "method", "route", "status", "seconds", "job", "code")


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


def to_stream(stream: TextIO | None = None, level: int = logging.INFO) -> logging.Handler:
    """Send all logs to a stream, by default standard error."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(level)
    for noisy in ("httpx", "httpcore", "sqlalchemy", "asyncio", "multipart", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    return handler
