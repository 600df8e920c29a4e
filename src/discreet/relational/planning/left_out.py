"""A report of what the limits left out, bought for a share of the spend: planned, priced, drawn.

It is a measurement beside the answer's: people whom a limit cuts, and rows that do not count, with
noise and an event of their own. Where the last bounds of a question can act, it is about these, by
group; otherwise about the first step of the plan that limits a person's rows, in all.

Source: contract, "Bounding inside the engine", "Spending". Proof: ``proofs/left_out.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.core.unit import Person, add_remove
from discreet.noise.randomness import SYSTEM, integer
from discreet.relational.aggregates.aggregate import Aggregate, RankSelection
from discreet.relational.aggregates.count import Count
from discreet.relational.aggregates.measures import (
    CountPeople,
    CountRows,
    CountValues,
    Linear,
    Ranks,
    ValuesTotal,
)
from discreet.relational.bounding.before_joins import Limited
from discreet.relational.bounding.contributions import (
    ContributionBounds,
    bounds_of_presence,
    bounds_of_rows,
)
from discreet.relational.bounding.left_out import PLACES, LeftOutCaps, Limits
from discreet.relational.bounding.person_rows import Bounded
from discreet.relational.bounding.row_weights import PLACES as FINEST
from discreet.relational.bounding.row_weights import RowWeights, ensured_rows
from discreet.relational.execute.candidate_keys import stand_in
from discreet.relational.execute.left_out import left_out_exactly, left_out_statement
from discreet.relational.plan.keys import DiscoveredKeys, KeySet
from discreet.relational.plan.left_out import LeftOut, divided_by
from discreet.relational.plan.nodes import PlanNode
from discreet.relational.plan.query import Query
from discreet.relational.planning.allocation import Allocation, Noised, WeightedMeasure, allocate
from discreet.relational.planning.discovered_keys import Discovering
from discreet.relational.planning.planned_query import PlannedQuery
from discreet.relational.planning.together import PlannedTogether
from discreet.relational.planning.top_k import Ranking
from discreet.release.preview import Expected

if TYPE_CHECKING:
    from discreet.relational.database import Database


@dataclass(frozen=True)
class PlannedLeftOut:
    """A report with its spend. ``about`` is the question, ``whole`` what both cost together."""

    requested_report: LeftOut
    about: PlannedQuery
    spend: Guarantee
    whole: Guarantee

    def __post_init__(self) -> None:
        """Refuse a report where no limit on a person can act."""
        if isinstance(self.about, PlannedTogether):
            raise InvalidParameter(
                code="left_out_of_several",
                expectation="left_out= for a question that is answered by one query",
                received=len(self.about.over.parts),
                remedy="Ask the queries one by one, or in a batch, each with its own report.",
            )
        if not self.limits.act:
            raise nothing_left_out()
        _ = self.allocation

    @cached_property
    def _place(self) -> tuple[Bounded | Limited | None, Limits]:
        return limits_reported(self.about)

    @property
    def step(self) -> Bounded | Limited | None:
        """The step that is reported about; None where it is the last bounds."""
        return self._place[0]

    @property
    def limits(self) -> Limits:
        """The limits that can act there."""
        return self._place[1]

    @cached_property
    def groups(self) -> int:
        """In how many groups a person is counted as cut, at most."""
        if self.step is not None:
            return 1
        asked, about = self.requested_report.groups_at_most, self.about
        if asked is not None:
            return min(asked, about.cells)
        person = add_remove(about.query.unit) if about.person is None else about.person
        assert isinstance(person, Person)
        return bounds_of_presence(person, about.cells, about.query.unit).rows

    @cached_property
    def parts(self) -> tuple[WeightedMeasure, ...]:
        """People, and rows if they are asked for, with how far one unit moves them."""
        unit, most = self.about.query.unit, self.groups
        one = bounds_of_rows(1, unit)
        people = ContributionBounds(most, most, 1, most, one.swaps)
        places = 0 if self._everywhere else FINEST
        found = [WeightedMeasure(CountPeople(), people, 1.0, places)]
        if self.rows_at_most is not None:
            rows = bounds_of_rows(self.rows_at_most, unit)
            found.append(WeightedMeasure(CountRows(), rows, 1.0, PLACES))
        return tuple(found)

    @property
    def rows_at_most(self) -> int | None:
        """The cap on rows of one person; None where none are counted, or none can be left out."""
        return self.requested_report.rows_at_most if self.limits.leave_rows else None

    @cached_property
    def allocation(self) -> Allocation:
        """Noise of both, an equal part of the spend for each."""
        return allocate(self.parts, (), self.spend, self.about.randomness)

    @property
    def event(self) -> Event:
        """What the report costs."""
        return self.allocation.linear_event

    @property
    def charges(self) -> tuple[tuple[Guarantee, tuple[Event, ...]], ...]:
        """The share, and what it pays for."""
        return ((self.spend, (self.event,)),)

    @cached_property
    def caps(self) -> LeftOutCaps:
        """What the statement enforces."""
        places = [item.places or 0 for item in self.allocation.noised]
        return LeftOutCaps(self.groups, self.rows_at_most, places[0], places[-1])

    def make_report_query(self, query: Query) -> Query:
        """The question whose rows are looked at: by its keys; of a step, in all."""
        if self.step is None:
            return query
        return replace(
            query, rows=self.step.rows, keys=KeySet(()), key_places=(), aggregates=(), outputs=()
        )

    def release(self, query: Query, database: Database) -> tuple[NDArray[Any], ...]:
        """Noisy numbers by cell, in steps. Reads data; ``query`` has every key known."""
        exactly = left_out_exactly(
            self.make_report_query(query),
            self.limits,
            self.caps,
            database.engine,
            salt=integer(SYSTEM, 62),
        )
        noised = self.allocation.noised
        return tuple(
            self.about.noisy(values, item) for values, item in zip(exactly, noised, strict=True)
        )

    def texts(self, database: Database) -> list[str]:
        """What the engine would run, with a salt of zero."""
        query = self.make_report_query(self.about.query)
        if isinstance(query.keys, DiscoveredKeys):
            query = replace(query, keys=query.keys.make_public_keys(stand_in(query.keys)))
        return [left_out_statement(query, self.limits, self.caps, database.engine)]

    def preflight(self, database: Database) -> None:
        """Draw noise for nothing and write the text, so that what cannot be done is known now."""
        for item in self.allocation.noised:
            item.mechanism.release(0)
        self.texts(database)

    def expected(self, confidence: float) -> tuple[Expected, ...]:
        """How wrong each number will be."""
        return tuple(
            Count(part.measure).expected(name, self, confidence)  # type: ignore[arg-type]
            for part, (name, _) in zip(self.parts, self.name_report_columns(), strict=True)
        )

    def noise(self, measure: Linear) -> Noised:
        """The noise of people, or of rows."""
        return next(item for item in self.allocation.noised if item.measure == measure)

    def selection_of(self, aggregate: Aggregate) -> RankSelection:
        """Nothing is chosen by rank."""
        raise LookupError(type(aggregate).__name__)

    def name_report_columns(self) -> tuple[tuple[str, Noised], ...]:
        """The columns of the report with their noise; "at least" where a cap can hold them down."""
        people = "people" if self._everywhere else "people_at_least"
        return tuple(zip((people, "rows_at_least"), self.allocation.noised, strict=False))

    @property
    def _everywhere(self) -> bool:
        """Whether a person who is cut is counted in every group where that is so."""
        return self.groups >= (1 if self.step is not None else self.about.cells)


def limits_reported(about: PlannedQuery) -> tuple[Bounded | Limited | None, Limits]:
    """What a report is about: the last bounds of a question, or else a step, and its limits."""
    last = _last(about)
    step = None if last.act else _first_step(about.query.rows)
    return step, last if step is None else Limits(rows=step.limit)


def _last(about: PlannedQuery) -> Limits:
    person = about.person
    measures = [m for each in about.query.aggregates for m in each.measures]
    ranked = isinstance(about, Ranking) and isinstance(about.measure, CountPeople)
    if person is None or ranked:
        return Limits()
    found = Limits()
    if isinstance(about, Discovering) or any(isinstance(m, CountPeople) for m in measures):
        found = replace(found, presence=_presence(about, person))
    if all(isinstance(m, CountPeople) for m in measures):
        return found
    sampled = [isinstance(m, Ranks | CountValues | ValuesTotal) for m in measures]
    return _row_limits(about, person, found, whole=any(sampled), weighted=not all(sampled))


def _row_limits(
    about: PlannedQuery, person: Person, found: Limits, *, whole: bool, weighted: bool
) -> Limits:
    """Limits on rows: of sums by weight, and on groups where whole rows are sampled."""
    made = ensured_rows(about.query.rows)
    most = math.inf if made is None else made
    weights = RowWeights.of_rows(person, about.cells)
    rows = weights.rows if weighted else person.rows()
    each = weights.rows_per_group
    groups = person.max_groups if whole else None
    if groups is not None and min(most, about.cells) <= groups:
        groups = None
    presence = found.presence
    if weighted and groups is not None:  # sums leave out by weight, whatever the sample does
        presence = groups if presence is None else min(groups, presence)
        groups = None
    return Limits(
        rows=rows if most > rows else None,
        rows_per_group=each if most > each and each < rows else None,
        groups=groups,
        presence=presence,
    )


def _presence(about: PlannedQuery, person: Person) -> int | None:
    made = ensured_rows(about.query.rows)
    most = bounds_of_presence(person, about.cells, about.query.unit).rows
    return most if min(about.cells, about.cells if made is None else made) > most else None


def _first_step(rows: PlanNode) -> Bounded | Limited | None:
    """The step nearest to the answer that may leave rows of a person out."""
    if isinstance(rows, Bounded | Limited):
        made = ensured_rows(rows.rows)
        if rows.rows.privacy_id is not None and (made is None or made > rows.limit):
            return rows
    below = (_first_step(each) for each in rows.inputs)
    return next((step for step in below if step is not None), None)


@dataclass(frozen=True)
class PlannedReports:
    """The reports of a batch: one for each question on which a limit can act, else None."""

    requested_report: LeftOut
    planned: tuple[PlannedLeftOut | None, ...]
    whole: Guarantee

    @property
    def _paid_reports(self) -> list[PlannedLeftOut]:
        return [report for report in self.planned if report is not None]

    @property
    def events(self) -> tuple[Event, ...]:
        """What each of them costs."""
        return tuple(report.event for report in self._paid_reports)

    @property
    def charges(self) -> tuple[tuple[Guarantee, tuple[Event, ...]], ...]:
        """An equal part of the share for each."""
        return tuple(charge for report in self._paid_reports for charge in report.charges)

    def release(self, database: Database) -> tuple[tuple[NDArray[Any], ...], ...]:
        """The noisy numbers of each; none where there is no report. Reads data."""
        return tuple(
            () if report is None else report.release(report.about.query, database)
            for report in self.planned
        )

    def preflight(self, database: Database) -> None:
        """Find out what cannot be done before anything is paid."""
        for report in self._paid_reports:
            report.preflight(database)


def reports_of(
    left_out: LeftOut, planned: Sequence[PlannedQuery], share: Guarantee, whole: Guarantee
) -> PlannedReports:
    """Reports of the questions on which limits can act; refused where they can on none."""
    acting = [limits_reported(each)[1].act for each in planned]
    if not any(acting):
        raise nothing_left_out()
    part = divided_by(share, sum(acting))
    reports = (
        PlannedLeftOut(left_out, each, part, whole) if acts else None
        for each, acts in zip(planned, acting, strict=True)
    )
    return PlannedReports(left_out, tuple(reports), whole)


def nothing_left_out() -> InvalidParameter:
    """The refusal of a report that could only say zero."""
    return InvalidParameter(
        code="nothing_left_out",
        expectation="left_out= where a limit on a person's rows or groups can act",
        remedy="Leave left_out= out: nobody is cut. The lines `limit:` under an answer say which "
        "limits can act.",
    )


def with_left_out(
    left_out: LeftOut, spend: Guarantee, plan: Callable[[Guarantee], PlannedQuery]
) -> PlannedQuery:
    """A question planned at what is left of a spend, with the report for its share."""
    rest, share = left_out.divided(spend)
    planned = plan(rest)
    return replace(planned, left_out=PlannedLeftOut(left_out, planned, share, spend))
