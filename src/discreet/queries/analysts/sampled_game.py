"""A1: both players draw, and the query player's draws stay hidden.

In each round the data player draws ``batch_x`` cells and the query player ``batch_q`` signed
queries, both from the same past. The cells are published; the queries are never shown.

Guarantees. Data: a query of round t is one draw whose log-weights move within eta_q (t-1) / n;
given the queries, the cells are free of data. Analysts: (epsilon, delta) by the dynamic programme
of ``flags``. Accuracy: fewer than s groups err by more than ``alpha``.

Source: analysts-verified:H4 (A1), H5. Errata: the printed query update has the wrong sign, the
printed order draws one player after the other, and pairs need a cap of their own.
Proof: ``proofs/analysts-sampled-game.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Ints
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Composed, Event, Nothing
from discreet.core.events.mechanisms import Approximate, Exponential, Unprotected
from discreet.core.guarantee import ApproxDP
from discreet.core.parameters import Number, count, exact
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.noise import Source
from discreet.queries.analysts.accuracy import sampled_alpha
from discreet.queries.analysts.flags import expected_flags, hidden_delta
from discreet.queries.analysts.game import Game, Tilts
from discreet.queries.analysts.guarantee import AnalystGuarantee

_SINGLE = 1 << 24


@dataclass
class Drawing:
    """The query player of A1: draws signed queries by the capped law."""

    tilts: Tilts
    batch: int
    randomness: Source

    def move(self) -> Ints:
        """For each cell, how many levels the drawn queries give it, up to a constant."""
        net = self.tilts.distribution.draw(self.batch, self.randomness)
        queries = self.tilts.queries
        # Whole numbers, exact in either precision.
        small = self.batch * queries.shape.levels < _SINGLE
        gains = queries.along(net.astype(np.float32) if small else net.astype(np.float64))
        return np.rint(gains).astype(np.int64)

    def learn(self, move: Ints) -> None:
        """Take the cells into account."""
        self.tilts.learn(move)


@dataclass(frozen=True, kw_only=True)
class SampledGame(Game):
    """A1 with public parameters; ``promise`` is what analysts are promised about each other.

    ``promise=None`` promises them nothing: no accountant prices what it records for them.

    Contract: O(|X| batch_q + |Q| batch_x) for each round. The promise is checked by the dynamic
    programme when the game is made, and refused if it does not hold.

    Assumptions: data are exact counts over the universe; neighbours as ``size`` says, with at most
    ``records`` records of a person. All parameters and the round's shape are public.

    Guarantee: to people, the event of all draws of queries; to analysts ``promise``, checked when
    it is made.

    Source: analysts-verified:H4, H5. Proof: ``proofs/analysts-sampled-game.md``.
    """

    batch_q: int
    promise: ApproxDP | None

    def __post_init__(self) -> None:
        """Refuse promises that the programme does not confirm."""
        super().__post_init__()
        object.__setattr__(self, "batch_q", count("batch_q", self.batch_q))
        if self.promise is not None and self.delta(self.promise.epsilon) > self.promise.delta:
            raise InvalidParameter(
                code="analyst_promise_broken",
                expectation="parameters by which the programme confirms the promise",
                received=self.promise,
                remedy="Use a smaller step_x, fewer rounds, or a larger s or batch_q.",
            )

    def delta(self, epsilon: Number) -> float:
        """What the programme certifies for analysts at ``epsilon``."""
        if self.share >= 1:
            return 1.0
        return hidden_delta(
            flags=expected_flags(draws=self.draws, share=self.share),
            pull=self.pull,
            epsilon=float(epsilon),
        )

    @property
    def draws(self) -> int:
        """J: all hidden draws."""
        return self.rounds * self.batch_q

    @property
    def pull(self) -> float:
        """y = (eta_x / b_q) sqrt(M), rounded up."""
        return float(exact(self.step_x) / self.batch_q) * math.sqrt(self.points) * (1 + 2.0**-50)

    @property
    def event(self) -> Event:
        """One exponential draw for each hidden query; those of the first round know no data."""
        step = self.records * exact(self.step_q) / self.population
        slack = exact(self.slack)
        parts = tuple(
            Exponential(epsilon=_up(step * t + slack)) * self.batch_q for t in range(1, self.rounds)
        )
        return mark_unprotected_event(Composed(parts) if parts else Nothing(), self.randomness)

    @property
    def analysts(self) -> AnalystGuarantee:
        if self.promise is None:
            nothing = Unprotected(Nothing(), reason="analysts were promised nothing")
            return AnalystGuarantee(self.protects, nothing)
        event = Approximate(epsilon=self.promise.epsilon, delta=self.promise.delta)
        return AnalystGuarantee(self.protects, mark_unprotected_event(event, self.randomness))

    def alpha(self, *, beta: float) -> float:
        """Fewer than s groups err by more, with probability at least 1 - beta."""
        return float(
            sampled_alpha(
                cells=self.shape.universe.size,
                entropy=self.entropy,
                rounds=self.rounds,
                reach_x=self.reach_x,
                reach_q=self.reach_q,
                points=self.points,
                draws=self.draws,
                beta=beta,
            )
        )

    def gain_rate(self) -> Fraction:
        """eta_x / 2 for the mean of a batch, in levels."""
        return exact(self.step_x) / (2 * self.batch_q * self.shape.levels)

    def query_player(self, tilts: Tilts) -> Drawing:
        return Drawing(tilts, self.batch_q, self.randomness)


def _up(value: Fraction) -> float:
    return math.nextafter(float(value), math.inf)
