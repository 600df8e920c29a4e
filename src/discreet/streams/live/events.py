"""Events as they come from a source: columns of keys, people, times and identifiers.

Nothing is believed: what has no key, person or time where one is needed is left out by itself,
whatever else came, so no event can stop a stream or change what happens to another.

Source: contract, "What may be seen" (no row can make an engine fail by its value).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.streams.live.ticks import microseconds

EVERY = "events"
"""The one key of a stream whose events are not told apart."""
_LONGEST = 4096
_EARLIEST, _LATEST = -(1 << 60), 1 << 60


@dataclass(frozen=True)
class Events:
    """Some events, in the order in which they arrived; None where a value is missing.

    Attributes:
        keys: What each counts for.
        people: Whose each is; None where the stream is about events.
        times: When each happened, in microseconds since 1970; None where arrival decides.
        ids: By which a second copy is known; None where nothing is compared.
        values: The number that a statistic is about; None where events are counted.
    """

    keys: Sequence[str | None]
    people: Sequence[str | None] | None = None
    times: Sequence[int | None] | None = None
    ids: Sequence[str | None] | None = None
    values: Sequence[float | None] | None = None

    def __len__(self) -> int:
        return len(self.keys)


@dataclass(frozen=True, kw_only=True)
class EventFields:
    """Which fields of a record say what, by their names.

    ``key`` names what is counted by (without it all events count as one series), ``person`` whose
    event it is, ``time`` when it happened (without it events count when they arrive), ``id`` what
    tells a second copy from a second event, ``value`` the number of a statistic. Times are seconds
    since 1970, or ISO 8601 text; text without a zone is UTC.
    """

    key: str | None = None
    person: str | None = None
    time: str | None = None
    id: str | None = None
    value: str | None = None

    def __post_init__(self) -> None:
        """Refuse what names no field."""
        for name in ("key", "person", "time", "id", "value"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, str) or not value):
                raise InvalidParameter(
                    code="stream_field",
                    expectation=f"{name}= to name a field of the events",
                    received=type(value).__name__,
                    remedy=f'Write EventFields({name}="..."), or leave it out.',
                )

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that are read."""
        named = (self.key, self.person, self.time, self.id, self.value)
        return tuple(dict.fromkeys(name for name in named if name is not None))

    def events(self, records: Iterable[Mapping[str, Any] | None]) -> Events:
        """What records say; one that could not be read is an event without a key."""
        rows = [record if isinstance(record, Mapping) else None for record in records]
        return Events(
            [EVERY] * len(rows) if self.key is None else _column(rows, self.key, as_text),
            None if self.person is None else _column(rows, self.person, as_identity),
            None if self.time is None else _column(rows, self.time, as_time),
            None if self.id is None else _column(rows, self.id, as_identity),
            None if self.value is None else _column(rows, self.value, as_number),
        )

    def of_columns(self, columns: Mapping[str, Sequence[Any]], rows: int) -> Events:
        """What columns say, for sources that have them."""

        def column(name: str, read: Callable[[Any], Any]) -> list[Any]:
            values = columns.get(name)
            return [None] * rows if values is None else list(map(read, values))

        return Events(
            [EVERY] * rows if self.key is None else column(self.key, as_text),
            None if self.person is None else column(self.person, as_identity),
            None if self.time is None else column(self.time, as_time),
            None if self.id is None else column(self.id, as_identity),
            None if self.value is None else column(self.value, as_number),
        )

    def to_dict(self) -> dict[str, str | None]:
        """For the ledger, under names that never change."""
        named = {"key": self.key, "person": self.person, "time": self.time, "id": self.id}
        return named if self.value is None else {**named, "value": self.value}


def _column(
    rows: Sequence[Mapping[str, Any] | None], name: str, read: Callable[[Any], Any]
) -> list[Any]:
    return [None if row is None else read(row.get(name)) for row in rows]


def as_text(value: object) -> str | None:
    """A name, a number or a date as text; None for anything else, and for what is too long.

    >>> as_text(7), as_text("7"), as_text(None), as_text([7])
    ('7', '7', None, None)
    """
    if isinstance(value, str):
        return value if 0 < len(value) <= _LONGEST else None
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return str(value) if _EARLIEST < value < _LATEST else None
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else None
    if isinstance(value, date):
        return value.isoformat()
    return None


def as_identity(value: object) -> str | None:
    """Who, or which: as text, the same for numbers that are equal.

    Some programs write 7 as 7.0; whoever were two people by that would count twice.

    >>> as_identity(7), as_identity(7.0), as_identity(-0.0), as_identity(7.5)
    ('7', '7', '0', '7.5')
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < _LATEST:
        return str(int(value))
    return as_text(value)


def as_number(value: object) -> float | None:
    """A number, infinities included; None for what is none.

    >>> as_number("2.5"), as_number(10**400), as_number("nan"), as_number("many")
    (2.5, inf, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    try:
        found = float(value)
    except OverflowError:
        return math.inf if int(value) > 0 else -math.inf
    except ValueError:
        return None
    return None if math.isnan(found) else found


def as_time(value: object) -> int | None:
    """A time in microseconds since 1970; None for what tells none.

    >>> as_time(1.5), as_time("1970-01-01T00:00:01.5Z"), as_time("soon")
    (1500000, 1500000, None)
    """
    if isinstance(value, datetime):
        return microseconds(value if value.utcoffset() is not None else value.replace(tzinfo=UTC))
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str):
        return _time_of(value)
    if isinstance(value, int | float) and abs(value) < 1 << 40:  # neither inf nor nan is
        return math.floor(value * 1_000_000)
    return None


def _time_of(text: str) -> int | None:
    for read in (float, datetime.fromisoformat):
        try:
            return as_time(read(text))
        except ValueError:
            continue
    return None
