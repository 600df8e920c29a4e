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
from numpy.typing import ArrayLike, NDArray

from discreet.core.event import Event, compose
from discreet.core.guarantee import ZCDP, Guarantee, PureDP
from discreet.core.parameters import count, exact
from discreet.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, PermuteAndFlip
from discreet.mechanisms.intervals.law import law_of
from discreet.mechanisms.selection import Selection
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.counting import Counted, cell_counts
from discreet.queries.fitting import Measured, replay
from discreet.queries.linear_query import on_grid
from discreet.queries.multiplicative_weights import MultiplicativeWeights
from discreet.queries.mwem_rounds import OneMarginal, Round, exact_answers
from discreet.queries.record_count import RecordCount, counted
from discreet.queries.shared_answers import product_answers
from discreet.queries.spends import adding, largest
from discreet.queries.synopsis import Histogram
from discreet.queries.workload import Workload

Floats = NDArray[np.float64]


class Iterate(ABC):
    """Which of the estimates of all rounds is released."""

    @abstractmethod
    def combine(self, so_far: Floats | None, latest: MultiplicativeWeights, turn: int) -> Floats:
        """What would be released after round ``turn``, counted from one."""


@dataclass(frozen=True)
class Last(Iterate):
    """The last one."""

    def combine(self, so_far: Floats | None, latest: MultiplicativeWeights, turn: int) -> Floats:
        """The latest; earlier ones are not even computed."""
        return np.empty(0)


@dataclass(frozen=True)
class Average(Iterate):
    """The mean of all: the one that the theorem is about."""

    def combine(self, so_far: Floats | None, latest: MultiplicativeWeights, turn: int) -> Floats:
        """A running mean."""
        now = latest.distribution
        return now if so_far is None else np.asarray(so_far + (now - so_far) / turn)


@dataclass(frozen=True)
class MWEM:
    """A workload, a spend, and a number of rounds.

    ``size`` says whether the number of records is public (neighbours exchange records) or bought
    (they add or remove them). ``start`` is a public guess of the distribution. ``passes`` replays
    of all measurements follow each round. One person has at most ``records`` records. Weights of
    the workload's products do not matter here.

    Contract: fewer than 2**32 records. Time and memory grow with the universe, not with its
    product with the number of queries.
    """

    workload: Workload
    spend: Guarantee
    size: RecordCount
    rounds: int
    each: Round = field(default_factory=OneMarginal)
    selection: type[Selection] | None = None
    iterate: Iterate = field(default_factory=Last)
    start: ArrayLike | None = None
    passes: int = 3
    records: int = 1
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse what cannot be run, before any data is seen."""
        self.workload.universe.require_explicit(method="MWEM")
        for name in ("rounds", "passes", "records"):
            object.__setattr__(self, name, count(name, getattr(self, name)))
        object.__setattr__(self, "workload", on_grid(self.workload))
        self.each.check(self.workload)
        if self.selection is None:
            pure = isinstance(self.spend, PureDP)
            object.__setattr__(self, "selection", PermuteAndFlip if pure else Exponential)
        MultiplicativeWeights(self.workload.universe.size, self.start)
        adding(self.spend)

    @cached_property
    def selector(self) -> Selection:
        """What selects in each round."""
        share = (1 - self.size.share) * (1 - self.each.share) / self.rounds
        kind = self.selection
        assert kind is not None
        moved = self.records * self.each.score_sensitivity(self.size)

        def at(epsilon: float | Fraction) -> Selection:
            return kind(epsilon=epsilon, sensitivity=moved, randomness=self.randomness)

        match adding(self.spend):
            case PureDP(epsilon=epsilon):
                return at(exact(epsilon) * share)
            case ZCDP(rho=rho):
                return at(largest(lambda e: at(e).event, ZCDP(rho=exact(rho) * share)))

    @cached_property
    def noise(self) -> DiscreteLaplace | DiscreteGaussian:
        """What measures in each round, in steps."""
        share = (1 - self.size.share) * self.each.share / self.rounds
        l1 = self.records * self.each.l1(self.workload, self.size)
        l2 = self.records * self.each.l2(self.workload, self.size)
        return self._additive(share, l1, l2)

    @cached_property
    def _counting(self) -> DiscreteLaplace | DiscreteGaussian | None:
        share = self.size.share
        return self._additive(share, self.records, Fraction(self.records)) if share else None

    def _additive(
        self, share: Fraction, l1: int, l2: Fraction
    ) -> DiscreteLaplace | DiscreteGaussian:
        match adding(self.spend):
            case PureDP(epsilon=epsilon):
                paid = exact(epsilon) * share
                return DiscreteLaplace(epsilon=paid, sensitivity=l1, randomness=self.randomness)
            case ZCDP(rho=rho):
                paid = exact(rho) * share
                return DiscreteGaussian(rho=paid, sensitivity=l2, randomness=self.randomness)

    @property
    def event(self) -> Event:
        """What one release costs."""
        rounds = self.selector.event * self.rounds + self.noise.event * self.rounds
        return compose((self._counting.event, rounds)) if self._counting else rounds

    @cached_property
    def spread(self) -> float:
        """The standard deviation of one measured number, in records."""
        return float(law_of(self.noise, step=self.each.step(self.workload)).std)

    def release(self, counts: Counted) -> Histogram:
        """Run all rounds on exact counts over the universe."""
        universe = self.workload.universe
        table = cell_counts(counts, universe)
        total = counted(self.size, table, self._counting)
        truth = exact_answers(self.workload, table)
        weights = MultiplicativeWeights(universe.size, self.start)
        history: list[Measured] = []
        found: Floats | None = None
        for turn in range(1, self.rounds + 1):
            scale = total / weights.mass
            estimate = [part * scale for part in product_answers(self.workload, weights.weights)]
            place = self.selector.release(self.each.scores(estimate, truth, self.spread))
            measured = self.each.measure(self.workload, place, truth, self.noise, self.spread)
            history.append(measured)
            replay(weights, history, self.each.stepping, total=total, passes=self.passes)
            found = self.iterate.combine(found, weights, turn)
        distribution = found if found is not None and found.size else weights.distribution
        return Histogram(universe, total * distribution, self.event)


def suggested_rounds(spend: Guarantee, *, records: int, most: int) -> int:
    """A rule of thumb for marginals: more rounds, the more records and the more budget.

    Found by a few runs on the Adult table. ``records`` is a public guess, ``most`` the number of
    marginals.

    >>> suggested_rounds(PureDP(epsilon=1), records=32_561, most=56)
    16
    """
    match adding(spend):
        case PureDP(epsilon=epsilon):
            wanted = math.cbrt(float(epsilon) * records) / 2
        case ZCDP(rho=rho):
            wanted = 0.9 * math.cbrt(math.sqrt(2 * float(rho)) * records)
    return min(max(2, round(wanted)), count("most", most))


def mwem_bound(*, cells: int, queries: int, records: int, rounds: int, epsilon: float) -> float:
    """An error that no query exceeds, but with probability 2 T / |Q|, before anything is spent.

    2 n sqrt(ln|X| / T) + 10 T ln|Q| / epsilon, for single queries, small steps, the exponential
    mechanism, one pass and the average iterate under a pure spend.
    """
    learning = 2 * records * math.sqrt(math.log(cells) / rounds)
    return learning + 10 * rounds * math.log(queries) / epsilon
