"""All small histograms, their neighbours, and exact laws of selections by rank."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.mechanisms import Pure
from discreet.core.parameters import Number
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.quantiles import EXPONENTIAL, PERMUTE_AND_FLIP, RankChoice
from discreet.mechanisms.quantiles.choice import Lists
from discreet.mechanisms.quantiles.quantile import RankMechanism
from discreet.mechanisms.quantiles.several import Several
from discreet.noise import Source
from tests.mechanisms import laws

Counts = tuple[int, ...]
BOTH: list[RankChoice] = [PERMUTE_AND_FLIP, EXPONENTIAL]


def histograms(bins: int, rows: int) -> Iterator[Counts]:
    """All histograms of exactly so many rows."""
    for places in combinations_with_replacement(range(bins), rows):
        yield tuple(places.count(j) for j in range(bins))


def pairs(bins: int, most: int, change: int) -> Iterator[tuple[Counts, Counts]]:
    """A histogram of up to ``most`` rows, and itself with ``change`` rows more, anywhere."""
    for rows in range(most + 1):
        for here in histograms(bins, rows):
            for more in histograms(bins, change):
                yield here, tuple(np.add(here, more).tolist())


def law_of(choice: RankChoice, scores: list[float], rate: float) -> list[float]:
    if choice == EXPONENTIAL:
        return laws.exponential(scores, rate)
    return laws.permute_and_flip(scores, rate)


def law(mechanism: RankMechanism, counts: Counts, *, faster: float = 1) -> list[float]:
    """The chance of each candidate; ``faster`` multiplies the rate, for twins."""
    scores = mechanism.scores(np.array(counts))[0].tolist()
    return law_of(mechanism.by, scores, float(mechanism.rate()) * faster)


def loss(p: list[float], q: list[float]) -> float:
    return max(abs(math.log(a) - math.log(b)) for a, b in zip(p, q, strict=True))


@dataclass(frozen=True)
class Loss:
    """The worst loss that enumeration found, against the claim."""

    found: float
    claimed: float

    @property
    def passes(self) -> bool:
        return self.found <= self.claimed + 1e-12


@dataclass(frozen=True)
class Scripted(RankChoice):
    """Takes given picks, and notes how likely they were and how many there are to take."""

    like: RankChoice
    script: tuple[int, ...]
    log_chances: list[float] = field(default_factory=list)
    options: list[int] = field(default_factory=list)

    def event(self, epsilon: Number) -> Pure:
        return self.like.event(epsilon)

    def failure(self, gap: float, candidates: int) -> float:
        return self.like.failure(gap, candidates)

    def counting_noise(
        self, *, epsilon: Number, nodes: int, rows: int, randomness: Source
    ) -> DiscreteLaplace | DiscreteGaussian:
        raise NotImplementedError

    def _draw(self, lists: Lists, source: Source) -> NDArray[np.int64]:
        (rate,) = lists.rates
        chances = law_of(self.like, lists.scores.tolist(), float(rate))
        turn = len(self.options)
        pick = self.script[turn] if turn < len(self.script) else 0
        self.options.append(len(chances))
        self.log_chances.append(math.log(chances[pick]))
        return np.array([pick])


def transcripts(build: Any, choice: RankChoice, counts: Counts) -> dict[tuple[int, ...], float]:
    """Log-chance of every sequence of picks, places within ties included.

    ``build(by)`` makes the mechanism.
    """
    found: dict[tuple[int, ...], float] = {}
    script: tuple[int, ...] = ()
    while True:
        scripted = Scripted(choice, script)
        mechanism: Several = build(scripted)
        mechanism.release(np.array(counts))
        options = scripted.options
        script = (*script, *(0,) * (len(options) - len(script)))
        found[script] = math.fsum(scripted.log_chances)
        last = max((i for i in range(len(script)) if script[i] + 1 < options[i]), default=None)
        if last is None:
            return found
        script = (*script[:last], script[last] + 1)


def transcript_loss(
    p: dict[tuple[int, ...], float], q: dict[tuple[int, ...], float]
) -> tuple[float, float]:
    """Least and largest change of a log-chance."""
    assert p.keys() == q.keys()
    changes = [p[key] - q[key] for key in p]
    return min(changes), max(changes)
