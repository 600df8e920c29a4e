"""Recommendations without telling what one likes: items are learnt from noisy gradients.

A rating is modelled as the inner product of a person's taste and an item's factors. The server
keeps the factors and publishes them each round. A device finds its own taste from them and its
ratings, and tells the gradient of its squared error in the factors, as one randomised vector. Each
person reports in one round, with all of epsilon, rather than in every round with a part of it; the
taste itself is never sent.

Source: 004a:C29 (the gradient has items times factors coordinates, not items as printed), C30.
Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData
from discreet.core.events.event import Event
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number, count, positive
from discreet.core.unit import AddRemoveUnit, Replace
from discreet.local.collection import Collection
from discreet.local.randomiser import require_people
from discreet.local.tally import Tally
from discreet.local.unit_vectors import PrivUnit
from discreet.local.vectors import VectorRandomiser
from discreet.noise import SYSTEM, Source, permutation, uniform_integers

Floats = NDArray[np.float64]
_STEPS = 1 << 20


@dataclass(frozen=True, kw_only=True)
class LocalRecommender:
    """Factors of ``items`` that all know, and tastes that only their devices know.

    Ratings are numbers from -1 to 1, NaN where there is none; larger ones are clamped. ``clamp``
    bounds the length of a gradient, ``step`` multiplies the mean one, ``ridge`` keeps tastes short;
    all of them are public. Items are fixed from the start; a new person needs no new round.
    """

    epsilon: Number
    items: int
    factors: int
    rounds: int
    clamp: float
    step: float
    ridge: float
    vectors: type[VectorRandomiser] = PrivUnit
    randomness: Source = SYSTEM

    def __post_init__(self) -> None:
        """Refuse counts and scales that are not positive."""
        for name in ("items", "factors", "rounds"):
            count(name, getattr(self, name))
        for name in ("clamp", "step", "ridge"):
            positive(name, getattr(self, name))

    @cached_property
    def question(self) -> VectorRandomiser:
        """What a person is asked in the one round: a gradient, item by item."""
        return self.vectors(
            epsilon=self.epsilon,
            dimensions=self.items * self.factors,
            randomness=self.randomness,
        )

    @property
    def event(self) -> Event:
        """What each person pays, whatever the number of rounds."""
        return self.question.event

    def guarantee(self, *, unit: AddRemoveUnit | Replace) -> PureDP:
        """What each person, or device, is promised: any ratings against any others."""
        return PureDP(epsilon=self.epsilon, unit=require_people(unit))

    def collection(self, name: str, *, turn: int) -> Collection:
        """The collection of one round, which is its version."""
        return Collection(name=name, version=turn, oracle=self.question, memoised=False)

    def start(self) -> Floats:
        """Factors before anybody told anything: random, so that they differ."""
        drawn = uniform_integers(2 * _STEPS, self.items * self.factors, self.randomness)
        return np.asarray((drawn / _STEPS - 1).reshape(self.items, self.factors))

    def tastes(self, ratings: Any, factors: Floats) -> Floats:
        """For each row of ratings the taste that fits best: on the device, and never sent."""
        rated, known = self._read_ratings(ratings)
        products = np.einsum("ij,jk,jl->ikl", known, factors, factors)
        aims = (rated * known) @ factors
        solved = np.linalg.solve(products + self.ridge * np.eye(self.factors), aims[..., None])
        return np.asarray(solved[..., 0])

    def gradients(self, ratings: Any, factors: Floats) -> Floats:
        """What a device tells, before it is randomised: one row each, divided by ``clamp``."""
        rated, known = self._read_ratings(ratings)
        own = self.tastes(ratings, factors)
        misses = known * (rated - own @ factors.T)
        found = -misses[:, :, None] * own[:, None, :]
        return np.asarray(found.reshape(len(rated), -1) / self.clamp)

    def update_factors(self, factors: Floats, tally: Tally) -> Floats:
        """The factors after a round, from the tally of its reports."""
        mean = self.question.mean(tally).mean.reshape(factors.shape)
        return np.asarray(factors - self.step * self.clamp * mean)

    def fit(self, ratings: Any) -> Floats:
        """The factors after all rounds, the mean of the second half; ratings stay with people."""
        rated, _ = self._read_ratings(ratings)
        if len(rated) < self.rounds:
            raise _misfit(self.items)
        factors, later = self.start(), []
        turns = np.array_split(permutation(len(rated), self.randomness), self.rounds)
        for turn, people in enumerate(turns):
            told = self.question.privatize_many(
                self.gradients(np.asarray(ratings, dtype=np.float64)[people], factors)
            )
            factors = self.update_factors(factors, self.question.aggregate(told))
            if 2 * turn >= self.rounds:
                later.append(factors)
        return np.mean(later, axis=0) if later else factors

    def predicted(self, ratings: Any, factors: Floats) -> Floats:
        """Ratings of all items for each row, from what it has rated: on the device."""
        return np.asarray(self.tastes(ratings, factors) @ factors.T)

    def _read_ratings(self, ratings: Any) -> tuple[Floats, Floats]:
        """Ratings without NaN, clamped, and where there are any; no number is refused."""
        rows = np.asarray(ratings, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.items:
            raise _misfit(self.items)
        known = ~np.isnan(rows)
        return np.clip(np.where(known, rows, 0.0), -1, 1), known.astype(np.float64)


def _misfit(items: int) -> InvalidData:
    return InvalidData(
        code="local_ratings",
        expectation=f"rows of {items} ratings, one row for each person and at least one a round",
        remedy="Pass NaN where somebody has not rated.",
    )
