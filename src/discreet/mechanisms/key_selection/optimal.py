"""The optimal keep-or-drop rule: no rule that reads only a count names keys more often.

With pi(0) = 0 and, for one group,

    pi(n+1) = min{ e**epsilon pi(n) + delta,  1 - e**-epsilon (1 - pi(n) - delta),  1 },

a key of n people is named with probability pi(n). Both neighbours' laws of {named, not named} are
then (epsilon, delta)-close, with equality, and by induction no other such rule is above it at any
n. The recursion solves in closed form: the first branch while pi(n) is at most
(1 - delta)/(1 + e**epsilon), the second from there.

Source: modern-data:P1 (Desfontaines, Voss, Gipson). Proof: ``proofs/key_selection.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.core.events.event import Event
from discreet.core.events.key_selection import KeySelection
from discreet.core.parameters import Number, exact, probability
from discreet.mechanisms import grid
from discreet.mechanisms.key_selection.rule import (
    MOST_PEOPLE,
    KeptKeys,
    KeySelectionRule,
    out_of_reach,
)
from discreet.noise import Noiseless
from discreet.noise.bernoulli import bernoulli_enclosed
from discreet.noise.enclosure import exp_minus


@dataclass(frozen=True, kw_only=True)
class OptimalSelection(KeySelectionRule):
    """Names each key with the largest probability that (epsilon, delta) allows; no counts.

    Assumptions: those of :class:`KeySelectionRule`.

    Guarantee: (epsilon, delta)-differential privacy for a unit in at most ``groups`` groups, each
    of which gets an equal part. Coins are drawn with exactly the stated probabilities.

    >>> OptimalSelection(epsilon=1, delta=1e-5).people_for(0.5)
    12

    Source: modern-data:P1. Proof: ``proofs/key_selection.md``.
    """

    epsilon: Number
    delta: Number

    def __post_init__(self) -> None:
        """Refuse parameters out of range, or under which nothing would ever be named."""
        super().__post_init__()
        object.__setattr__(self, "epsilon", grid.ordinary("epsilon", self.epsilon))
        object.__setattr__(self, "delta", probability("delta", grid.ordinary("delta", self.delta)))
        if float(self.coin.delta) * MOST_PEOPLE < 1 and float(self.coin.epsilon) < 1e-5:
            raise out_of_reach()

    @property
    def distribution(self) -> None:
        """No counts are published."""

    @cached_property
    def coin(self) -> KeepProbability:
        """The law of one key."""
        parts = self.groups * self.swaps
        return KeepProbability(exact(self.epsilon) / parts, exact(self.delta) / parts)

    def _event(self) -> Event:
        return KeySelection(
            epsilon=self.epsilon, delta=self.delta, groups=self.groups, swaps=self.swaps
        )

    def _release(self, people: NDArray[np.int64]) -> KeptKeys:
        chances = self._probabilities(people)
        if isinstance(self.randomness, Noiseless):
            return KeptKeys(chances >= 0.5, None)
        coin = self.coin
        return KeptKeys(
            bernoulli_enclosed(
                chances, lambda i, bits: coin.enclosed(int(people[i]), bits), self.randomness
            ),
            None,
        )

    def _probabilities(self, people: NDArray[np.int64]) -> NDArray[np.float64]:
        """Looked up in a table of small counts; beyond its end every key is named."""
        if self.coin.turn > _LONGEST_TABLE:
            return self.coin.probabilities(people)
        chances = self.coin.table
        if chances[-1] < 1:
            return self.coin.probabilities(people)
        return np.asarray(chances[np.minimum(people, len(chances) - 1)])


_LONGEST_TABLE = 1 << 16
"""Where the turn is later, each chance is computed when it is asked for."""


@dataclass(frozen=True)
class KeepProbability:
    """pi(n) at (epsilon, delta) for one group: in doubles, and enclosed as closely as asked."""

    epsilon: Fraction
    delta: Fraction

    @cached_property
    def turn(self) -> int:
        """The first n with pi(n) > (1 - delta)/(1 + e**epsilon), decided in exact arithmetic."""
        e, d = float(self.epsilon), float(self.delta)
        grown = math.expm1(min(e, 700.0)) * (1 - d) / (d * (1 + math.exp(min(e, 700.0))))
        guess = max(1, math.floor(math.log1p(grown) / e) + 1)
        while guess > 1 and not self._below(guess - 1):
            guess -= 1
        while self._below(guess):
            guess += 1
        return guess

    def probabilities(self, people: NDArray[np.int64]) -> NDArray[np.float64]:
        """pi in double precision, off by far less than the margin of the sampler."""
        e, d, turn = float(self.epsilon), float(self.delta), self.turn
        unit = d / math.expm1(e) if e < 700 else 0.0
        first = np.minimum(people, turn).astype(np.float64)
        if e < 700:
            low = unit * np.expm1(np.minimum(first * e, 700.0))
        else:
            low = np.where(first > 0, d, 0.0)
        later = np.maximum(people - turn, 0).astype(np.float64)
        fall = np.exp(-later * e)
        rest = fall * (1 - low) + unit * np.expm1(-later * e)
        return np.where(people <= turn, np.minimum(low, 1.0), 1 - np.maximum(rest, 0.0))

    @cached_property
    def table(self) -> NDArray[np.float64]:
        """pi(0), pi(1), ... well past the turn, where it is usually one."""
        return self.probabilities(np.arange(3 * self.turn + 64))

    def enclosed(self, people: int, bits: int) -> tuple[int, int]:
        """Integers with ``low <= 2**bits pi(n) <= high``."""
        low, high = self._pi(people, bits + 8)
        return math.floor(low * (1 << bits)), math.ceil(high * (1 << bits))

    def _pi(self, people: int, bits: int) -> tuple[Fraction, Fraction]:
        if people <= self.turn:
            low, high = self._rising(people, bits)
            return low, min(high, Fraction(1))
        least, most = self._rising(self.turn, bits)
        work = self._work(self.turn, bits)
        fall = _exp(self.epsilon * (people - self.turn), work)
        ratio = [e / (1 - e) for e in _exp(self.epsilon, work)]
        bottom = fall[0] * (1 - min(most, Fraction(1))) - self.delta * (1 - fall[0]) * ratio[1]
        top = fall[1] * (1 - least) - self.delta * (1 - fall[1]) * ratio[0]
        return 1 - max(top, Fraction(0)), 1 - max(bottom, Fraction(0))

    def _rising(self, people: int, bits: int) -> tuple[Fraction, Fraction]:
        """delta (e**(n epsilon) - 1)/(e**epsilon - 1), in powers of e**-epsilon."""
        if people == 0:
            return Fraction(0), Fraction(0)
        work = self._work(people, bits)
        once, all_ = _exp(self.epsilon, work), _exp(self.epsilon * people, work)
        low = self.delta * once[0] / (1 - once[0]) * (1 - all_[1]) / all_[1]
        high = self.delta * once[1] / (1 - once[1]) * (1 - all_[0]) / all_[0]
        return low, high

    def _below(self, people: int) -> bool:
        """Whether delta (e**(n eps) - 1)/(e**eps - 1) <= (1 - delta)/(1 + e**eps).

        Never equal, since e**epsilon is no algebraic number; so some precision decides.
        """
        bits = 64
        while True:
            low, high = self._rising(people, bits)
            once = _exp(self.epsilon, self._work(1, bits))
            least, most = ((1 - self.delta) * e / (1 + e) for e in once)
            if high <= least:
                return True
            if low > most:
                return False
            bits *= 2

    def _work(self, people: int, bits: int) -> int:
        """Bits at which powers leave ``bits`` of the result."""
        small = max(0, -_floor_log2(self.epsilon)) + max(0, -_floor_log2(self.delta))
        return bits + 2 * small + math.ceil(self.epsilon * people * 3 / 2) + 32


@lru_cache(maxsize=4096)
def _exp(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    low, high = exp_minus(x, bits)
    return Fraction(low, 1 << bits), Fraction(high, 1 << bits)


def _floor_log2(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length() - 1
