"""A question made ready to be paid for: measures, sensitivities, noise, and the event of it all.

Everything but :meth:`PlannedQuery.release` follows from public quantities.

Source: contract, "Spending", "Numbers"; 004d:F22. Proof: ``proofs/relational.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP, ApproxZCDP, Guarantee, RenyiDP
from discreet.core.measurement import Measurement
from discreet.core.space import Space
from discreet.core.unit import Person
from discreet.mechanisms import quantiles
from discreet.noise.randomness import SYSTEM, Source, integer
from discreet.relational.aggregates.aggregate import Aggregate, RankSelection
from discreet.relational.aggregates.measures import (
    CountPeople,
    CountValues,
    Linear,
    Measure,
    Ranks,
    ValuesTotal,
)
from discreet.relational.aggregates.ranked import ChosenByRank, chosen_together, rounds, selection
from discreet.relational.aggregates.weighted import Weighted
from discreet.relational.bounding.contributions import (
    ContributionBounds,
    bounds_of_person,
    bounds_of_presence,
    bounds_of_rows,
    bounds_of_values,
)
from discreet.relational.bounding.key_truncation import cut_by
from discreet.relational.bounding.row_weights import PLACES, ensured_rows
from discreet.relational.database import Database, Databases, Units
from discreet.relational.execute.candidate_keys import keys_from_dict, keys_to_dict
from discreet.relational.execute.exact_aggregation import (
    ExactAggregates,
    Statements,
    aggregate_exactly,
    statements,
)
from discreet.relational.limits.resources import require_numbers, require_size
from discreet.relational.plan.features import one_row_in_each
from discreet.relational.plan.keys import KeySet
from discreet.relational.plan.query import Query
from discreet.relational.planning.allocation import (
    Allocation,
    Noised,
    QuantileChoice,
    WeightedMeasure,
    allocate,
)
from discreet.relational.planning.noise_range import require_squares
from discreet.relational.planning.report import Report
from discreet.relational.types.data_type import LARGEST_WHOLE

_LARGEST_TOTAL = 1 << 124
_SMALL = 1 << 61
_MOST_LEVELS = 1 << 12
_READY = "ready"
"""Where a planned query keeps what was written for its next release: no field, and no copy's."""


