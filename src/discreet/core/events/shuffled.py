"""The event of shuffled local reports: who sent which is lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.events.mechanisms import Pure, RandomizedResponse
from discreet.core.parameters import count
from discreet.core.unit import Relation


@dataclass(frozen=True, repr=False)
class Shuffled(Event):
    """``people`` reports, each randomised alone by the same ``event``, in random order.

    Contract: ``event`` is pure for any two inputs of one person (local privacy), all people use
    the same randomiser, nothing but the multiset of reports is seen, and ``people`` counts only
    reports that are sure to arrive from people who do not tell the adversary theirs. For replaced
    neighbours: the number of people is public.
    """

    kind: ClassVar[str] = "Shuffled"

    event: Pure
    people: int

    def __post_init__(self) -> None:
        """Refuse all but a generic pure randomiser and k-ary randomized response."""
        if type(self.event) not in (Pure, RandomizedResponse):
            raise InvalidParameter(
                code="not_a_local_randomiser",
                expectation="Pure or RandomizedResponse as the randomiser of each person",
                received=getattr(self.event, "kind", type(self.event).__name__),
                remedy="Use Pure(epsilon=...) with the local epsilon of each report.",
            )
        object.__setattr__(self, "people", count("people", self.people))

    def relation(self) -> Relation | None:
        """One person's report is exchanged for another."""
        return Relation.REPLACE
