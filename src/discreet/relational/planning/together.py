"""Several queries that one question needs, planned as one: one spend, one split, one event.

They are measured as the queries of a batch are: what is asked twice is measured once, and the
event of the whole is fixed before its first answer.

Source: contract, "Spending"; 000a:C11. Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.relational.aggregates.aggregate import RankSelection
from discreet.relational.aggregates.ranked import ChosenByRank
from discreet.relational.database import Database
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import QueryOverAnswers
from discreet.relational.planning.allocation import Allocation, QuantileChoice, WeightedMeasure
from discreet.relational.planning.batch import Drawn, PlannedBatch
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery


@dataclass(frozen=True)
class PlannedTogether(PlannedQuery):
    """A question over several answers, with the spend for all of them."""

    def __post_init__(self) -> None:
        """Refuse keys to be discovered, and what any of the queries is refused for."""
        if not all(isinstance(query.keys, KeySet) for query in self.over.parts):
            raise InvalidParameter(
                code="keys_not_known",
                expectation="listed keys in a question over several answers",
                received="keys to be discovered",
                remedy="Ask for the answers one by one, or declare dp.Category.",
            )
        _ = self.batch.allocation
        super().__post_init__()

    @property
    def over(self) -> QueryOverAnswers:
        """The question with all its queries."""
        assert isinstance(self.query, QueryOverAnswers)
        return self.query

    @cached_property
    def batch(self) -> PlannedBatch:
        """The queries with their split, each cell as important as any other of its query."""
        queries = self.over.parts
        even = tuple(1.0 for _ in queries)
        return PlannedBatch(queries, even, self.spend, self.rows_at_most, self.randomness)

    @cached_property
    def parts(self) -> tuple[WeightedMeasure, ...]:
        """The different measures of all queries."""
        return self.batch.parts

    @cached_property
    def choosing(self) -> tuple[tuple[ChosenByRank, ...], ...]:
        """What is chosen by rank, query by query."""
        return tuple(group for planned in self.batch.planned for group in planned.choosing)

    @cached_property
    def choices(self) -> tuple[QuantileChoice, ...]:
        """What each choice needs to know."""
        return tuple(choice for planned in self.batch.planned for choice in planned.choices)

    @cached_property
    def allocation(self) -> Allocation:
        """The split over everything."""
        return self.batch.allocation

    def selection(self, number: int) -> RankSelection:
        """The mechanism of a choice, by its number among those of all queries."""
        for planned in self.batch.planned:
            if number < len(planned.choosing):
                return planned.selection(number)
            number -= len(planned.choosing)
        raise LookupError(number)

    @property
    def events(self) -> tuple[Event, ...]:
        """The parts of the event."""
        return self.batch.events

    def release(self, database: Database) -> MeasuredValues:
        """Run all queries; noise is drawn once for each measure. The only thing that reads data."""
        drawn = self.batch.release(database)
        return MeasuredValues(drawn.linear, tuple(each for part in drawn.chosen for each in part))

    def each(self, measured: MeasuredValues) -> list[tuple[PlannedQuery, MeasuredValues]]:
        """Every query with its own noisy values."""
        chosen, start = [], 0
        for planned in self.batch.planned:
            chosen.append(measured.chosen[start : start + len(planned.choosing)])
            start += len(planned.choosing)
        values = self.batch.unprocessed(Drawn(measured.linear, tuple(chosen)))
        return list(zip(self.batch.planned, values, strict=True))

    def blank(self) -> MeasuredValues:
        """Values of the shape that will be released, none of them read."""
        chosen = tuple(each for planned in self.batch.planned for each in planned.blank().chosen)
        return MeasuredValues(self.batch.blank(), chosen)

    def preflight(self, database: Database) -> None:
        """Find out what cannot be done before anything is paid."""
        self.batch.preflight(database)

    def texts(self, database: Database) -> list[str]:
        """What the engine would run, with a salt of zero."""
        return [text for planned in self.batch.planned for text in planned.texts(database)]
