"""What is done with events that are late, repeated or about keys that nobody listed.

Each is an object, stated before the stream begins and kept in the ledger. Each looks at the event
alone and at what its own person sent, and at the public clock; so it changes nothing about others.

Source: contract, "Spending" (streams).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count


@dataclass(frozen=True)
class CountWhenSeen:
    """A late event counts in the tick that is open when it is read: nothing is lost."""


@dataclass(frozen=True)
class LeaveOut:
    """The event is not counted."""


@dataclass(frozen=True)
class CountAs:
    """The event counts for a listed key that stands for all others."""

    key: str


@dataclass(frozen=True)
class Duplicates:
    """An identifier counts once; it is remembered for so many ticks, or to the end."""

    remembered: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no number of ticks."""
        if self.remembered is not None:
            object.__setattr__(self, "remembered", count("remembered", self.remembered))


@dataclass(frozen=True, kw_only=True)
class EventRules:
    """The rules of a stream.

    Attributes:
        late: For events of a tick that is closed: ``CountWhenSeen()`` or ``LeaveOut()``.
        unlisted: For keys that are not listed: ``LeaveOut()``, or ``CountAs("other")``.
        duplicates: How long identifiers are remembered.
    """

    late: CountWhenSeen | LeaveOut = CountWhenSeen()
    unlisted: LeaveOut | CountAs = LeaveOut()
    duplicates: Duplicates = Duplicates()

    def __post_init__(self) -> None:
        """Refuse what is no rule."""
        for name, kinds in (
            ("late", CountWhenSeen | LeaveOut),
            ("unlisted", LeaveOut | CountAs),
            ("duplicates", Duplicates),
        ):
            if not isinstance(value := getattr(self, name), kinds):
                raise InvalidParameter(
                    code="not_an_event_rule",
                    expectation=f"a rule for {name}=",
                    received=type(value).__name__,
                    remedy="Write EventRules(late=LeaveOut(), unlisted=CountAs('other')), or leave "
                    "it out.",
                )

    def to_dict(self) -> dict[str, Any]:
        """For the ledger, under names that never change."""
        unlisted = self.unlisted.key if isinstance(self.unlisted, CountAs) else None
        return {
            "late": "seen" if isinstance(self.late, CountWhenSeen) else "out",
            "unlisted": unlisted,
            "remembered": self.duplicates.remembered,
        }

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> EventRules:
        """As the ledger has them."""
        return cls(
            late=CountWhenSeen() if kept["late"] == "seen" else LeaveOut(),
            unlisted=LeaveOut() if kept["unlisted"] is None else CountAs(kept["unlisted"]),
            duplicates=Duplicates(kept["remembered"]),
        )
