"""What analysts care about, without whose questions they are: a noisy count of queries by topic.

A topic is a set of attributes, from a public list. The profile says how many queries ask about
each. It is released once, with noise that hides one query or one analyst; measurements, fit and
synopsis then take it as public, so data is spent on what is asked for and analysts pay for the
profile alone.

One query: replacing it takes one from a topic and adds one to another, √2 in the L2 norm and 2 in
L1. One analyst: each has a profile of length at most one with no negative entry, and two such
vectors are at most √2 apart in L2, so √(2 T) in L1 over T topics, whatever the analyst asks and
however much.

Guarantee: to analysts, the event of one additive release of the profile. To people, that of the
marginals measured after it.

Source: analysts-verified:H10. Proof: ``proofs/analysts-profile.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from discreet.core.arrays import Ints
from discreet.core.events.event import Event
from discreet.core.guarantee import Guarantee
from discreet.mechanisms.distributions.distribution import distribution_of
from discreet.mechanisms.for_spend import WholeNoise, least_noise
from discreet.mechanisms.grid import sqrt_above
from discreet.mechanisms.noise_choice import NoiseChoice
from discreet.noise.randomness import SYSTEM, Source
from discreet.queries.analysts.query_class import Conjunctions, attribute_sets, outside_class
from discreet.queries.matrix.measuring import ANY
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Places

Topics = Sequence[Places]
"""The attributes of each query of one analyst."""


class Contribution(ABC):
    """What one analyst adds to the profile, in whole steps."""

    @property
    @abstractmethod
    def places(self) -> int:
        """Binary places of a step."""

    @abstractmethod
    def of(self, counts: Sequence[int]) -> list[int]:
        """An analyst's entries, from the number of queries on each topic."""

    @property
    def l2_sensitivity(self) -> Fraction:
        """How far neighbouring profiles are apart in the L2 norm, in steps: √2 units."""
        return sqrt_above(Fraction(2)) * (1 << self.places)

    @abstractmethod
    def moved_l1(self, topics: int) -> Fraction:
        """The same in the L1 norm, over so many topics."""


@dataclass(frozen=True)
class EachQuery(Contribution):
    """Every query counts one: neighbours differ in one query."""

    @property
    def places(self) -> int:
        return 0

    def of(self, counts: Sequence[int]) -> list[int]:
        return list(counts)

    def moved_l1(self, topics: int) -> Fraction:
        """One from a topic, and one to another."""
        return Fraction(2)


@dataclass(frozen=True)
class EachAnalyst(Contribution):
    """Every analyst's counts are scaled to length one: neighbours differ in one analyst.

    >>> EachAnalyst().of([3, 0, 4]) == [3 * 2**20 // 5, 0, 4 * 2**20 // 5]
    True
    """

    @property
    def places(self) -> int:
        """Steps of 2**-20."""
        return 20

    def of(self, counts: Sequence[int]) -> list[int]:
        """Counts over their length, rounded down: no vector becomes longer than one."""
        squared = sum(count * count for count in counts)
        if not squared:
            return [0] * len(counts)
        return [math.isqrt((count * count << 2 * self.places) // squared) for count in counts]

    def moved_l1(self, topics: int) -> Fraction:
        """The root of the topics times the L2 norm."""
        return sqrt_above(Fraction(2 * topics)) * (1 << self.places)


@dataclass(frozen=True)
class TopicProfile:
    """A noisy profile: the weight of each topic, in queries or analysts, and the noise's spread."""

    weights: Mapping[Places, float]
    spread: float
    event: Event

    def importance(self, universe: Universe, *, even: float = 0.25) -> dict[Places, float]:
        """How much a cell of each topic matters: the profile, and ``even`` for all alike.

        Weights that noise may explain, up to twice its spread, count as nothing. The even part
        keeps topics usable that nobody seemed to ask about.
        """
        clear = {
            places: weight for places, weight in self.weights.items() if weight > 2 * self.spread
        }
        total = sum(clear.values())
        cells = {
            places: math.prod(universe.shape[place] for place in places) for places in self.weights
        }
        every = sum(cells.values())
        part = even if total else 1.0
        return {
            places: part * cells[places] / every
            + ((1 - part) * clear.get(places, 0.0) / total if total else 0.0)
            for places in self.weights
        }


@dataclass(frozen=True)
class ProfileRelease:
    """Releases the profile of all queries of a round over the topics of a public class.

    Assumptions: queries are of the public class; what is private here is who asked what.

    Guarantee: to analysts, the event of one additive release of the profile. No data is read.

    Source: analysts-verified:H10. Proof: ``proofs/analysts-profile.md``.
    """

    universe: Universe
    asked: Conjunctions
    spend: Guarantee
    each: Contribution = field(default_factory=EachQuery)
    randomness: Source = SYSTEM
    choice: NoiseChoice = ANY

    def __post_init__(self) -> None:
        """Refuse what cannot be priced."""
        _ = self.noise

    @cached_property
    def topics(self) -> list[Places]:
        """All public topics."""
        return attribute_sets(self.universe, self.asked.ways)

    @cached_property
    def noise(self) -> WholeNoise:
        """Noise on whole steps: of all that the spend permits, the least."""
        return least_noise(
            self.choice.readings(self.spend),
            l1=self.each.moved_l1(len(self.topics)),
            l2=self.each.l2_sensitivity,
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What the profile costs analysts."""
        return self.noise.event

    @cached_property
    def spread(self) -> float:
        """The standard deviation of an entry."""
        return float(distribution_of(self.noise, step=2.0**-self.each.places).std)

    def require_topic(self, places: Places) -> None:
        """Refuse a query outside the public class, to the analyst who submits it."""
        if places not in set(self.topics):
            raise outside_class(places)

    def release(self, submitted: Sequence[Topics]) -> TopicProfile:
        """The profile of all analysts' queries; every topic has an entry, asked or not."""
        rows = {places: row for row, places in enumerate(self.topics)}
        total: Ints = np.zeros(len(rows), dtype=np.int64)
        for analyst in submitted:
            counts = [0] * len(rows)
            for places in analyst:
                # What the public rule excludes was refused to its own analyst; here it counts
                # as not asked, so that nobody else sees it.
                if places in rows:
                    counts[rows[places]] += 1
            total += np.array(self.each.of(counts), dtype=np.int64)
        noisy = np.asarray(self.noise.release(total), dtype=np.float64) / (1 << self.each.places)
        weights = dict(zip(self.topics, noisy.tolist(), strict=True))
        return TopicProfile(weights, self.spread, self.event)