@dataclass(frozen=True)
class MeasuredValues:
    """Noisy values by cell, in steps of each measure's grid, and chosen quantiles.

    ``keys`` holds the combinations of keys that were discovered; None where they were listed.
    ``left_out`` are the numbers of a report of what the limits left out, where one was bought.
    """

    linear: tuple[NDArray[Any], ...]
    chosen: tuple[NDArray[Any], ...]
    keys: tuple[tuple[object, ...], ...] | None = None
    left_out: tuple[NDArray[Any], ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, to be kept."""
        told = None if self.left_out is None else [values.tolist() for values in self.left_out]
        return {
            "linear": [values.tolist() for values in self.linear],
            "chosen": [values.tolist() for values in self.chosen],
            **({} if self.keys is None else {"keys": keys_to_dict(self.keys)}),
            **({} if told is None else {"left_out": told}),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> MeasuredValues:
        """What :meth:`to_dict` wrote."""
        return cls(
            tuple(whole_array(values) for values in plain["linear"]),
            tuple(_chosen_array(values) for values in plain["chosen"]),
            keys_from_dict(plain["keys"]) if "keys" in plain else None,
            tuple(map(whole_array, plain["left_out"])) if "left_out" in plain else None,
        )


@dataclass(frozen=True)
class Settled:
    """Noise decided elsewhere, with the name of each measure there."""

    allocation: Allocation
    names: tuple[str, ...]


@dataclass(frozen=True)
class PlannedQuery:
    """A question with its spend.

    ``rows_at_most`` bounds the private rows, for overflow. ``emphasis`` replaces the weights of
    the linear measures, where a wanted accuracy decides the split. ``settled`` is the part of an
    allocation that several questions share, where this is one of them. ``names`` are those under
    which the draws of each measure were released, where they were kept in another order.
    ``left_out`` is the report of what limits leave out,
    where one is bought beside the answer: from a part of its own of what is paid, of which
    ``spend`` is the rest.
    """

    query: Query
    spend: Guarantee
    rows_at_most: int
    randomness: Source = SYSTEM
    emphasis: tuple[float, ...] | None = None
    settled: Settled | None = None
    names: tuple[str, ...] | None = None
    left_out: Report | None = None

    def __post_init__(self) -> None:
        """Refuse questions of public tables alone, too large ones, numbers that do not fit."""
        if self.query.rows.stability == 0:
            raise InvalidParameter(
                code="public_question",
                expectation="a private table in the question",
                remedy="Public tables need no curator; read them directly.",
            )
        every = (m for aggregate in self.query.aggregates for m in aggregate.measures)
        measures = tuple(dict.fromkeys(every))
        require_size(self.query, measures)
        if isinstance(self.query.keys, KeySet):
            require_numbers(self.query.keys, measures)
        for noised in self.allocation.noised:
            if self._most(noised) >= _LARGEST_TOTAL:
                raise InvalidParameter(
                    code="total_overflows",
                    expectation=f"sums below 2**{_LARGEST_TOTAL.bit_length() - 1} steps for "
                    f"{self.rows_at_most} rows",
                    remedy="Declare narrower bounds, or rows_at_most= on the table.",
                )
        linear = [part.measure for part in self.parts]
        require_squares(self.query, dict(zip(linear, self.allocation.noised, strict=True)))

    @cached_property
    def person(self) -> Person | None:
        """The person whose rows are bounded, where rows have owners."""
        person = self.query.person
        if person is None or not self._once:
            return person
        return replace(person, max_rows_per_group=1)

    @property
    def _once(self) -> bool:
        """Whether a person has at most one row in a group, which bounding then enforces."""
        return one_row_in_each(self.query.rows, self.query.keys)

    @property
    def cut_by(self) -> str | None:
        """Whose limits may leave rows out, for a reader; None where nothing can be."""
        return "a person's" if self.person is not None else cut_by(self.query.rows)

    @property
    def cells(self) -> int:
        """How many groups there are, as far as that is known beforehand."""
        return self.query.keys.cells

    @cached_property
    def parts(self) -> tuple[WeightedMeasure, ...]:
        """The different linear measures, each with all the weight the columns give it."""
        weights: dict[Linear, float] = {}
        for aggregate in self.query.aggregates:
            for measure, weight in zip(aggregate.measures, aggregate.weights, strict=True):
                if not isinstance(measure, Ranks):
                    weights[measure] = weights.get(measure, 0.0) + weight
        if self.emphasis is not None:
            weights = dict(zip(weights, self.emphasis, strict=True))
        return tuple(
            WeightedMeasure(m, self.contributions(m), weight, self.places(m))
            for m, weight in weights.items()
        )

    @cached_property
    def choosing(self) -> tuple[tuple[ChosenByRank, ...], ...]:
        """The aggregates chosen by rank; several levels of one column are chosen together."""
        return chosen_together(self.query.aggregates)

    @cached_property
    def choices(self) -> tuple[QuantileChoice, ...]:
        """What each of them needs to know for the split."""
        return tuple(
            QuantileChoice(
                self.contributions(group[0].ranks),
                float(len(group)),
                rounds(group, self._choice),
            )
            for group in self.choosing
        )

    @cached_property
    def allocation(self) -> Allocation:
        """The split and the noise."""
        if self.settled is not None:
            return self.settled.allocation
        return allocate(self.parts, self.choices, self.spend, self.randomness)

    def contributions(self, measure: Linear | Ranks) -> ContributionBounds:
        """How many rows of a measure one unit can change."""
        query, cells = self.query, self.cells
        if self.person is None:
            if isinstance(measure, CountPeople):
                raise InvalidParameter(
                    code="no_owner",
                    expectation="rows that still belong to one person each",
                    remedy="Count people before DISTINCT, UNION or a join on another key.",
                )
            changed = query.rows.stability
            assert changed is not None
            return bounds_of_rows(changed, query.unit)
        match measure:
            case CountPeople():
                return bounds_of_presence(self.person, cells, query.unit)
            case CountValues():
                return bounds_of_values(self.person, cells, measure.most, query.unit)
            case ValuesTotal():
                return bounds_of_values(self.person, cells, measure.values, query.unit)
        return bounds_of_person(self.person, cells, query.unit)

    def places(self, measure: Linear) -> int | None:
        """How finely rows may count by weight: not at all where nobody can exceed a limit."""
        if self.person is None or isinstance(measure, CountValues | ValuesTotal):
            return None
        bounds, made = self.contributions(measure), ensured_rows(self.query.rows)
        if isinstance(measure, CountPeople):
            ensured = min(self.cells, self.cells if made is None else made) <= bounds.rows
        else:
            ensured = made is not None and made <= min(bounds.rows, bounds.most)
        return 0 if ensured else PLACES

    def selection(self, number: int) -> RankSelection:
        """The mechanism that chooses in each cell."""
        return self._selections[number]

    @cached_property
    def _selections(self) -> tuple[RankSelection, ...]:
        return tuple(
            selection(
                group,
                rank_sensitivity=choice.contributions.most,
                epsilon=epsilon,
                by=self._choice,
                randomness=self.randomness,
            )
            for group, choice, epsilon in zip(
                self.choosing, self.choices, self.allocation.choices, strict=True
            )
        )

    def selection_of(self, aggregate: Aggregate) -> RankSelection:
        """The mechanism that chooses an aggregate, perhaps with others."""
        return self.selection(self.place(aggregate)[0])

    def choice_event(self, number: int) -> Event:
        """What one selection costs over all cells that a unit can be in.

        A unit with r rows in a cell loses r/most of the cell's epsilon, so all its rows together
        lose as much as if they were in one cell: one event, valid under every accountant. Under
        a concentrated spend one event for each group it can be in may be cheaper. Under Replace
        the rows of two units meet. Proof: ``proofs/quantiles.md``.
        """
        selection, contributions = self.selection(number), self.choices[number].contributions
        if (
            self._concentrated
            and contributions.groups < Fraction(contributions.rows, contributions.most) ** 2
        ):
            return (
                selection.event_for(rows=contributions.swaps * contributions.most)
                * contributions.groups
            )
        return selection.event_for(rows=contributions.swaps * contributions.rows)

    @property
    def _choice(self) -> quantiles.RankChoice:
        """How one candidate is drawn, at the lower price in this privacy definition."""
        return quantiles.EXPONENTIAL if self._concentrated else quantiles.PERMUTE_AND_FLIP

    @property
    def _concentrated(self) -> bool:
        return isinstance(self.spend, ZCDP | ApproxZCDP | RenyiDP)

    @cached_property
    def choice_events(self) -> tuple[Event, ...]:
        """The events of all quantiles."""
        return tuple(self.choice_event(number) for number in range(len(self.choices)))

    @property
    def events(self) -> tuple[Event, ...]:
        """The parts of the event, each with a price of its own."""
        return (self.allocation.linear_event, *self.choice_events)

    @cached_property
    def event(self) -> Event:
        """What the whole answer costs."""
        return compose(self.events)

    @property
    def charges(self) -> tuple[tuple[Guarantee, tuple[Event, ...]], ...]:
        """Parts of the spend, and the events that each of them pays for."""
        return ((self.spend, self.events),)

    @property
    def price(self) -> Guarantee:
        """All that is paid: for the answer, and for what the limits left out."""
        return self.spend if self.left_out is None else self.left_out.whole

    @property
    def paid_event(self) -> Event:
        """What everything that is released costs."""
        if self.left_out is None:
            return self.event
        return compose((self.event, self.left_out.event))

    @property
    def paid_charges(self) -> tuple[tuple[Guarantee, tuple[Event, ...]], ...]:
        """Parts of the price, and the events that each of them pays for."""
        return self.charges if self.left_out is None else (*self.charges, *self.left_out.charges)

    def answered(self, measured: MeasuredValues) -> PlannedQuery:
        """The question with every key known, as it stands after the release."""
        return self

    def noised(self, measure: Linear) -> tuple[int, Noised]:
        """Place and noise of a measure."""
        place = self._places[measure]
        return place, self.allocation.noised[place]

    @cached_property
    def _places(self) -> dict[Linear, int]:
        """The first place of each measure."""
        return {part.measure: place for place, part in reversed([*enumerate(self.parts)])}

    def noise(self, measure: Linear) -> Noised:
        """The noise of a measure."""
        return self.noised(measure)[1]

    def place(self, aggregate: Aggregate) -> tuple[int, int]:
        """Which of the choices a quantile belongs to, and its column there."""
        for number, group in enumerate(self.choosing):
            if aggregate in group:
                return number, group.index(aggregate)
        raise LookupError(type(aggregate).__name__)

    def name(self, place: int) -> str:
        """The name of a measure's noise within its release."""
        if self.names is not None:
            return self.names[place]
        return f"m{place}" if self.settled is None else self.settled.names[place]

    def release(self, database: Database) -> MeasuredValues:
        """Run it: exact numbers from the engine, then noise. The only thing that reads data."""
        exact = self.exact(database)
        linear = tuple(
            self.noisy(values, item)
            for values, item in zip(exact.linear, self.allocation.noised, strict=True)
        )
        return MeasuredValues(linear, self.chosen(exact))

    def exact(self, database: Database) -> ExactAggregates:
        """What the engine counts and adds up. Private: only noise may follow."""
        salt, statements = self._ready(database)
        return aggregate_exactly(
            self.query,
            [item.exact for item in self.allocation.noised],
            [group[0].ranks for group in self.choosing],
            self.person,
            database.engine,
            salt=salt,
            statements=statements,
        )

    def _ready(self, database: Database) -> tuple[int, Statements | None]:
        """A salt that no release had, with what was written under it before the reservation."""
        engine, salt, statements = self.__dict__.pop(_READY, (None, 0, None))
        if engine is not database.engine:
            return integer(SYSTEM, 62), None
        return salt, statements

    def chosen(self, exact: ExactAggregates) -> tuple[NDArray[Any], ...]:
        """The quantiles, chosen by noisy ranks."""
        return tuple(
            np.asarray(self.selection(number).release(counts)).reshape(len(counts), -1)
            for number, counts in enumerate(exact.ranks)
        )

    def blank(self) -> MeasuredValues:
        """Values of the shape that will be released, none of them read: to try formulas out."""
        return MeasuredValues(
            tuple(np.ones(self.cells, dtype=np.int64) for _ in self.allocation.noised),
            tuple(np.ones((self.cells, len(group))) for group in self.choosing),
        )

    def noisy(self, values: NDArray[Any], item: Noised) -> NDArray[Any]:
        """Exact numbers with noise, in steps.

        Each is clamped to what the declared number of rows allows, whose sensitivity is not
        larger. Totals that fit 61 bits then are released by the mechanism itself. Larger ones are
        added to its noise, drawn for zeros, in whole numbers of any size.
        """
        if not len(values):  # no key was named, or none is permitted: there is nothing to release
            return np.zeros(0, dtype=np.int64)
        most = self._most(item)
        # More rows than were declared cost accuracy: no number leaves its public range.
        farthest = most if values.dtype == object else min(most, LARGEST_WHOLE)
        values = np.clip(values, -farthest, farthest)
        if most < _SMALL:
            released: NDArray[Any] = item.mechanism.release(values.astype(np.int64))
            return released
        noisy: NDArray[Any] = values + item.mechanism.release(np.zeros(len(values), dtype=np.int64))
        return noisy

    def _most(self, item: Noised) -> int:
        """The largest total there can be, in steps."""
        each = self.person.max_rows if self.person is not None else self.query.rows.stability
        return item.steps * self.rows_at_most * max(each or 1, 1)

    def preflight(self, database: Database) -> None:
        """Draw noise for nothing and write the text, so that what cannot be done is known now."""
        for item in self.allocation.noised:
            item.mechanism.release(0)
        for number in range(len(self.choices)):
            self.selection(number)
        engine, salt = database.engine, integer(SYSTEM, 62)
        made = Statements.of(self.query, self._measured, self.person, engine, salt=salt)
        made.texts()
        if made.lasting:
            self.__dict__[_READY] = engine, salt, made

    def texts(self, database: Database) -> list[str]:
        """What the engine would run, with a salt of zero."""
        return statements(self.query, self._measured, self.person, database.engine)

    @property
    def _measured(self) -> tuple[Measure | Weighted, ...]:
        """All that is measured, as it is asked of the engine."""
        measures = [item.exact for item in self.allocation.noised]
        return (*measures, *(group[0].ranks for group in self.choosing))

    def measurement(self, database: Database) -> Measurement[Database, MeasuredValues]:
        """The same as a measurement on databases at a distance of one unit."""
        space = Space(Databases(tuple(database.names())), Units(self.query.unit))
        return Measurement(space, self._released, self._event_at)

    def _released(self, database: Database) -> MeasuredValues:
        """The answer, and the report about the keys that it has."""
        measured = self.release(database)
        if self.left_out is None:
            return measured
        found = self.left_out.release(self.answered(measured).query, database)
        return replace(measured, left_out=found)

    def _event_at(self, units: Any) -> Event:
        if units != 1:
            raise InvalidParameter(
                code="distance_not_one",
                expectation="databases that differ by one unit",
                received=units,
                remedy="Ask for the event of one unit; `Guarantee.group` speaks of several.",
            )
        return self.paid_event


def _chosen_array(values: list[list[float]]) -> NDArray[Any]:
    """Chosen values by cell and level; without any cell, as many levels as anybody may ask for."""
    return np.asarray(values) if values else np.empty((0, _MOST_LEVELS))


def whole_array(values: list[int]) -> NDArray[Any]:
    """Whole numbers as they were kept: 64-bit if they fit, else of any size."""
    fits = all(abs(value) < 1 << 62 for value in values)
    return np.array(values, dtype=np.int64 if fits else object)


def in_units(values: NDArray[Any], noised: Noised) -> NDArray[Any]:
    """Noisy steps as numbers in the caller's units: whole numbers stay whole."""
    if noised.whole:
        return values
    return values.astype(np.float64) * noised.step
