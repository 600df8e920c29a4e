"""Offline iterative construction: find a query that is wrong, measure it, update, until none is.

Guarantee: the event of T selections and T measurements, T the updater's bound; stopping early is
decided by released values and costs no less.

Source: 000a:G4, G5. Errata: the constants of Thm 5.7 are 32 T and 64 sqrt(T ln(1/delta)), where the
text prints 8 T and 16. Proof: ``proofs/mwem.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.core.parameters import Number, count, exact
from discreet.mechanisms import DiscreteLaplace, Exponential
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import additive_readings, largest_epsilon, least_error
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.mwem.fitting import MeasuredQuery
from discreet.queries.mwem.rounds import QueryRound, exact_answers
from discreet.queries.online.updaters import Updater, upper_medians
from discreet.queries.record_count import PublicCount, count_records, require_public
from discreet.queries.synopses.partial_tables import require_same
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.linear_query import on_grid
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload


@dataclass(frozen=True, eq=False)
class Constructed:
    """The databases that a construction ended with: a query's answer is the median of theirs.

    Most updaters end with one. ``databases`` has a row of shares for each; ``updates`` is how many
    queries were learnt from.
    """

    universe: Universe
    databases: Floats
    records: int
    updates: int
    event: Event

    def answers(self, workload: Workload) -> Floats:
        """Estimate the counts that a workload asks for."""
        require_same(workload, self.universe)
        return self.records * upper_medians(workload, self.databases)

    def to_dict(self) -> Mapping[str, object]:
        """The databases, the number of records, and how often was learnt."""
        return {
            "synopsis": "constructed/1",
            "databases": packed(self.databases),
            "records": self.records,
            "updates": self.updates,
        }

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> Constructed:
        """The construction that ``plain`` described."""
        databases = unpacked(plain.get("databases"))
        match plain:
            case {"records": int() as records, "updates": int() as updates} if (
                databases.ndim == 2 and databases.shape[1] == universe.size and records > 0
            ):
                return cls(universe, databases, records, updates, event)
        raise not_plain()


@dataclass(frozen=True)
class IterativeConstruction:
    """A workload, an updater whose error is half of the wanted one, and a spend.

    The number of records is public: neighbours exchange records.

    Assumptions: neighbours exchange the records of one person, at most ``records`` of them; their
    number is public. Data are exact counts over the universe. Queries, universe and all parameters
    are public.

    Guarantee: the event of as many selections and measurements as the updater's bound, however
    early it stops.

    Source: 000a:G4, G5. Proof: ``proofs/mwem.md``.
    """

    workload: Workload
    updater: Updater
    spend: Guarantee
    size: PublicCount
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        self.workload.universe.require_explicit(method="iterative construction")
        require_public(self.size, method="iterative construction")
        object.__setattr__(self, "records", count("records", self.records))
        additive_readings(self.spend)
        object.__setattr__(self, "workload", on_grid(self.workload))
        if self.updater.universe_size != self.workload.universe.size:
            raise InvalidParameter(
                code="updater_misfit",
                expectation=f"an updater over {self.workload.universe.size} cells",
                received=self.updater.universe_size,
                remedy="Build it with the universe's size.",
            )

    @cached_property
    def epsilon_each(self) -> Number:
        """What one selection costs, and one measurement: the most that the spend permits."""
        return least_error(additive_readings(self.spend), self._each, lambda each: 1 / each)

    def _each(self, paid: PureDP | ZCDP) -> Number:
        match paid:
            case PureDP(epsilon=epsilon):
                return exact(epsilon) / (2 * self.updater.most_updates)
            case ZCDP() as rho:
                return largest_epsilon(self._event, rho)

    @property
    def event(self) -> Event:
        """What one release costs."""
        return self._event(self.epsilon_each)

    def _event(self, each: Number) -> Event:
        rounds = self.updater.most_updates
        return self._distinguisher(each).event * rounds + self._noise(each).event * rounds

    def _distinguisher(self, each: Number) -> Exponential:
        return Exponential(epsilon=each, sensitivity=self.records, randomness=self.randomness)

    def _noise(self, each: Number) -> DiscreteLaplace:
        moved = self.records * QueryRound().l1(self.workload, self.size)
        return DiscreteLaplace(epsilon=each, sensitivity=moved, randomness=self.randomness)

    def release(self, counts: Counted) -> Constructed:
        """Run on exact counts over the universe."""
        workload, total = self.workload, self.size.records
        table = cell_counts(counts, workload.universe)
        count_records(self.size, table, None)
        truth = exact_answers(workload, table)
        each, one = self.epsilon_each, QueryRound()
        selector, noise = self._distinguisher(each), self._noise(each)
        spread = distribution_of(noise, step=one.step(workload)).std
        hypothesis, updates = self.updater.begin(), 0
        # Three quarters of the wanted error, which is twice the updater's.
        enough = 1.5 * self.updater.error
        for _ in range(self.updater.most_updates):
            guesses = hypothesis.answers(workload)
            place = selector.release(one.scores([total * guesses], truth, spread))
            measured = one.measure(workload, place, truth, noise, spread)
            assert isinstance(measured, MeasuredQuery)
            value = measured.answer / total
            if abs(value - guesses[place]) < enough:
                break
            try:
                hypothesis.update(measured.query, value)
            except InvalidData:  # noise led away from every member of a net: nothing to learn from
                break
            updates += 1
        return Constructed(workload.universe, hypothesis.databases, total, updates, self.event)
