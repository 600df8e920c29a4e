"""Boosting for queries: draw queries, answer them, look harder where the answers were bad.

Every round draws a few queries, most likely those that earlier rounds got wrong, and lets a base
generator make a table from them. The answer to a query is the median over all rounds' tables.

Guarantee: the composition of all draws after the first round, each an exponential mechanism of its
own range, of one generator a round, and of the number of records where it is bought.

Accuracy: if every generator is within lambda on 1/2 + eta of the weight, all queries are within
lambda + mu after :func:`~discreet.queries.boosting.bounds.rounds_needed` rounds.

Source: 000a:H1, H2, H7; boosting-and-analysts:B2; analysts-verified:B3. Errata: step 1 of the
figure asks for (1 + eta)/2 of the weight, which must read 1/2 + eta; all draws are charged the
last round's range there, here each its own. Proof: ``proofs/boosting.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.core.parameters import Number, count, exact, probability
from discreet.mechanisms.for_spend import WholeNoise, additive_readings, least_error, share_of
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.boosting.base import BaseGenerator, GeneratorTerms, NoisySample
from discreet.queries.boosting.bounds import rounds_needed, slack_at, slack_at_pure
from discreet.queries.boosting.fits import Sample
from discreet.queries.boosting.reweighting import Reweighting, in_steps
from discreet.queries.mwem.rounds import exact_answers
from discreet.queries.record_count import RecordCount, bought_count, count_records, require_size
from discreet.queries.workload.answers import shared_answers
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.linear_query import on_grid, query_of
from discreet.queries.workload.stored_form import not_plain, packed, unpacked
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

MOST_ROUNDS = 1024
"""Sums of so many excesses stay below 2**62 steps."""
MOST_NUMBERS = 1 << 27


@dataclass(frozen=True, eq=False)
class MedianSynopsis:
    """Estimated counts of all cells, a row for each round; answers are medians over rounds."""

    universe: Universe
    tables: Floats
    event: Event

    def answers(self, workload: Workload) -> Floats:
        """The median over rounds, of each query by itself."""
        return np.median([shared_answers(workload, table) for table in self.tables], axis=0)

    def to_dict(self) -> Mapping[str, object]:
        """All tables."""
        return {"synopsis": "medians", "tables": packed(self.tables)}

    @classmethod
    def from_dict(
        cls, plain: Mapping[str, object], universe: Universe, event: Event
    ) -> MedianSynopsis:
        """The synopsis that ``plain`` described."""
        tables = unpacked(plain.get("tables"))
        if tables.ndim != 2 or len(tables) == 0 or tables.shape[1] != universe.size:
            raise not_plain()
        return cls(universe, tables, event)


@dataclass(frozen=True)
class BoostingForQueries:
    """A workload, a spend, and how many queries each round draws.

    ``base`` makes a table from the drawn queries; ``advantage`` is eta, by how much more than half
    of the weight it gets right. ``rounds`` is what the theorem needs if left at zero. ``within`` is
    lambda in records, the error that counts as right, by default what the generator's noise allows
    at ``confidence`` over all rounds. ``drawing`` is the part of the spend for the draws; the slack
    mu follows from it. One person has at most ``records`` records.

    Contract: fewer than 2**32 records; an explicit universe. Weights of products do not matter.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public.

    Guarantee: the composition of all draws, of one generator a round, and of the number of records
    where it is bought, at the spend.

    Source: 000a:H1, boosting-and-analysts:B2. Proof: ``proofs/boosting.md``.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    sample: int
    base: BaseGenerator = field(default_factory=NoisySample)
    rounds: int = 0
    advantage: Number = Fraction(1, 3)
    within: Number | None = None
    drawing: Number = Fraction(1, 2)
    confidence: float = 0.95
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        require_size(self.size)
        self.workload.universe.require_explicit(method="boosting for queries")
        object.__setattr__(self, "workload", on_grid(self.workload))
        for name in ("sample", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        if count("rounds", self.rounds, least=0) == 0:
            needed = rounds_needed(queries=self.workload.queries, advantage=self.advantage)
            object.__setattr__(self, "rounds", needed)
        probability("drawing", self.drawing)
        probability("confidence", self.confidence)
        if (
            not 2 <= self.rounds <= MOST_ROUNDS
            or self.rounds * self.workload.universe.size > MOST_NUMBERS
        ):
            raise InvalidParameter(
                code="rounds_range",
                expectation=f"2 to {MOST_ROUNDS} rounds, and at most {MOST_NUMBERS} rounds x cells",
                received=(self.rounds, self.workload.universe.size),
                remedy="Pass rounds=, or use MWEM, which keeps one table.",
            )
        self.base.check(self.terms)
        _ = self.event

    @cached_property
    def _shares(self) -> tuple[Fraction, Fraction]:
        """The parts of the spend for all draws, and for one call of the generator."""
        left = 1 - self.size.share
        return left * exact(self.drawing), left * (1 - exact(self.drawing)) / self.rounds

    @cached_property
    def _additive_spend(self) -> PureDP | ZCDP:
        """The spend as it adds up over rounds: in the definition that promises the least error."""
        given = additive_readings(self.spend)
        return least_error(given, lambda paid: paid, lambda paid: replace(self, spend=paid).bound)

    @cached_property
    def terms(self) -> GeneratorTerms:
        """What one call of the generator may spend."""
        paid = share_of(self._additive_spend, self._shares[1])
        return GeneratorTerms(
            self.workload, self.sample, paid, self.size, self.records, randomness=self.randomness
        )

    @cached_property
    def slack(self) -> Fraction:
        """Mu: the least width, in records, at which all draws stay within their part."""
        match share_of(self._additive_spend, self._shares[0]):
            case PureDP(epsilon=epsilon):
                return slack_at_pure(
                    epsilon=epsilon,
                    sample=self.sample,
                    rounds=self.rounds,
                    advantage=self.advantage,
                    sensitivity=self.records,
                )
            case ZCDP(rho=rho):
                return slack_at(
                    rho=rho,
                    sample=self.sample,
                    rounds=self.rounds,
                    advantage=self.advantage,
                    sensitivity=self.records,
                )

    @cached_property
    def reweighting(self) -> Reweighting:
        """How errors become weights."""
        within = self.within
        if within is None:
            failure = (1 - float(self.confidence)) / self.rounds
            within = self.base.within(self.terms, failure=failure)
        return Reweighting(within, self.slack, self.advantage, self.records, self.randomness)

    @property
    def bound(self) -> float:
        """Lambda + mu, in records: the largest error while all generators keep their promise."""
        return float(exact(self.reweighting.within) + exact(self.reweighting.slack))

    @cached_property
    def _counting(self) -> WholeNoise | None:
        return bought_count(self.size, self._additive_spend, self.records, self.randomness)

    @cached_property
    def event(self) -> Event:
        """What one release costs."""
        bought = (self._counting.event,) if self._counting else ()
        draws = tuple(
            self.reweighting.selector(before).event * self.sample
            for before in range(1, self.rounds)
        )
        return compose((*bought, *draws, self.base.event(self.terms) * self.rounds))

    def release(self, counts: Counted) -> MedianSynopsis:
        """Run all rounds on exact counts over the universe."""
        workload, cells = self.workload, self.workload.universe.size
        table = cell_counts(counts, workload.universe)
        total = count_records(self.size, table, self._counting)
        truth = np.concatenate(exact_answers(workload, table))
        steps = in_steps(truth)
        excesses = np.zeros(workload.queries, dtype=np.int64)
        tables = np.empty((self.rounds, cells))
        for turn in range(self.rounds):
            places = np.unique(self.reweighting.draw(excesses, turn, self.sample))
            queries = tuple(query_of(workload, int(place)) for place in places)
            tables[turn] = self.base.table(self.terms, Sample(queries, cells, total), truth[places])
            excesses += self.reweighting.excess(steps, shared_answers(workload, tables[turn]))
        return MedianSynopsis(workload.universe, tables, self.event)
