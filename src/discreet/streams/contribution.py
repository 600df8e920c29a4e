"""How far one event moves the numbers of its tick.

Counts of one key move by one. A bounded number moves a sum by its bound, in whole steps of a public
grid; an event that counts under several keys, such as the levels of a tree over values, moves each.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.core.parameters import Number, count, exact, positive


@dataclass(frozen=True, kw_only=True)
class EventContribution:
    """The distance between the numbers of a tick with and without one event, in whole steps.

    ``l1`` is the sum of absolute differences, ``l2_squared`` of squares, ``largest`` the greatest.

    Contract: whoever feeds a stream clamps what each event adds so that all three hold.
    """

    l1: Number
    l2_squared: Number
    largest: Number

    def __post_init__(self) -> None:
        """Refuse distances that are not positive."""
        for name in ("l1", "l2_squared", "largest"):
            object.__setattr__(self, name, exact(positive(name, getattr(self, name))))

    @classmethod
    def of(cls, *, bound: int = 1, keys: int = 1) -> EventContribution:
        """An event that moves up to ``keys`` numbers, each by at most ``bound`` steps.

        >>> EventContribution.of(bound=3, keys=2).l1
        Fraction(6, 1)
        """
        size, many = count("bound", bound), count("keys", keys)
        return cls(l1=size * many, l2_squared=size**2 * many, largest=size)


ONE_COUNT = EventContribution(l1=1, l2_squared=1, largest=1)
"""An event is counted once, under one key."""


@dataclass(frozen=True)
class StreamSensitivity:
    """How far neighbouring streams move everything that a counter measures: L1, and squared L2."""

    l1: Fraction
    l2_squared: Fraction
