"""The k keys that most people have, named in order and without their counts.

Asked as ``SELECT key ... GROUP BY key ORDER BY COUNT(...) DESC LIMIT k``. Keys are chosen one by
one among the declared ones, each time by a private selection over the exact counts of those left.
One person moves every count by at most one, and all in one direction, so a choice costs the same
however many keys the person has: nobody's keys need to be cut. Where few keys per person make
noise on all counts the smaller, the question is answered in that way instead.

Source: modern-data:N2; 000a:C7. Proof: ``proofs/key_selection.md`` (ranking).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from discreet.core.events.event import Event, Nothing
from discreet.core.guarantee import ApproxDP, PureDP, RenyiDP
from discreet.core.parameters import exact
from discreet.core.unit import Person
from discreet.mechanisms import GENERAL, MONOTONE, Exponential, PermuteAndFlip
from discreet.mechanisms.grid import sqrt_above
from discreet.mechanisms.selection import Selection
from discreet.noise.randomness import SYSTEM, integer
from discreet.relational.aggregates.measures import CountPeople, Linear
from discreet.relational.bounding.contributions import swaps
from discreet.relational.database import Database
from discreet.relational.execute.exact_aggregation import aggregate_exactly, statements
from discreet.relational.plan.keys import Block, KeySet
from discreet.relational.plan.query import KeyOutput, Query
from discreet.relational.planning.allocation import Allocation
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery
from discreet.relational.types.expression import Column


@dataclass(frozen=True)
class Ranking(PlannedQuery):
    """A question for the first k keys alone, chosen one after the other."""

    @property
    def keys(self) -> KeySet:
        """The declared keys, among which it chooses."""
        assert isinstance(self.query.keys, KeySet)
        return self.query.keys

    @cached_property
    def picks(self) -> int:
        """How many keys are named."""
        assert self.query.limit is not None
        return min(self.query.limit, self.keys.cells)

    @cached_property
    def measure(self) -> Linear:
        """What keys are ranked by."""
        (aggregate,) = self.query.aggregates
        assert aggregate.additive is not None
        return aggregate.additive

    @cached_property
    def bounded_person(self) -> Person | None:
        """Whose rows are cut, and how: people are counted once in each of all their keys."""
        if self.person is None or not isinstance(self.measure, CountPeople):
            return self.person
        return replace(self.person, max_rows=None, max_groups=None, max_rows_per_group=None)

    @cached_property
    def farthest(self) -> int:
        """The most by which one unit moves one count, either way."""
        if isinstance(self.measure, CountPeople):
            return 1
        return self.contributions(self.measure).most

    @cached_property
    def epsilon(self) -> Fraction:
        """What each choice costs, rounded down."""
        spend = self.spend
        if isinstance(spend, PureDP | ApproxDP):
            return exact(spend.epsilon) / self.picks
        if isinstance(spend, RenyiDP):
            rho = exact(spend.epsilon) / exact(spend.alpha)
        else:
            rho = exact(spend.rho)  # type: ignore[attr-defined]
        return 1 / sqrt_above(Fraction(self.picks) / (8 * rho))

    @cached_property
    def choice(self) -> Selection:
        """One choice among those left.

        Counts rise or fall together, except under Replace, and where rows have no owner any
        more: a unit that comes may then push out rows of others.
        """
        together = swaps(self.query.unit) == 1 and (
            self.person is not None or self.query.rows.stability == 1
        )
        kind = Exponential if self._concentrated else PermuteAndFlip
        return kind(
            epsilon=self.epsilon,
            sensitivity=self.farthest,
            scores=MONOTONE if together else GENERAL,
            randomness=self.randomness,
        )

    @cached_property
    def parts(self) -> tuple[Any, ...]:
        """Nothing is noised."""
        return ()

    @cached_property
    def allocation(self) -> Allocation:
        """No noise on counts, which are not released."""
        return Allocation((), (), Nothing())

    @property
    def events(self) -> tuple[Event, ...]:
        """One choice for each key that is named."""
        return (self.choice.event * self.picks,)

    def release(self, database: Database) -> MeasuredValues:
        """Choose, take out, choose again. The only thing that reads data."""
        exactly = aggregate_exactly(
            self.query,
            [self.measure],
            [],
            self.bounded_person,
            database.engine,
            salt=integer(SYSTEM, 62),
        )
        return MeasuredValues(
            (), (), self._choose_top_keys(np.asarray(exactly.linear[0], dtype=np.int64))
        )

    def _choose_top_keys(self, counts: Any) -> tuple[tuple[object, ...], ...]:
        left, first = np.arange(len(counts)), []
        for _ in range(self.picks):
            place = self.choice.release(counts[left])
            first.append(int(left[place]))
            left = np.delete(left, place)
        columns = [self.keys.column(block, place) for block, place in self.query.key_places]
        return tuple(tuple(column[cell] for column in columns) for cell in first)

    def answered(self, measured: MeasuredValues) -> PlannedQuery:
        """The named keys, in their order; the counts behind them stay secret."""
        assert measured.keys is not None
        expressions = tuple(
            self.keys.blocks[block].expressions[place] for block, place in self.query.key_places
        )
        about = replace(
            self.query,
            keys=KeySet((Block(expressions, measured.keys),)),
            key_places=tuple((0, number) for number in range(len(expressions))),
            order=(),
        )
        return replace(self, query=about)

    def preflight(self, database: Database) -> None:
        """Choose among nothing and write the text, so that what cannot be done is known now."""
        self.choice.release(np.zeros(1, dtype=np.int64))
        self.texts(database)

    def texts(self, database: Database) -> list[str]:
        """What the engine would run, with a salt of zero."""
        return statements(self.query, [self.measure], self.bounded_person, database.engine)


def ranking(planned: PlannedQuery) -> PlannedQuery:
    """The query as a ranking, where it asks for one and choices beat noise on every count.

    Only public quantities decide: the spread of what a choice adds to a count against that of
    the noise.
    """
    if not _ranks(planned.query):
        return planned
    made = Ranking(
        planned.query,
        planned.spend,
        planned.rows_at_most,
        planned.randomness,
    )
    spread = 1 / float(made.choice.rate())
    noise = planned.allocation.noised[0].distribution.std
    return made if spread < noise else planned


def _ranks(query: Query) -> bool:
    """Whether nothing is asked for but the first few keys by one count."""
    if (
        query.limit is None
        or query.limit == 0
        or query.offset
        or query.having is not None
        or len(query.aggregates) != 1
        or len(query.order) != 1
        or not isinstance(query.keys, KeySet)
        or query.keys.cells < 2
    ):
        return False
    (aggregate,), (order,) = query.aggregates, query.order
    falling = isinstance(order.expression, Column) and order.expression.name == "agg0"
    named = all(isinstance(output, KeyOutput) for output in query.outputs)
    return aggregate.is_size and falling and order.sign < 0 and named
