"""Public clock ticks: when a stream speaks, whatever happened.

A stream has a start, a length of its ticks, how many of them there are, and how late an event may
come: all of it public and fixed before the first event. A tick closes ``lateness`` after its end,
and then it is released, empty or not. Times are whole microseconds since 1970, UTC.

Source: contract, "Spending" (streams output at public clock ticks).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count

MICROSECOND = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Ticks:
    """The public clock of a stream.

    >>> hour = Ticks(start=datetime(2027, 1, 1, tzinfo=UTC), length=timedelta(minutes=1), count=60)
    >>> hour.closes(0) - hour.begins(0)
    60000000

    Attributes:
        start: When the first tick begins; with a time zone.
        length: How long each is.
        count: How many there are: the horizon of the stream.
        lateness: How long after its end a tick still waits for its events.
    """

    start: datetime
    length: timedelta
    count: int
    lateness: timedelta = timedelta(0)

    def __post_init__(self) -> None:
        """Refuse what is no clock."""
        if not isinstance(self.start, datetime) or self.start.utcoffset() is None:
            raise InvalidParameter(
                code="tick_start",
                expectation="a start with a time zone",
                received=str(self.start),
                remedy="Write start=datetime(2027, 1, 1, tzinfo=UTC).",
            )
        if not isinstance(self.length, timedelta) or self.length < timedelta(milliseconds=1):
            raise InvalidParameter(
                code="tick_length",
                expectation="ticks of a millisecond or longer, as a timedelta",
                received=str(self.length),
                remedy="Write length=timedelta(minutes=1).",
            )
        if not isinstance(self.lateness, timedelta) or self.lateness < timedelta(0):
            raise InvalidParameter(
                code="tick_lateness",
                expectation="a lateness of zero or more, as a timedelta",
                received=str(self.lateness),
                remedy="Write lateness=timedelta(minutes=5), or leave it out.",
            )
        object.__setattr__(self, "count", count("count", self.count))

    def begins(self, tick: int) -> int:
        """When a tick begins."""
        return microseconds(self.start) + tick * (self.length // MICROSECOND)

    def closes(self, tick: int) -> int:
        """When a tick is released: its end, and the lateness that is waited for."""
        return self.begins(tick + 1) + self.lateness // MICROSECOND

    def open_at(self, now: int) -> int:
        """The first tick that has not closed by then; one beyond the last where all have."""
        since = now - self.closes(0)
        closed = 0 if since < 0 else since // (self.length // MICROSECOND) + 1
        return min(closed, self.count)

    def of(self, times: NDArray[np.int64]) -> NDArray[np.int64]:
        """The tick in which each time lies; below zero before the start."""
        places: NDArray[np.int64] = (times - microseconds(self.start)) // (
            self.length // MICROSECOND
        )
        return places

    def moment(self, tick: int) -> datetime:
        """When a tick begins, as a date."""
        return moment(self.begins(tick))

    def to_dict(self) -> dict[str, Any]:
        """For the ledger, under names that never change."""
        return {
            "start": microseconds(self.start),
            "length": self.length // MICROSECOND,
            "count": self.count,
            "lateness": self.lateness // MICROSECOND,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> Ticks:
        """As the ledger has them."""
        return cls(
            start=moment(kept["start"]),
            length=kept["length"] * MICROSECOND,
            count=kept["count"],
            lateness=kept["lateness"] * MICROSECOND,
        )


def microseconds(moment: datetime) -> int:
    """Since 1970, exactly.

    >>> microseconds(datetime(1970, 1, 2, tzinfo=UTC))
    86400000000
    """
    return (moment - _EPOCH) // MICROSECOND


def moment(microseconds: int) -> datetime:
    """A date in UTC."""
    return _EPOCH + microseconds * MICROSECOND
