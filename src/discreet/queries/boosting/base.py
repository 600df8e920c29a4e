"""Base generators: from a few sampled queries, a table that is right on most of the weight.

A generator spends its part of each round on the sampled queries alone. Its promise, to be within
lambda on 1/2 + eta of the weight, is about accuracy; privacy rests on its event.

Source: 000a:H1, H4–H6; boosting-and-analysts:B5. Proof: ``proofs/boosting.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, PureDP
from discreet.core.parameters import Number
from discreet.mechanisms import Exponential
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import WholeNoise, epsilon_for, noise_for
from discreet.mechanisms.grid import sqrt_above
from discreet.noise.randomness import Source
from discreet.queries.boosting.fits import Fit, LinearProgram, Sample
from discreet.queries.mwem.rounds import QueryRound
from discreet.queries.net import check_net
from discreet.queries.record_count import MOST, RecordCount
from discreet.queries.workload.families import QueryFamily
from discreet.queries.workload.linear_query import rounded
from discreet.queries.workload.workload import Workload


@dataclass(frozen=True)
class GeneratorTerms:
    """What one call of a generator may spend, and on what: all of it public."""

    workload: Workload
    sample: int
    spend: PureDP | ZCDP
    size: RecordCount
    records: int
    randomness: Source

    @property
    def cells(self) -> int:
        """The size of the universe."""
        return self.workload.universe.size


class BaseGenerator(ABC):
    """Makes a table from a sample of queries and their exact answers."""

    @abstractmethod
    def check(self, terms: GeneratorTerms) -> None:
        """Refuse what cannot be run, before any data is seen."""

    @abstractmethod
    def event(self, terms: GeneratorTerms) -> Event:
        """What one call costs, whatever was sampled."""

    @abstractmethod
    def within(self, terms: GeneratorTerms, *, failure: float) -> float:
        """The error on the sample that noise leaves, in records, but with chance ``failure``."""

    @abstractmethod
    def table(self, terms: GeneratorTerms, sample: Sample, truth: Floats) -> Floats:
        """Estimated counts of all cells."""


@dataclass(frozen=True)
class NoisySample(BaseGenerator):
    """Noise on the sampled answers, then a fit: the sample alone is measured.

    Assumptions: answers of the sample are exact; the sample is public to the generator, and was
    paid for.

    Guarantee: the event of one additive release of the sampled answers.

    Source: 000a:H5, boosting-and-analysts:B5. Proof: ``proofs/boosting.md``.
    """

    fit: Fit = field(default_factory=LinearProgram)

    def check(self, terms: GeneratorTerms) -> None:
        """The fit must have room."""
        self.fit.check(cells=terms.cells, sample=terms.sample)

    def noise(self, terms: GeneratorTerms) -> WholeNoise:
        """What measures, in steps."""
        reach = sampled_reach(terms.workload, terms.sample, terms.size)
        one = terms.records * QueryRound().l1(terms.workload, terms.size)
        far = one * (Fraction(1) if reach == 1 else sqrt_above(Fraction(reach)))
        return noise_for(terms.spend, l1=one * reach, l2=far, randomness=terms.randomness)

    def event(self, terms: GeneratorTerms) -> Event:
        """That of the noise."""
        return self.noise(terms).event

    def within(self, terms: GeneratorTerms, *, failure: float) -> float:
        """Twice the largest noise: the truth is that near to the answers, and so is the fit."""
        step = QueryRound().step(terms.workload)
        noise = self.noise(terms).error(confidence=1 - failure, size=terms.sample, kind=int)
        return 2 * step * noise

    def table(self, terms: GeneratorTerms, sample: Sample, truth: Floats) -> Floats:
        step, noise = QueryRound().step(terms.workload), self.noise(terms)
        noisy = step * noise.release(np.rint(truth / step).astype(np.int64)).astype(np.float64)
        spread = float(distribution_of(noise, step=step).std)
        return self.fit.table(sample, noisy, spread=spread, error=4 * spread)


@dataclass(frozen=True, eq=False)
class ExponentialNet(BaseGenerator):
    """The exponential mechanism over a net, scored by the largest error on the sample.

    ``net`` has a row for each database, a distribution over cells: SmallDB for the sample alone.

    Assumptions: answers of the sample are exact; the net is public.

    Guarantee: the event of one exponential mechanism.

    Source: 000a:H4. Proof: ``proofs/boosting.md``.
    """

    net: Floats

    def check(self, terms: GeneratorTerms) -> None:
        """The net must fit the universe."""
        check_net(self.net, cells=terms.cells)

    def selector(self, terms: GeneratorTerms) -> Exponential:
        """What chooses: a largest error moves as one answer does."""

        def at(epsilon: Number) -> Exponential:
            return Exponential(
                epsilon=epsilon, sensitivity=terms.records, randomness=terms.randomness
            )

        return at(epsilon_for(terms.spend, lambda epsilon: at(epsilon).event))

    def event(self, terms: GeneratorTerms) -> Event:
        """That of one choice."""
        return self.selector(terms).event

    def within(self, terms: GeneratorTerms, *, failure: float) -> float:
        """What the choice loses; the net's own coarseness comes on top."""
        candidates = len(self.net)
        return self.selector(terms).error(confidence=1 - failure, candidates=candidates)

    def scores(self, sample: Sample, truth: Floats) -> Floats:
        """Minus the largest error of each database, in records, exactly."""
        answers = np.minimum(sample.total * (self.net @ sample.matrix().T), MOST)
        return np.asarray(-np.abs(rounded(answers) - truth).max(axis=1))

    def table(self, terms: GeneratorTerms, sample: Sample, truth: Floats) -> Floats:
        """Choose a database, and scale it."""
        chosen = self.selector(terms).release(self.scores(sample, truth))
        return np.asarray(sample.total * self.net[chosen])


def sampled_reach(workload: Workload, sample: int, size: RecordCount) -> int:
    """How far one record moves the answers of any ``sample`` distinct queries, in the L1 norm.

    Each by at most one; and all by no more than the weights that one cell has in the whole
    workload, or two cells where a record is exchanged. It bounds the square of the L2 norm too.
    """
    overlap = sum(
        math.prod(_most_weight(family) for family in product.families)
        for product in workload.products
    )
    return min(sample, math.ceil(size.changed_cells * overlap))


def _most_weight(family: QueryFamily) -> Fraction:
    """The largest sum of the weights that a value has in all queries of a family."""
    if family.whole:
        return Fraction(float(family.gram().diagonal().max()))
    return Fraction(float(family.dense().sum(axis=0).max()))
