"""DP-FTRL: follow the regularised leader on noisy running sums of gradients.

Each tick reads a batch of rows at the current point, adds their clipped gradients to a running sum
that is private as a whole (a tree, or a banded factorisation), and moves to the minimiser of the
sum so far plus a ridge. Nothing depends on the order of rows being secret or on sampling: batches
may be of today's rows only, and the path is private against everybody who sees all of it.

Source: 004b:C10 (with the corrected regret: one L and the 1/n of the ridge are missing in print),
C11; modern-learn:6. Proof: ``proofs/follow_the_leader.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import Exhausted
from discreet.core.events.event import Event
from discreet.core.parameters import count, nonnegative, positive
from discreet.learn.cells import numbers_of_rows, rows_of_numbers
from discreet.learn.losses import Loss
from discreet.learn.optimisers.gradient_descent import (
    EuclideanBall,
    clipped_sum,
    gradients_of_rows,
)
from discreet.learn.optimisers.prefix_sums import Epochs, PrefixSums
from discreet.learn.privacy import Privacy, bounded_rows
from discreet.noise import uniform_integers
from discreet.streams.counter import ContinualCounter, Counter


@dataclass(frozen=True, kw_only=True)
class FollowTheLeader:
    """Minimises a loss over rows that come in batches, in one pass or several.

    ``passes`` says how often a row is used: once in each epoch, in the same batch. ``ridge`` is the
    weight of the regulariser ridge/2 |θ|²; ``suggested_ridge`` has the one of least regret.

    Assumptions: all parameters are chosen without the data. Whoever feeds batches himself sees to
    it that a row is in at most ``epochs`` of them, at least ``batches`` apart; ``minimise`` does.

    Guarantee: all points together, for gradients that depend on earlier ones, cost ``event``, which
    the spend covers. Neither convexity nor smoothness is needed for that.

    >>> import discreet as dp
    >>> from discreet.learn.losses import LogisticLoss
    >>> from discreet.learn.optimisers.prefix_sums import BandedFactorisation
    >>> made = FollowTheLeader(
    ...     loss=LogisticLoss(),
    ...     clip=1.0,
    ...     ridge=10.0,
    ...     within=EuclideanBall(1),
    ...     passes=Epochs(epochs=4, batches=64),
    ...     sums=BandedFactorisation(),
    ...     dimension=2,
    ...     privacy=Privacy(dp.ZCDP(rho=0.5), dp.Row()),
    ... )
    >>> made.event
    Gaussian(noise_multiplier=Fraction(1, 1))

    Source: 004b:C10, modern-learn:6. Proof: ``proofs/follow_the_leader.md``.

    Numerics: gradients are clipped, rounded towards zero and added up in exact integers; noise is
    on the same grid.
    """

    loss: Loss
    clip: float
    ridge: float
    within: EuclideanBall
    passes: Epochs
    sums: PrefixSums
    dimension: int
    privacy: Privacy

    def __post_init__(self) -> None:
        """Refuse parameters out of range."""
        positive("clip", self.clip)
        positive("ridge", self.ridge)
        count("dimension", self.dimension)
        _ = self.event

    @cached_property
    def counter(self) -> ContinualCounter:
        """The running sums, one key for each coordinate."""
        return self.sums.counter(
            self.passes,
            self.privacy.spend,
            self.privacy.rows_that_differ,
            self.dimension,
            self.privacy.randomness,
        )

    @property
    def event(self) -> Event:
        """What the whole path costs: that of the running sums."""
        return self.counter.event

    def noise(self) -> Floats:
        """The expected length of the noise in the sum after each tick, at most."""
        unit = self.clip * 2.0**-self.sums.bits * math.sqrt(self.dimension)
        ticks = range(1, self.passes.ticks + 1)
        return unit * np.sqrt([self.counter.variance(t) for t in ticks])

    def regret(self, *, norm: float, batch: float = 1.0) -> float:
        """A bound of the expected regret over all ticks against a point of length ``norm``.

        For a convex loss and batches of at most ``batch`` rows whose gradients the clip leaves
        alone: G²T/Δ + G/Δ Σ E|b| + Δ/2 |θ|², with G = batch · clip.
        """
        steep, ticks = float(nonnegative("batch", batch)) * self.clip, self.passes.ticks
        heard = float(self.noise()[:-1].sum())
        return steep * (steep * ticks + heard) / self.ridge + self.ridge / 2 * norm**2

    def suggested_ridge(self, *, norm: float, batch: float = 1.0) -> float:
        """The ridge at which ``regret`` is least; it does not depend on the one that is set."""
        steep, ticks = batch * self.clip, self.passes.ticks
        heard = float(self.noise()[:-1].sum())
        return math.sqrt(2 * steep * (steep * ticks + heard)) / norm

    def open(self) -> Leader:
        """Start, at zero."""
        return Leader(self)

    def minimise(self, x: Floats, y: Floats, people: Any = None) -> Floats:
        """The average of all points; each row is put into its batch by a coin of its own."""
        average: Floats = self.path(x, y, people).mean(axis=0)
        return average

    def path(self, x: Floats, y: Floats, people: Any = None) -> Floats:
        """All points at which gradients were taken, one line each."""
        x, y = bounded_rows(self.privacy, x, y, people, self.dimension)
        place = uniform_integers(self.passes.batches, len(x), self.privacy.randomness)
        parts = [np.flatnonzero(place == batch) for batch in range(self.passes.batches)]
        leader, points = self.open(), []
        for _ in range(self.passes.epochs):
            for part in parts:
                points.append(leader.point)
                leader.step(x[part], y[part])
        return np.array(points)


class Leader:
    """A live path: ``point`` is where the next batch is read, ``step`` reads it."""

    def __init__(self, made: FollowTheLeader) -> None:
        """Start at the minimiser of the ridge alone."""
        self._made = made
        self._counter: Counter = made.counter.open()
        self._point = made.within.start(made.dimension)

    @property
    def point(self) -> Floats:
        """Where the leader is: public, as all points are."""
        return self._point.copy()

    @property
    def tick(self) -> int:
        """Batches that were read."""
        return self._counter.tick

    def step(self, x: Floats, y: Floats) -> Floats:
        """Read one batch, which may be empty, and move."""
        made = self._made
        if self.tick >= made.passes.ticks:
            raise Exhausted(
                code="horizon_reached",
                expectation=f"at most {made.passes.ticks} batches, as was paid for",
                remedy="Start another path, which costs its own event.",
            )
        rows = rows_of_numbers(x, made.dimension)
        sums = self._counter.step(self._increment(rows, numbers_of_rows(y, len(rows))))
        sums = np.asarray(sums, dtype=np.float64) * (made.clip * 2.0**-made.sums.bits)
        self._point = made.within.step_against_gradient(
            np.zeros(made.dimension), sums, 1 / made.ridge
        )
        return self.point

    def _increment(self, x: Floats, y: Floats) -> NDArray[np.int64]:
        """The batch's clipped gradients at the point, in whole steps."""
        made = self._made
        gradients = gradients_of_rows(made.loss, self._point, x, y)
        whole = clipped_sum(gradients, made.clip, made.sums.bits)
        return np.array([int(each) for each in whole], dtype=np.int64)
