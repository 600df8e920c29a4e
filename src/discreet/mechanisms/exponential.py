"""Private selection: the exponential mechanism and permute-and-flip, drawn exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.events.mechanisms import Exponential as ExponentialEvent
from discreet.core.events.mechanisms import PermuteAndFlip as PermuteAndFlipEvent
from discreet.core.events.mechanisms import Pure
from discreet.mechanisms.scores import read_scores
from discreet.mechanisms.selection import Selection
from discreet.noise import Noiseless, bernoulli_exp, uniform_integers, winner
from discreet.noise.race import exact_gap, gaps


@dataclass(frozen=True, kw_only=True)
class Exponential(Selection):
    """Chooses candidate i with probability proportional to exp(rate * score_i).

    Assumptions: the list of candidates is public and fixed; each score moves by at most
    ``sensitivity`` between neighbouring data sets (``scores`` says whether in one direction).

    Guarantee: pure epsilon-differential privacy, exactly, with log-probabilities in a range of
    epsilon, so that (epsilon**2)/8-zCDP holds as well.

    >>> Exponential(epsilon=1, sensitivity=1).event
    Exponential(epsilon=1)

    Source: 000a:C7, 000a:C8, 004a:B8, boosting-and-analysts:L3. Proof: ``proofs/selection.md``.
    """

    @staticmethod
    def _kind() -> type[Pure]:
        return ExponentialEvent

    def release(self, scores: Any) -> int:
        """The index of the chosen candidate."""
        return int(winner(read_scores(scores), self.rate(), 1, self.randomness)[0])


@dataclass(frozen=True, kw_only=True)
class PermuteAndFlip(Selection):
    """Chooses like the exponential mechanism at the same epsilon, but never worse.

    Every candidate flips a coin with heads at exp(-rate * (best - score)); one of those with
    heads is chosen uniformly. This is the arg-max of scores with exponential noise, which the
    book takes for the exponential mechanism (its Theorem 3.13 is false: 000a:C9).

    Assumptions: as for the exponential mechanism.

    Guarantee: pure epsilon-differential privacy, exactly. Not of bounded range: its zCDP price
    is epsilon**2 / 2, four times the exponential mechanism's.

    >>> PermuteAndFlip(epsilon=1, sensitivity=1).event
    PermuteAndFlip(epsilon=1)

    Source: 000a:C9, modern-data:N2. Proof: ``proofs/selection.md``.
    """

    @staticmethod
    def _kind() -> type[Pure]:
        return PermuteAndFlipEvent

    def release(self, scores: Any) -> int:
        """The index of the chosen candidate."""
        values = read_scores(scores)
        best = int(np.argmax(values))
        if isinstance(self.randomness, Noiseless):
            return best
        rate = self.rate()
        heads = bernoulli_exp(
            gaps(values, best, rate), lambda i: exact_gap(values, best, rate, i), self.randomness
        )
        # The first with heads in a random order is a uniform one of those with heads.
        winners = np.flatnonzero(heads)
        return int(winners[uniform_integers(len(winners), 1, self.randomness)[0]])
