"""How one candidate is drawn by its score: permute-and-flip or the exponential mechanism.

Both work on many lists of scores at once and draw exactly. Their laws, their privacy and their
prices are those of ``discreet.mechanisms.PermuteAndFlip`` and ``Exponential``; only the lists
are many here. Source: modern-data:N2, 000a:C7. Proof: ``proofs/quantiles.md``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.mechanisms import Exponential, PermuteAndFlip, Pure
from discreet.core.parameters import Number, exact
from discreet.mechanisms.additive import least_spend
from discreet.mechanisms.discrete_gaussian import DiscreteGaussian
from discreet.mechanisms.discrete_laplace import DiscreteLaplace
from discreet.mechanisms.grid import sqrt_above
from discreet.noise import Noiseless, Source, bernoulli_exp, geometric, uniform_integers, winner

_FAR = 2.0**21
_FIRST = 8


@dataclass(frozen=True)
class Lists:
    """Lists of scores one after another: list i begins at ``starts[i]`` and has ``rates[i]``.

    A rate turns a difference of scores into log-odds. No list is empty; scores are whole and
    within ±2**61. Private.
    """

    scores: NDArray[np.int64]
    starts: NDArray[np.int64]
    rates: tuple[Fraction, ...]

    def lengths(self) -> NDArray[np.int64]:
        """How long each list is."""
        return np.diff(self.starts, append=len(self.scores))

    def behind(self) -> NDArray[np.int64]:
        """How far each score is behind the best of its list."""
        best = np.maximum.reduceat(self.scores, self.starts)
        behind: NDArray[np.int64] = np.repeat(best, self.lengths()) - self.scores
        return behind


class RankChoice(ABC):
    """A way to draw one candidate from each list, at a price."""

    @abstractmethod
    def event(self, epsilon: Number) -> Pure:
        """What one draw costs where rate times the spread of changes is ``epsilon``."""

    @abstractmethod
    def failure(self, gap: float, candidates: int) -> float:
        """The largest chance, over all scores, of a loss of ``gap`` log-odds or more."""

    @abstractmethod
    def counting_noise(
        self, *, epsilon: Number, nodes: int, rows: int, randomness: Source
    ) -> DiscreteLaplace | DiscreteGaussian:
        """Noise for whole counts at the price of a draw at ``epsilon``.

        A row enters ``nodes`` of the counts, and a person has at most ``rows`` of them.
        """

    def draw(self, lists: Lists, source: Source) -> NDArray[np.int64]:
        """One place for each list, counted from the beginning of ``lists.scores``."""
        if isinstance(source, Noiseless):
            first = np.flatnonzero(lists.behind() == 0)
            return first[np.searchsorted(first, lists.starts)]
        return self._draw(lists, source)

    def gap(self, tail: float, candidates: int) -> float:
        """The least number of log-odds that are lost with probability at most ``tail``."""
        if self.failure(0.0, candidates) <= tail:
            return 0.0
        return least_spend(lambda gap: self.failure(gap, candidates) <= tail)

    def expected_gap(self, candidates: int) -> float:
        """A bound of the expected loss in log-odds, over all scores.

        The worst scores are one best and all others equally far behind.
        """
        # Chances fall with the gap, so each cell of the search is bounded by its two ends.
        gaps = np.linspace(0, math.log(candidates) + 12, 4097).tolist()
        worst = max(high * self.failure(low, candidates) for low, high in pairwise(gaps))
        return worst if candidates > 1 else 0.0

    @abstractmethod
    def _draw(self, lists: Lists, source: Source) -> NDArray[np.int64]:
        """With randomness."""


@dataclass(frozen=True)
class ByPermuteAndFlip(RankChoice):
    """Pure epsilon, and never less accurate than the exponential mechanism at that epsilon.

    Its zCDP price is epsilon**2 / 2: it is not of bounded range (modern-data:N2).
    """

    def event(self, epsilon: Number) -> PermuteAndFlip:
        """Permute-and-flip at ``epsilon``."""
        return PermuteAndFlip(epsilon=epsilon)

    def counting_noise(
        self, *, epsilon: Number, nodes: int, rows: int, randomness: Source
    ) -> DiscreteLaplace:
        """Pure: counts move by ``nodes * rows`` in all."""
        return DiscreteLaplace(epsilon=epsilon, sensitivity=nodes * rows, randomness=randomness)

    def failure(self, gap: float, candidates: int) -> float:
        """``1 - (1 - (1-p)**k) / (k p)`` with p = exp(-gap): all but one far behind."""
        p = math.exp(-gap)
        pairs = (candidates - 1) * p / 2  # Bonferroni, for where the exact form cancels
        if pairs < 1e-6:
            return pairs
        none = 0.0 if p == 1 else math.exp(candidates * math.log1p(-p))
        return min(pairs, 1 - (1 - none) / (candidates * p))

    def _draw(self, lists: Lists, source: Source) -> NDArray[np.int64]:
        """Coins for all; then a uniform one of each list's heads."""
        places = np.flatnonzero(_heads(lists, source))
        first = np.searchsorted(places, lists.starts)
        many = np.diff(first, append=len(places))
        picks = np.empty(len(many), dtype=np.int64)
        for number in np.unique(many).tolist():
            same = many == number
            picks[same] = uniform_integers(number, int(same.sum()), source)
        chosen: NDArray[np.int64] = places[first + picks]
        return chosen


