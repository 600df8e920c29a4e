"""The event of a choice that looks at no data: one of several events happened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, Nothing, common_relation, require_event
from discreet.core.unit import Relation


@dataclass(frozen=True, repr=False)
class OneOf(Event):
    """One of several events, chosen at random or otherwise, but without a look at the data.

    Contract: the choice may be public, and may depend on earlier answers; not on data. Its price is
    under every accountant the largest of its parts', so that no law of the choice is relied on.
    Build with :func:`one_of`, which knows when there is nothing to choose.
    """

    kind: ClassVar[str] = "OneOf"

    parts: tuple[Event, ...]

    def __post_init__(self) -> None:
        """Accept any sequence of events about one relation, and nothing else."""
        object.__setattr__(self, "parts", tuple(require_event(part) for part in self.parts))
        if not self.parts:
            raise InvalidParameter(
                code="nothing_to_choose",
                expectation="at least one event of which one happens",
                remedy="Pass the events that may happen; Nothing() is one.",
            )
        self.relation()

    def relation(self) -> Relation | None:
        """That of the parts."""
        return common_relation(self.parts)


def one_of(events: tuple[Event, ...]) -> Event:
    """One of ``events``, each named once; equal ones are that event itself."""
    different = tuple(dict.fromkeys(OneOf(events).parts))
    some = tuple(event for event in different if not isinstance(event, Nothing))
    if len(some) > 1:
        return OneOf(some)
    return some[0] if some else Nothing()
