"""MWEM: select what the estimate gets most wrong, measure it, learn, and again.

Guarantee: the composition of the selections and measurements actually run, and of the number of
records where it is bought. Permute-and-flip is priced as permute-and-flip: under zCDP that is four
times the exponential mechanism's price at small epsilon, so there the latter is the default.

Source: 004b:A15; modern-data:N2. Errata: the error bound is printed without its exponent 1/3.
Proof: ``proofs/mwem.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.arrays import Floats
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.core.parameters import Number, count, positive
from discreet.mechanisms import Exponential, PermuteAndFlip
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import (
    WholeNoise,
    additive_readings,
    deviation,
    epsilon_for,
    least_error,
    noise_for,
    share_of,
)
from discreet.mechanisms.selection import Selection
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.mwem.fitting import NoisyMeasurement, replay, settle
from discreet.queries.mwem.multiplicative_weights import MultiplicativeWeights
from discreet.queries.mwem.rounds import MarginalRound, SelectedRound, exact_answers
from discreet.queries.record_count import RecordCount, bought_count, count_records, require_size
from discreet.queries.synopses.synopsis import HistogramSynopsis
from discreet.queries.workload.answers import product_answers
from discreet.queries.workload.cell_counts import Counted, cell_counts
from discreet.queries.workload.linear_query import on_grid
from discreet.queries.workload.workload import Workload

_TYPICAL_CELLS = 64.0
_FEW = 8
_WORTH_SELECTING = 0.6


class Iterate(ABC):
    """Which of the estimates of all rounds is released, and how often it is fitted once more."""

    settling: int
    """Passes over all measurements after the last round, with steps that shrink."""

    @abstractmethod
    def combine(self, so_far: Floats | None, latest: MultiplicativeWeights, turn: int) -> Floats:
        """What would be released after round ``turn``, counted from one."""


@dataclass(frozen=True)
class LastIterate(Iterate):
    """The last one, once all measurements have settled.

    Assumptions: the estimates are functions of released measurements.

    Guarantee: post-processing: no event of its own.

    Source: 004b:A15.
    """

    settling: int = 8

    def combine(self, so_far: Floats | None, latest: MultiplicativeWeights, turn: int) -> Floats:
        """The latest; earlier ones are not even computed."""
        return np.empty(0)


@dataclass(frozen=True)
class AverageIterate(Iterate):
    """The mean of all: the one that the theorem is about.

    Assumptions: the estimates are functions of released measurements.

    Guarantee: post-processing: no event of its own; the error bound of the theorem holds for it.

    Source: 004b:A15.
    """

    settling: int = 0

    def combine(self, so_far: Floats | None, latest: MultiplicativeWeights, turn: int) -> Floats:
        now = latest.distribution
        return now if so_far is None else np.asarray(so_far + (now - so_far) / turn)


@dataclass(frozen=True)
class MWEM:
    """A workload, a spend, and a number of rounds.

    ``size`` says whether the number of records is public (neighbours exchange records) or bought
    (they add or remove them). ``start`` is a public guess of the distribution. ``passes`` replays
    of all measurements follow each round; ``iterate`` says what follows the last. With a round for
    each marginal (or query), all of them are measured in turn and none is selected. One person
    has at most ``records`` records. Weights of the workload's products do not matter here.

    Contract: fewer than 2**32 records. Time and memory grow with the universe, not with its
    product with the number of queries.

    Assumptions: neighbours exchange the records of one person with ``PublicCount``, and add or
    remove them with ``NoisyRecordCount``; ``records`` bounds how many one person has. Data are
    exact counts over the universe. Workload, universe and all parameters are public. ``start`` is
    chosen without the data.

    Guarantee: the composition of all selections and measurements, and of the number of records
    where it is bought, at the spend.

    Source: 004b:A15. Proof: ``proofs/mwem.md``.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    rounds: int
    each: SelectedRound = field(default_factory=MarginalRound)
    selection: type[Selection] | None = None
    iterate: Iterate = field(default_factory=LastIterate)
    start: ArrayLike | None = None
    passes: int = 1
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        require_size(self.size)
        self.workload.universe.require_explicit(method="MWEM")
        for name in ("rounds", "passes", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        object.__setattr__(self, "workload", on_grid(self.workload))
        self.each.check(self.workload)
        if self.selection is None:
            pure = isinstance(self._additive_spend, PureDP)
            object.__setattr__(self, "selection", PermuteAndFlip if pure else Exponential)
        MultiplicativeWeights(self.workload.universe.size, self.start)

    @property
    def takes_turns(self) -> bool:
        """Whether there is a round for every candidate: then nothing is selected, nor paid for."""
        return self.rounds == self.each.candidates(self.workload)

    @property
    def _measuring(self) -> Fraction:
        """The part of a round's spend that measures."""
        return Fraction(1) if self.takes_turns else self.each.share

    @cached_property
    def _additive_spend(self) -> PureDP | ZCDP:
        """The spend as it adds up over rounds: in the definition that measures with less noise."""
        given = additive_readings(self.spend)
        return least_error(given, lambda paid: paid, lambda paid: deviation(self._noise(paid)))

    @cached_property
    def selector(self) -> Selection:
        """What selects in each round, unless all take turns."""
        share = (1 - self.size.share) * (1 - self._measuring) / self.rounds
        kind = self.selection
        assert kind is not None
        moved = self.records * self.each.score_sensitivity(self.size)

        def at(epsilon: Number) -> Selection:
            return kind(epsilon=epsilon, sensitivity=moved, randomness=self.randomness)

        return at(epsilon_for(share_of(self._additive_spend, share), lambda e: at(e).event))

    @cached_property
    def noise(self) -> WholeNoise:
        """What measures in each round, in steps."""
        return self._noise(self._additive_spend)

    def _noise(self, paid: PureDP | ZCDP) -> WholeNoise:
        share = (1 - self.size.share) * self._measuring / self.rounds
        l1 = self.records * self.each.l1(self.workload, self.size)
        l2 = self.records * self.each.l2(self.workload, self.size)
        return noise_for(share_of(paid, share), l1=l1, l2=l2, randomness=self.randomness)

    @cached_property
    def _counting(self) -> WholeNoise | None:
        return bought_count(self.size, self._additive_spend, self.records, self.randomness)

    @property
    def event(self) -> Event:
        """What one release costs."""
        rounds = self.noise.event * self.rounds
        if not self.takes_turns:
            rounds = self.selector.event * self.rounds + rounds
        return compose((self._counting.event, rounds)) if self._counting else rounds

    @cached_property
    def spread(self) -> float:
        """The standard deviation of one measured number, in records."""
        return float(distribution_of(self.noise, step=self.each.step(self.workload)).std)

    def release(self, counts: Counted) -> HistogramSynopsis:
        """Run all rounds on exact counts over the universe."""
        universe = self.workload.universe
        table = cell_counts(counts, universe)
        total = count_records(self.size, table, self._counting)
        truth = exact_answers(self.workload, table)
        weights = MultiplicativeWeights(universe.size, self.start)
        history: list[NoisyMeasurement] = []
        found: Floats | None = None
        for turn in range(1, self.rounds + 1):
            place = turn - 1 if self.takes_turns else self._selected(weights, truth, total)
            measured = self.each.measure(self.workload, place, truth, self.noise, self.spread)
            history.append(measured)
            replay(weights, history, self.each.stepping, total=total, passes=self.passes)
            found = self.iterate.combine(found, weights, turn)
        settle(weights, history, self.each.stepping, total=total, passes=self.iterate.settling)
        distribution = found if found is not None and found.size else weights.distribution
        return HistogramSynopsis(universe, total * distribution, self.event)

    def _selected(self, weights: MultiplicativeWeights, truth: list[Floats], total: float) -> int:
        """The candidate that the estimate most likely gets most wrong."""
        scale = total / weights.mass
        estimate = [part * scale for part in product_answers(self.workload, weights.weights)]
        return self.selector.release(self.each.scores(estimate, truth, self.spread))


def suggested_rounds(
    spend: Guarantee, *, records: int, most: int, cells: float = _TYPICAL_CELLS
) -> int:
    """A rule of thumb for marginals: more rounds, the more records and budget for each cell.

    Found by runs on two health surveys. ``records`` is a public guess, ``most`` the number of
    marginals, ``cells`` how many cells they have on average. Where few marginals would be left
    out, or there are no more than eight, all are measured and nothing is spent on selecting.

    >>> suggested_rounds(PureDP(epsilon=1), records=32_561, most=56, cells=134)
    12
    """
    share = records / float(positive("cells", cells))
    wanted = least_error(additive_readings(spend), lambda paid: _wanted(paid, share), _noise_at)[0]
    many = count("most", most)
    return many if many <= max(_FEW, wanted / _WORTH_SELECTING) else max(2, round(wanted))


def _wanted(paid: PureDP | ZCDP, share: float) -> tuple[float, PureDP | ZCDP]:
    """How many rounds, by the rule for what pays for them."""
    match paid:
        case PureDP(epsilon=epsilon):
            return 1.3 * math.pow(float(epsilon) * share, 0.4), paid
        case ZCDP(rho=rho):
            return 4 * math.cbrt(math.sqrt(2 * float(rho)) * share), paid


def _noise_at(wanted: tuple[float, PureDP | ZCDP]) -> float:
    """The standard deviation of one count in each of so many rounds."""
    rounds, paid = wanted
    match paid:
        case PureDP(epsilon=epsilon):
            return math.sqrt(2) * rounds / float(epsilon)
        case ZCDP(rho=rho):
            return math.sqrt(rounds / (2 * float(rho)))