def _heads(lists: Lists, source: Source) -> NDArray[np.bool_]:
    """A coin for each score, heads with probability exactly exp(-rate * how far it is behind).

    Scores far behind first need heads at exp(-8), which is cheap to draw.
    """
    behind = lists.behind()
    rates = np.array([float(rate) for rate in lists.rates])
    exponents = np.minimum(behind * np.repeat(rates, lists.lengths()), _FAR)
    far = exponents > _FIRST + 1
    heads: NDArray[np.bool_] = ~far
    heads[far] = geometric(Fraction(1, _FIRST), int(far.sum()), source) > 0
    left = np.flatnonzero(heads)
    paid = np.where(far[left], _FIRST, 0)

    def exactly(place: int) -> Fraction:
        mine = int(np.searchsorted(lists.starts, left[place], side="right")) - 1
        return lists.rates[mine] * int(behind[left[place]]) - int(paid[place])

    heads[left] = bernoulli_exp(exponents[left] - paid, exactly, source)
    return heads


@dataclass(frozen=True)
class ByExponential(RankChoice):
    """The exponential mechanism: pure epsilon of bounded range, hence epsilon**2 / 8 of zCDP."""

    def event(self, epsilon: Number) -> Exponential:
        """The exponential mechanism at ``epsilon``."""
        return Exponential(epsilon=epsilon)

    def counting_noise(
        self, *, epsilon: Number, nodes: int, rows: int, randomness: Source
    ) -> DiscreteGaussian:
        """Concentrated, not pure: of rho epsilon**2 / 8, where rows of a person are all alike."""
        return DiscreteGaussian(
            rho=exact(epsilon) ** 2 / 8,
            sensitivity=rows * sqrt_above(Fraction(nodes)),
            randomness=randomness,
        )

    def failure(self, gap: float, candidates: int) -> float:
        """``(k-1) p / (1 + (k-1) p)`` with p = exp(-gap): all but one far behind."""
        others = (candidates - 1) * math.exp(-gap)
        return others / (1 + others)

    def _draw(self, lists: Lists, source: Source) -> NDArray[np.int64]:
        """Each list on its own."""
        ends = [*lists.starts[1:].tolist(), len(lists.scores)]
        picks = [
            begin + int(winner(lists.scores[begin:end], rate, 1, source)[0])
            for begin, end, rate in zip(lists.starts.tolist(), ends, lists.rates, strict=True)
        ]
        return np.array(picks, dtype=np.int64)


PERMUTE_AND_FLIP = ByPermuteAndFlip()
EXPONENTIAL = ByExponential()
