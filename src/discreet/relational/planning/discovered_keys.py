"""Questions whose keys nobody listed: keys are found first, the rest is asked about those alone.

One part of the spend names keys by how many people have each; where the question counts people,
or rows of which each person has one, their noisy numbers come with the names. The other part
answers everything else, as an ordinary question about the named keys. Both parts and the event
follow from public quantities.

Source: contract, "Columns" (discovered keys); modern-data:P1-P5.
Proof: ``proofs/key_selection.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, Nothing, compose
from discreet.core.guarantee import ZCDP, ApproxDP, ApproxZCDP, Guarantee, PureDP
from discreet.core.parameters import exact
from discreet.mechanisms.distributions.distribution import Distribution
from discreet.mechanisms.key_selection import (
    ConcentratedThreshold,
    KeySelectionRule,
    plan_counts,
    plan_names,
)
from discreet.noise.randomness import SYSTEM, Source, integer
from discreet.relational.aggregates.measures import CountPeople, CountRows, Linear
from discreet.relational.bounding.contributions import ContributionBounds, bounds_of_presence, swaps
from discreet.relational.compile.compiler import Compiler
from discreet.relational.database import Database
from discreet.relational.execute.candidate_keys import candidates, candidates_text, stand_in
from discreet.relational.execute.exact_aggregation import aggregate_exactly, statements
from discreet.relational.plan.keys import DiscoveredKeys, KeySet
from discreet.relational.plan.query import Query, QueryOverAnswers
from discreet.relational.planning.allocation import Allocation, WeightedMeasure, allocate, shares
from discreet.relational.planning.planned_query import MeasuredValues, PlannedQuery
from discreet.relational.planning.together import PlannedTogether
from discreet.relational.planning.top_k import ranking

_MANY = 1 << 40
"""More groups than anybody is in: how many keys there will be is not known beforehand."""


@dataclass(frozen=True)
class PublishedCounts:
    """The number of people of each named key, with the noise of the rule that named it."""

    measure: Linear
    mechanism: KeySelectionRule

    whole = True
    places = None

    @property
    def step(self) -> float:
        """Counts are whole."""
        return 1.0

    @property
    def distribution(self) -> Distribution:
        """Noise as drawn, before keys with low noisy counts are left out."""
        distribution = self.mechanism.distribution
        assert distribution is not None
        return distribution


@dataclass(frozen=True)
class Discovering(PlannedQuery):
    """A question whose keys are discovered. ``sought`` says which; named ones are measured."""

    sought: DiscoveredKeys | None = None

    def __post_init__(self) -> None:
        """Refuse spends without a delta and units that may be several people of one key."""
        _require_delta(self.spend)
        _ = self.rule
        super().__post_init__()

    @property
    def cells(self) -> int:
        """No number of keys is known beforehand, so nothing is gained from few."""
        return _MANY

    @cached_property
    def presence(self) -> ContributionBounds:
        """In how many keys one unit is counted: once in each."""
        if self.person is not None:
            if self.person.max_groups is None and self.person.max_rows is None:
                raise InvalidParameter(
                    code="unbounded_person",
                    expectation="max_groups, the most keys in which one person is counted",
                    remedy=f'Write Person("{self.person.id}", max_groups=...), a public bound.',
                )
            return bounds_of_presence(self.person, _MANY, self.query.unit)
        if self.query.rows.stability != 1:
            raise InvalidParameter(
                code="people_not_counted",
                expectation="rows that are one person each, or that still belong to one person",
                received=self.query.rows.stability,
                remedy="Discover keys before DISTINCT, UNION or a join that repeats rows.",
            )
        return ContributionBounds(1, 1, 1, 1, swaps(self.query.unit))

    @cached_property
    def published(self) -> frozenset[Linear]:
        """The measures that are how many people have a key: what the rule counts.

        Where one row of a person counts, rows are people: ``COUNT(*)`` is one of them.
        """
        if self.person is None:
            return frozenset({CountRows()})
        one_row: set[Linear] = {CountRows()} if self.person.max_rows == 1 else set()
        return frozenset({CountPeople(), *one_row})

    @cached_property
    def published_measure(self) -> Linear | None:
        """The measure that the rule publishes beside the names, if the question asks for it."""
        every = {m for aggregate in self.query.aggregates for m in aggregate.measures}
        wanted: tuple[Linear, ...] = (CountPeople(), CountRows())
        return next((m for m in wanted if m in every & self.published), None)

    @cached_property
    def parts(self) -> tuple[WeightedMeasure, ...]:
        """The measures that the other part of the spend pays for."""
        return tuple(part for part in super().parts if part.measure not in self.published)

    @cached_property
    def shares(self) -> tuple[Guarantee, Guarantee | None]:
        """What names the keys, and what answers the rest: None if there is nothing else.

        Keys weigh as much as one count. Of delta the rest gets half, if normal noise is better
        for it, and else nothing.
        """
        weights = [1.0, *(part.weight for part in self.parts), *(c.weight for c in self.choices)]
        if len(weights) == 1:
            return self.spend, None
        spend = self.spend
        if isinstance(spend, ApproxZCDP):
            rho, share = exact(spend.rho), _coarse(shares(weights, 1 / 2)[0])
            return (
                replace(spend, rho=rho * share),
                ZCDP(rho=rho * (1 - share), unit=spend.unit),
            )
        assert isinstance(spend, ApproxDP)
        epsilon, share = exact(spend.epsilon), _coarse(shares(weights, 1 / 3)[0])
        half = exact(spend.delta) / 2
        rest = replace(spend, epsilon=epsilon * (1 - share), delta=half)
        if _is_pure(allocate(self.parts, self.choices, rest, SYSTEM), self.parts, rest):
            return (
                replace(spend, epsilon=epsilon * share),
                PureDP(epsilon=epsilon * (1 - share), unit=spend.unit),
            )
        return replace(spend, epsilon=epsilon * share, delta=half), rest

    @cached_property
    def rule(self) -> KeySelectionRule:
        """How keys are named."""
        assert self.sought is not None
        spend = self.shares[0]
        common: dict[str, Any] = {
            "delta": spend.delta,  # type: ignore[attr-defined]
            "groups": self.presence.groups,
            "swaps": self.presence.swaps,
            "min_people": self.sought.min_people,
            "randomness": self.randomness,
        }
        if isinstance(spend, ApproxZCDP):
            return ConcentratedThreshold(rho=spend.rho, **common)
        assert isinstance(spend, ApproxDP)
        plan = plan_names if self.published_measure is None else plan_counts
        return plan(epsilon=spend.epsilon, **common)

    @cached_property
    def allocation(self) -> Allocation:
        """Noise of everything but the names."""
        rest = self.shares[1]
        if rest is None:
            return Allocation((), (), Nothing())
        return allocate(self.parts, self.choices, rest, self.randomness)

    @cached_property
    def event(self) -> Event:
        """What names and answers cost together."""
        return compose((self.rule.event, self.allocation.linear_event, *self.choice_events))

    @property
    def charges(self) -> tuple[tuple[Guarantee, tuple[Event, ...]], ...]:
        """What each part of the spend pays for."""
        keys, rest = self.shares
        paid: tuple[tuple[Guarantee, tuple[Event, ...]], ...] = ((keys, (self.rule.event,)),)
        if rest is None:
            return paid
        return (*paid, (rest, (self.allocation.linear_event, *self.choice_events)))

    def noised(self, measure: Linear) -> tuple[int, Any]:
        """Place and noise of a measure; people of named keys come last."""
        if measure in self.published:
            return len(self.parts), PublishedCounts(measure, self.rule)
        return super().noised(measure)

    def release(self, database: Database) -> MeasuredValues:
        """Name keys, then ask about those. The only thing that reads data."""
        assert self.sought is not None
        groups = None if self.person is None else self.presence.groups
        found = candidates(
            self.sought, self.query.rows, groups, database.engine, salt=integer(SYSTEM, 62)
        )
        kept = self.rule.release(found.people)
        entries, order = found.entries(kept.chosen)
        linear, chosen = self._rest(entries, database)
        if self.published_measure is not None:
            assert kept.counts is not None
            linear = (*linear, kept.counts[order])
        return MeasuredValues(linear, chosen, entries)

    def _rest(
        self, entries: tuple[tuple[object, ...], ...], database: Database
    ) -> tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]:
        """Noisy measures and chosen quantiles of the named keys."""
        noised = self.allocation.noised
        if not entries:
            return (
                tuple(np.zeros(0, dtype=np.int64) for _ in noised),
                tuple(np.zeros((0, len(group))) for group in self.choosing),
            )
        if self.shares[1] is None:
            return (), ()
        exactly = aggregate_exactly(
            self._about(entries),
            [item.exact for item in noised],
            [group[0].ranks for group in self.choosing],
            self.person,
            database.engine,
            salt=integer(SYSTEM, 62),
        )
        linear = tuple(
            self.noisy(values, item) for values, item in zip(exactly.linear, noised, strict=True)
        )
        return linear, self.chosen(exactly)

    def answered(self, measured: MeasuredValues) -> Discovering:
        """The same question about the keys that were named, which are public now."""
        assert measured.keys is not None
        return replace(self, query=self._about(measured.keys))

    def _about(self, entries: tuple[tuple[object, ...], ...]) -> Query:
        assert self.sought is not None
        return replace(self.query, keys=self.sought.make_public_keys(entries))

    def preflight(self, database: Database) -> None:
        """Choose among no keys and write the text, so that what cannot be done is known now."""
        self.rule.release(np.ones(1, dtype=np.int64))
        for item in self.allocation.noised:
            item.mechanism.release(0)
        for number in range(len(self.choices)):
            self.selection(number)
        self.texts(database)

    def texts(self, database: Database) -> list[str]:
        """What the engine would run: the candidates, then the rest for keys that were named."""
        assert self.sought is not None
        engine = database.engine
        groups = None if self.person is None else self.presence.groups
        compiler = Compiler.of(engine, salt=0)
        first = candidates_text(self.sought, self.query.rows, groups, compiler)
        if self.shares[1] is None:
            return [first]
        measures = [item.exact for item in self.allocation.noised]
        ranks = [group[0].ranks for group in self.choosing]
        about = self._about(stand_in(self.sought))
        return [first, *statements(about, [*measures, *ranks], self.person, engine)]


def planned_query_for(
    query: Query,
    spend: Guarantee,
    rows_at_most: int,
    randomness: Source = SYSTEM,
) -> PlannedQuery:
    """The question made ready to be paid for: its keys listed, ranked or discovered."""
    given = (query, spend, rows_at_most, randomness)
    if isinstance(query, QueryOverAnswers):
        if query.others:
            return PlannedTogether(*given)
        if isinstance(query.keys, KeySet):
            return PlannedQuery(*given)
    if isinstance(query.keys, KeySet):
        return ranking(PlannedQuery(*given))
    return Discovering(*given, sought=query.keys)


def _coarse(share: Fraction) -> Fraction:
    """In whole thousandths, so that both parts of a charge add up to the spend in exact steps."""
    return Fraction(min(max(round(share * 1000), 1), 999), 1000)


def _is_pure(allocation: Allocation, parts: tuple[WeightedMeasure, ...], spend: ApproxDP) -> bool:
    """Whether the noise that is best at (epsilon, delta) is the one without a delta."""
    pure = allocate(parts, (), PureDP(epsilon=spend.epsilon), SYSTEM) if parts else allocation
    kinds = [type(item.mechanism) for item in allocation.noised]
    return kinds == [type(item.mechanism) for item in pure.noised]


def _require_delta(spend: Guarantee) -> None:
    if isinstance(spend, ApproxDP | ApproxZCDP) and spend.delta > 0:
        return
    raise InvalidParameter(
        code="keys_need_delta",
        expectation="a spend with delta > 0, without which no unlisted key can be named",
        received=type(spend).__name__,
        remedy="Spend dp.ApproxDP(epsilon=..., delta=...); from a zCDP budget "
        "dp.ApproxZCDP(rho=..., delta=...), if it was opened with a delta. Or list the keys with "
        "dp.Category.",
    )
