"""How long a stream waits for a source that went away.

The tick that is open stays open meanwhile, so that nothing is lost; when the source is back, the
ticks that were missed follow, each with its own output. After the longest wait the stream stops,
and can be resumed. A source goes away for public reasons, never because of an event.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta

from discreet.core.errors import InvalidParameter
from discreet.streams.sources.source import SourceAway


@dataclass(frozen=True, kw_only=True)
class Patience:
    """Ask again ``every`` so often, for ``most`` in all; then stop with ``source_away``."""

    every: timedelta = timedelta(seconds=1)
    most: timedelta = timedelta(minutes=10)

    def __post_init__(self) -> None:
        """Refuse what is no time."""
        for name in ("every", "most"):
            value = getattr(self, name)
            if not isinstance(value, timedelta) or value < timedelta(0):
                raise InvalidParameter(
                    code="stream_patience",
                    expectation=f"{name}= as a timedelta of zero or more",
                    received=type(value).__name__,
                    remedy="Write Patience(every=timedelta(seconds=1), most=timedelta(hours=1)).",
                )

    def begun(self) -> Waiting:
        """A wait that begins now."""
        return Waiting(self)


class Waiting:
    """One wait; it starts with the first failure."""

    def __init__(self, patience: Patience) -> None:
        """Wait for nothing yet."""
        self._patience = patience
        self._since: float | None = None

    def again(self, error: SourceAway) -> None:
        """Wait a little before the next try; raise the error where patience is over."""
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since + self._patience.every.total_seconds() > (
            self._patience.most.total_seconds()
        ):
            raise error
        time.sleep(self._patience.every.total_seconds())
