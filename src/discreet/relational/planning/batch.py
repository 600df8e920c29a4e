"""Several questions at one price: one split over them all, noise drawn once for what they share.

What is measured twice is measured once. What is related is measured with NULL as one more key,
which costs nothing, so that the answers can be made to agree afterwards. The event of the whole
batch is fixed before its first answer.

Source: contract, "Spending"; 000a:C11; 004d:D21. Proof: ``proofs/marginals.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP, ApproxZCDP, Guarantee, RenyiDP
from discreet.core.measurement import Measurement
from discreet.core.space import Space
from discreet.noise.randomness import Source
from discreet.queries.synopses.marginals import ordered
from discreet.relational.aggregates.measures import Linear
from discreet.relational.database import Database, Databases, Units
from discreet.relational.identity.identity import canonical_text
from discreet.relational.plan.query import Query
from discreet.relational.planning.allocation import (
    SEPARATE,
    Allocation,
    QuantileChoice,
    WeightedMeasure,
    allocate,
    relative_variance,
)
from discreet.relational.planning.joint_allocation import (
    JointSplit,
    RelatedMeasures,
    axes_of,
    cells_among,
    families,
    public_keys,
    whole_keys,
)
from discreet.relational.planning.planned_query import (
    MeasuredValues,
    PlannedQuery,
    Settled,
    in_units,
    whole_array,
)
from discreet.relational.planning.report import Reports
from discreet.release.intervals import Distribution

_NOISELESS = 1e-12
"""A variance for noise that a very large spend makes zero."""


@dataclass(frozen=True)
class Drawn:
    """Noisy values of each part of a batch, on whole keys, and each question's quantiles.

    ``left_out`` are the numbers of each question's report of what limits left out, if bought.
    """

    linear: tuple[NDArray[Any], ...]
    chosen: tuple[tuple[NDArray[Any], ...], ...]
    left_out: tuple[tuple[NDArray[Any], ...], ...] | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, to be kept."""
        reports = [[values.tolist() for values in each] for each in self.left_out or ()]
        return {
            "linear": [values.tolist() for values in self.linear],
            "chosen": [[values.tolist() for values in each] for each in self.chosen],
            **({} if self.left_out is None else {"left_out": reports}),
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Drawn:
        """What :meth:`to_dict` wrote."""
        return cls(
            tuple(whole_array(values) for values in plain["linear"]),
            tuple(tuple(np.asarray(values) for values in each) for each in plain["chosen"]),
            tuple(tuple(map(whole_array, each)) for each in plain["left_out"])
            if "left_out" in plain
            else None,
        )


@dataclass(frozen=True)
class PlannedBatch:
    """Questions with one spend. ``importance`` weighs the squared errors of each one's cells."""

    questions: tuple[Query, ...]
    importance: tuple[float, ...]
    spend: Guarantee
    rows_at_most: int
    randomness: Source
    left_out: Reports | None = None

    def __post_init__(self) -> None:
        """Refuse keys that nobody knows before they are paid for."""
        for query in self.questions:
            public_keys(query)

    @cached_property
    def _alone(self) -> tuple[PlannedQuery, ...]:
        """Each question by itself, for what it needs to measure."""
        return tuple(
            PlannedQuery(query, self.spend, self.rows_at_most, self.randomness)
            for query in self.questions
        )

    @cached_property
    def slots(self) -> tuple[tuple[int, ...], ...]:
        """The number of each part of each question; equal measures have one number."""
        numbers: dict[tuple[str, str, str], int] = {}
        return tuple(
            tuple(
                numbers.setdefault(_identify_measure(planned.query, part.measure), len(numbers))
                for part in planned.parts
            )
            for planned in self._alone
        )

    @cached_property
    def _first(self) -> tuple[tuple[int, int], ...]:
        """The question and the place there where each part is measured."""
        found: dict[int, tuple[int, int]] = {}
        for number, slots in enumerate(self.slots):
            for place, slot in enumerate(slots):
                found.setdefault(slot, (number, place))
        return tuple(found[slot] for slot in range(len(found)))

    @cached_property
    def parts(self) -> tuple[WeightedMeasure, ...]:
        """The different measures.

        A cell's squared error counts in units of what it would be if its question were asked
        alone, so that no unit of measurement outweighs another.
        """
        weights = [0.0] * len(self._first)
        for planned, slots, factor in zip(self._alone, self.slots, self.importance, strict=True):
            counted = factor * public_keys(planned.query).cells
            noised = planned.allocation.noised
            for part, item, slot in zip(planned.parts, noised, slots, strict=True):
                weights[slot] += counted / max(relative_variance(part, item), _NOISELESS)
        return tuple(
            replace(self._alone[number].parts[place], weight=weight)
            for (number, place), weight in zip(self._first, weights, strict=True)
        )

    @cached_property
    def families(self) -> tuple[RelatedMeasures, ...]:
        """The parts that can be made to agree."""
        return families(
            [
                (
                    self.questions[number],
                    self._alone[number].parts[place].measure,
                    self._alone[number].person is not None,
                )
                for number, place in self._first
            ]
        )

    def _weigh_parts_and_choices(
        self, power: int
    ) -> tuple[list[float], list[tuple[QuantileChoice, ...]]]:
        """Parts and choices by what their error counts: cells, and shares if asked alone."""
        counted, chosen = [0.0] * len(self._first), []
        for planned, slots, factor in zip(self._alone, self.slots, self.importance, strict=True):
            weights = [part.weight for part in planned.parts]
            weights += [choice.weight for choice in planned.choices]
            alone = (SEPARATE.rhos if power == 1 else SEPARATE.epsilons)(weights)
            cells = factor * public_keys(planned.query).cells
            counts = [cells * float(share) ** power for share in alone]
            for slot, each in zip(slots, counts, strict=False):
                counted[slot] += each
            own = zip(planned.choices, counts[len(slots) :], strict=True)
            chosen.append(tuple(replace(choice, weight=each) for choice, each in own))
        return counted, chosen

    @cached_property
    def _choices(self) -> list[tuple[QuantileChoice, ...]]:
        """What is chosen by rank, question by question."""
        concentrated = isinstance(self.spend, ZCDP | ApproxZCDP | RenyiDP)
        return self._weigh_parts_and_choices(1 if concentrated else 2)[1]

    @cached_property
    def allocation(self) -> Allocation:
        """The split of the spend over everything."""
        by_epsilon, by_rho = (tuple(self._weigh_parts_and_choices(power)[0]) for power in (2, 1))
        split = JointSplit(self.families, by_epsilon, by_rho)
        choices = [choice for each in self._choices for choice in each]
        return allocate(self.parts, choices, self.spend, self.randomness, split)

    @cached_property
    def planned(self) -> tuple[PlannedQuery, ...]:
        """Each question as it was asked, with its part of the noise."""
        made, start = [], 0
        for planned, slots, choices in zip(self._alone, self.slots, self._choices, strict=True):
            own = self.allocation.choices[start : start + len(choices)]
            start += len(choices)
            part = Allocation(
                tuple(self.allocation.noised[slot] for slot in slots),
                own,
                self.allocation.linear_event,
            )
            names = tuple(f"m{slot}" for slot in slots)
            made.append(replace(planned, settled=Settled(part, names)))
        return tuple(made)

    @cached_property
    def _whole(self) -> tuple[bool, ...]:
        """Whether a question is measured with NULL as one more value of each key."""
        related = {number for family in self.families for number in family.members}
        return tuple(not related.isdisjoint(slots) for slots in self.slots)

    @cached_property
    def _measured(self) -> tuple[PlannedQuery, ...]:
        """Each question as it is measured."""
        return tuple(
            replace(planned, query=_widened(planned.query)) if whole else planned
            for planned, whole in zip(self.planned, self._whole, strict=True)
        )

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The parts of the event: all linear measures together, then each quantile."""
        chosen = (event for planned in self.planned for event in planned.choice_events)
        return (self.allocation.linear_event, *chosen)

    @cached_property
    def event(self) -> Event:
        """What the whole batch costs."""
        return compose(self.events)

    @property
    def price(self) -> Guarantee:
        """All that is paid: for the answers, and for what the limits left out."""
        return self.spend if self.left_out is None else self.left_out.whole

    @property
    def paid_event(self) -> Event:
        """What everything that is released costs."""
        reports = () if self.left_out is None else self.left_out.events
        return compose((self.event, *reports)) if reports else self.event

    @property
    def paid_charges(self) -> tuple[tuple[Guarantee, tuple[Event, ...]], ...]:
        """Parts of the price, and the events that each of them pays for."""
        own = ((self.spend, self.events),)
        return own if self.left_out is None else (*own, *self.left_out.charges)

    def measurement(self, database: Database) -> Measurement[Database, Drawn]:
        """The batch as a measurement on databases at a distance of one unit."""
        space = Space(Databases(tuple(database.names())), Units(self.questions[0].unit))
        return Measurement(space, self._released, lambda _: self.paid_event)

    def _released(self, database: Database) -> Drawn:
        """All questions, and the reports about them."""
        drawn = self.release(database)
        if self.left_out is None:
            return drawn
        return replace(drawn, left_out=self.left_out.release(database))

    def preflight(self, database: Database) -> None:
        """Find out what cannot be done before anything is paid."""
        for planned in self._measured:
            planned.preflight(database)
        if self.left_out is not None:
            self.left_out.preflight(database)

    def release(self, database: Database) -> Drawn:
        """Run all questions; noise is drawn once for each part."""
        linear: dict[int, NDArray[Any]] = {}
        chosen = []
        for number, planned in enumerate(self._measured):
            exact = planned.exact(database)
            for place, slot in enumerate(self.slots[number]):
                if self._first[slot] == (number, place):
                    linear[slot] = planned.noisy(exact.linear[place], self.allocation.noised[slot])
            ranks = tuple(counts[self.find_asked_cells(number)] for counts in exact.ranks)
            chosen.append(planned.chosen(replace(exact, ranks=ranks)))
        return Drawn(tuple(linear[slot] for slot in range(len(linear))), tuple(chosen))

    def blank(self) -> tuple[NDArray[Any], ...]:
        """Values of each part in the shape of those that will be drawn, none of them read."""
        return tuple(
            np.ones(self._measured[number].cells, dtype=np.int64) for number, _ in self._first
        )

    def unprocessed(self, drawn: Drawn) -> tuple[MeasuredValues, ...]:
        """The noisy values of each question, cell by cell as it was asked."""
        return tuple(
            MeasuredValues(
                tuple(
                    drawn.linear[slot][self.find_asked_cells(self._first[slot][0])]
                    for slot in slots
                ),
                drawn.chosen[number],
            )
            for number, slots in enumerate(self.slots)
        )

    def agreed(self, drawn: Drawn) -> dict[int, Floats]:
        """The values that agree with each other, by part, in the caller's units on whole keys."""
        found: dict[int, Floats] = {}
        for family in self.families:
            tables = []
            for slot in family.members:
                values = in_units(drawn.linear[slot], self.allocation.noised[slot])
                names, shape = self._axes(slot)
                table = values.astype(np.float64).reshape(shape)
                order = ordered(frozenset(names))
                tables.append(table.transpose([names.index(name) for name in order]))
            estimates = family.marginals.estimate(tables, self._variances(family))
            for slot, estimate in zip(family.members, estimates, strict=True):
                names, _ = self._axes(slot)
                order = ordered(frozenset(names))
                back = estimate.transpose([order.index(name) for name in names])
                found[slot] = back.ravel()
        return found

    def terms(self) -> dict[int, tuple[tuple[int, float, Distribution], ...]]:
        """The noises in one cell of each related part: how many, weight, law."""
        noised = self.allocation.noised
        return {
            slot: tuple(
                (count, weight, noised[family.members[column]].distribution)
                for column, count, weight in family.marginals.terms(wanted, self._variances(family))
                if count
            )
            for family in self.families
            for wanted, slot in enumerate(family.members)
        }

    def _variances(self, family: RelatedMeasures) -> list[float]:
        noised = [self.allocation.noised[slot] for slot in family.members]
        return [max(item.distribution.std**2, _NOISELESS) for item in noised]

    def _axes(self, slot: int) -> tuple[list[str], tuple[int, ...]]:
        keys = public_keys(self.questions[self._first[slot][0]])
        shape = tuple(len(block.entries) for block in whole_keys(keys).blocks)
        return list(axes_of(keys)), shape

    def find_asked_cells(self, number: int) -> NDArray[np.int64]:
        """Which of the measured cells of a question were asked for."""
        keys = public_keys(self.questions[number])
        if not self._whole[number]:
            return np.arange(keys.cells)
        return cells_among(keys, whole_keys(keys))


def _identify_measure(query: Query, measure: Linear) -> tuple[str, str, str]:
    return canonical_text(query.rows), canonical_text(query.keys), canonical_text(measure)


def _widened(query: Query) -> Query:
    return replace(query, keys=whole_keys(public_keys(query)))
