"""What a planner knows: the workload, the spend, and what is public about the data.

Source: 004b:A22; contract, "Spending" (choices use public quantities alone).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.noise.randomness import Source
from discreet.queries.planning.objectives import Objective, RootMeanSquare
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount, require_size
from discreet.queries.synopses.synopsis import Synopsis
from discreet.queries.workload.cell_counts import Counted
from discreet.queries.workload.workload import Workload


class SynopsisMechanism(Protocol):
    """Releases a synopsis of counts at the price of one event."""

    @property
    def event(self) -> Event:
        """What one release costs."""

    def release(self, counts: Counted) -> Synopsis:
        """Make the synopsis."""


class MechanismBuilder(Protocol):
    """A class of mechanisms, or one with some of its parameters given (``functools.partial``)."""

    def __call__(
        self,
        *,
        workload: Workload,
        spend: Guarantee,
        size: RecordCount,
        records: int,
        randomness: Source,
    ) -> SynopsisMechanism:
        """The mechanism."""


@dataclass(frozen=True)
class ReleaseRequest:
    """A workload to be answered. Everything here is public.

    ``about`` is a public guess of the number of records, for errors that depend on it; where
    records are exchanged their number is public and need not be guessed.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount = field(default_factory=NoisyRecordCount)
    records: int = 1
    about: int | None = None
    objective: Objective = field(default_factory=RootMeanSquare)

    def __post_init__(self) -> None:
        """Refuse what is no workload, and counts that are none."""
        if not isinstance(self.workload, Workload):
            raise InvalidParameter(
                code="not_a_workload",
                expectation="a workload over a universe",
                received=type(self.workload).__name__,
                remedy="Write dp.queries.Workload.marginals(universe, 2).",
            )
        require_size(self.size)
        if not isinstance(self.objective, Objective):
            raise InvalidParameter(
                code="not_an_objective",
                expectation="what is to be small: RootMeanSquare() or LargestDeviation()",
                received=type(self.objective).__name__,
                remedy="Write objective=dp.queries.LargestDeviation(), or leave it out.",
            )
        object.__setattr__(self, "records", count("records", self.records))
        if self.about is not None:
            object.__setattr__(self, "about", count("about", self.about))
        elif isinstance(self.size, PublicCount):
            object.__setattr__(self, "about", self.size.records)

    def make_mechanism(self, build: MechanismBuilder, randomness: Source) -> SynopsisMechanism:
        """The mechanism for this request; refused if it is for other people than these."""
        made = build(
            workload=self.workload,
            spend=self.spend,
            size=self.size,
            records=self.records,
            randomness=randomness,
        )
        given = {"size": self.size, "records": self.records, "randomness": randomness}
        if any(getattr(made, name, value) != value for name, value in given.items()):
            raise InvalidParameter(
                code="mechanism_forgets",
                expectation="a mechanism with the size, records and randomness that it was given",
                received=type(made).__name__,
                remedy="Pass the class itself, or functools.partial of it.",
            )
        return made
