"""Approximate equilibria of zero-sum games by two players who learn in log-space.

Every round both players move from the same past, and only then learn of each other's move: the
order matters to the martingale argument behind the accuracy. If each player's average regret is at
most r, the average play loses at most the sum of both against any comparator.

The query player's law over signed queries is kept below 1/s for each group of queries: pairs
{q, not q}, or all signed queries of one analyst. A draw takes a group at the cap uniformly or one
below it by weight, and then a member by weight: exactly, for the scores as they are stored.

Source: analysts-verified:H3, H4. Proof: ``proofs/analysts-projection.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats, Ints
from discreet.noise import Source, bernoulli, bernoulli_exp, uniform_integers
from discreet.queries.analysts.capped_projection import Capped, capped, pair_logs
from discreet.queries.log_weights import LogWeights, log_sums

Mine = TypeVar("Mine")
Theirs = TypeVar("Theirs")
Mine_co = TypeVar("Mine_co", covariant=True)
Theirs_contra = TypeVar("Theirs_contra", contravariant=True)


class Player(Protocol[Mine_co, Theirs_contra]):
    """Someone who moves from the past and learns from the other's move."""

    def move(self) -> Mine_co:
        """This round's move; it may be random, and depends on earlier rounds only."""

    def learn(self, move: Theirs_contra) -> None:
        """Take the other's move into account."""


def equilibrium(
    first: Player[Mine, Theirs], second: Player[Theirs, Mine], *, rounds: int
) -> list[Mine]:
    """Play ``rounds`` rounds; the first player's moves."""
    moves = []
    for _ in range(rounds):
        mine, theirs = first.move(), second.move()
        first.learn(theirs)
        second.learn(mine)
        moves.append(mine)
    return moves


@dataclass
class Sampler:
    """The data player: iid cells by exponential weights, with whole gains.

    Cell x is drawn with probability proportional to exp(rate * gain of x), exactly.
    """

    weights: LogWeights
    batch: int
    randomness: Source

    def move(self) -> Ints:
        return self.weights.draw(self.batch, self.randomness)

    def learn(self, move: Ints) -> None:
        """Add what each cell would have gained."""
        self.weights.learn(move)


@dataclass(frozen=True, eq=False)
class SignedLaw:
    """The query player's law: queries q and their negations, with weights exp(+tilt), exp(-tilt).

    ``width`` consecutive queries, with their negations, make a group.
    """

    tilts: Floats
    width: int
    groups: Capped

    @classmethod
    def project(cls, tilts: Floats, width: int, s: int) -> SignedLaw:
        """The law closest to the weights with no group above 1/s."""
        logs = pair_logs(tilts)
        return cls(tilts, width, capped(logs if width == 1 else log_sums(logs, width), s))

    def draw(self, size: int, source: Source) -> Ints:
        """How often each query was drawn, less how often its negation, in ``size`` iid draws."""
        query, sign = self.signed_draws(size, source)
        net = np.zeros(self.tilts.size, dtype=np.int64)
        np.add.at(net, query, sign)
        return net

    def signed_draws(self, size: int, source: Source) -> tuple[Ints, Ints]:
        """The iid draws themselves: places of queries, and +1 or -1."""
        groups = self._draw_groups(size, source)
        tops = np.abs(self.tilts).reshape(-1, self.width).max(axis=1)
        query, sign = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        left = np.arange(size)
        while left.size:
            # Rejection within the group: a uniform member, kept with exp(score - best score).
            member = uniform_integers(2 * self.width, left.size, source)
            asked = groups[left] * self.width + member // 2
            signs = 1 - 2 * (member % 2)
            kept = _draw_keep_coins(tops[groups[left]], signs * self.tilts[asked], source)
            query[left[kept]], sign[left[kept]] = asked[kept], signs[kept]
            left = left[~kept]
        return query, sign

    def _draw_groups(self, size: int, source: Source) -> Ints:
        full = np.flatnonzero(self.groups.full)
        free = np.flatnonzero(~self.groups.full)
        at_cap = bernoulli(Fraction(len(full), self.groups.s), size, source)
        chosen = np.empty(size, dtype=np.int64)
        many = int(at_cap.sum())
        if many:
            chosen[at_cap] = full[uniform_integers(len(full), many, source)]
        if many < size:
            below = LogWeights(self.groups.scores[free])
            chosen[~at_cap] = free[below.draw(size - many, source)]
        return chosen

    def net(self) -> Floats:
        """The probability of each query less that of its negation."""
        logs = pair_logs(self.tilts).reshape(-1, self.width)
        inside = np.exp(logs - log_sums(logs.ravel(), self.width)[:, None])
        share = (self.groups.masses / self.groups.s)[:, None] * inside
        return np.asarray(share.ravel() * np.tanh(self.tilts))


def _draw_keep_coins(best: Floats, scores: Floats, source: Source) -> NDArray[np.bool_]:
    """Coins with heads at exp(score - best), exactly."""

    def exactly(place: int) -> Fraction:
        return Fraction(float(best[place])) - Fraction(float(scores[place]))

    return bernoulli_exp(best - scores, exactly, source)
