"""What a stream releases at one tick: an estimate for every declared key, with its error."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Tick:
    """The estimates after one tick; all of it public.

    Attributes:
        number: Which tick, from zero.
        begins: When it began, in UTC.
        ends: When it ended.
        values: By key, the estimate.
        within: How far each may be off by noise, at ``confidence``; None where that depends on
            the events, as for averages and quantiles.
        confidence: Of ``within``.
    """

    number: int
    begins: datetime
    ends: datetime
    values: Mapping[str, float]
    within: float | None
    confidence: float

    def __getitem__(self, key: str) -> float:
        """The estimate for a key."""
        return self.values[key]

    def __iter__(self) -> Iterator[str]:
        """Over the keys."""
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, for pages and files."""
        return {
            "tick": self.number,
            "begins": self.begins.isoformat(),
            "ends": self.ends.isoformat(),
            "values": dict(self.values),
            "within": self.within,
            "confidence": self.confidence,
        }

    def __str__(self) -> str:
        """One line: when, and the first few keys."""
        shown = [f"{key} {value:g}" for key, value in list(self.values.items())[:8]]
        more = f" and {len(self) - 8} more" if len(self) > 8 else ""
        told = f"{self.ends:%Y-%m-%d %H:%M:%S}  {', '.join(shown)}{more}"
        if self.within is None:
            return told
        return f"{told}  (within {self.within:.3g}, {100 * self.confidence:g}%)"
