"""A column of days, or of moments, between public ends, in bins of equal length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import Source
from discreet.synthetic.encoding.encoded_column import OUTSIDE, Codes
from discreet.synthetic.encoding.number_column import BINS, NumberColumn, PrivateBins

_SECOND = timedelta(seconds=1)


@dataclass(frozen=True)
class DayColumn:
    """Days from ``first`` to ``last``, both included; others count as missing.

    With moments (``datetime``) in place of days, cells are bins of seconds.

    >>> from datetime import date
    >>> day = DayColumn.between(date(2024, 1, 1), date(2024, 12, 31), bins=12)
    >>> day.encode([date(2024, 1, 1), date(2023, 1, 1)]).tolist()
    [0, 12]
    """

    first: date
    last: date
    numbers: NumberColumn

    @classmethod
    def between(
        cls,
        first: date,
        last: date,
        *,
        bins: int | PrivateBins = BINS,
        missing: bool = True,
    ) -> DayColumn:
        """Bins of equal length from ``first`` to ``last``."""
        if type(first) is not type(last) or not isinstance(first, date) or first > last:
            raise InvalidParameter(
                code="not_dates",
                expectation="two days, or two moments, the first not after the last",
                received=(type(first).__name__, type(last).__name__),
                remedy="Write DayColumn.between(date(2024, 1, 1), date(2024, 12, 31)).",
            )
        length = _steps(first, last)
        whole = NumberColumn.between(0, length, bins=bins, whole=True, missing=missing)
        return cls(first, last, whole)

    @property
    def size(self) -> int:
        return self.numbers.size

    @property
    def missing(self) -> bool:
        return self.numbers.missing

    @property
    def groups(self) -> int | None:
        """How many bins are chosen privately, if they are."""
        return self.numbers.groups

    @property
    def starts(self) -> tuple[date, ...]:
        """The first day, or moment, of each bin."""
        return tuple(self._at(edge) for edge in self.numbers.edges[:-1])

    @property
    def labels(self) -> tuple[object, ...]:
        told: tuple[object, ...] = tuple(f"from {start.isoformat()}" for start in self.starts)
        if self.numbers.edges[-1] == self.numbers.bins and not isinstance(self.first, datetime):
            told = self.starts
        return (*told, *((None,) if self.missing else ()))

    def encode(self, values: Sequence[Any]) -> Codes:
        rest = self.numbers.bins if self.missing else OUTSIDE
        places = [self._place(value) for value in values]
        known = np.array([place is not None for place in places], dtype=np.bool_)
        codes = self.numbers.encode([0 if place is None else place for place in places])
        codes[~known] = rest
        return codes

    def decode(self, codes: Codes, randomness: Source) -> list[Any]:
        drawn = self.numbers.decode(codes, randomness)
        return [None if place is None else self._at(place) for place in drawn]

    def to_dict(self) -> Mapping[str, Any]:
        return {
            "column": "day",
            "moments": isinstance(self.first, datetime),
            "first": self.first.isoformat(),
            "last": self.last.isoformat(),
            "numbers": dict(self.numbers.to_dict()),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> DayColumn:
        """The column that ``to_dict`` wrote."""
        kind = datetime if plain["moments"] else date
        first, last = kind.fromisoformat(plain["first"]), kind.fromisoformat(plain["last"])
        return cls(first, last, NumberColumn.from_dict(plain["numbers"]))

    def steps_to(self, later: date) -> int:
        """Days, or seconds, from the first day to another; negative before it."""
        return _steps(self.first, later)

    def _place(self, value: object) -> int | None:
        """Steps after the first; None for what is no day between the ends."""
        if isinstance(value, np.datetime64):
            value = value.astype("datetime64[us]").item()
        moments = isinstance(self.first, datetime)
        if isinstance(value, datetime) and not moments:
            value = value.date()
        if not isinstance(value, date) or isinstance(value, datetime) != moments:
            return None
        try:
            return _steps(self.first, value) if self.first <= value <= self.last else None
        except TypeError:  # with a time zone, where the ends have none
            return None

    def _at(self, place: float) -> date:
        step = _SECOND if isinstance(self.first, datetime) else timedelta(days=1)
        return self.first + int(place) * step


def _steps(first: date, later: date) -> int:
    """Days, or seconds, from one to the other."""
    if isinstance(first, datetime):
        return (later - first) // _SECOND
    return (later - first).days
