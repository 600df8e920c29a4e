"""Learning from gradients that are randomised on the device: one round for each person.

People are divided at random into as many batches as there are rounds. In its round, a person
computes the gradient of the loss at the current coefficients, clamps its coordinates, and reports
one of them by one noisy bit. Rounds adapt to earlier ones; every person is asked once, so that the
guarantee does not depend on their number.

Source: 004a:C24, C27.
Proof: ``proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData
from discreet.core.events.event import Event
from discreet.core.guarantee import PureDP
from discreet.core.parameters import Number, count, finite, positive
from discreet.core.unit import AddRemoveUnit, Replace
from discreet.local.collection import Collection
from discreet.local.projection import RandomProjection
from discreet.local.randomiser import require_people
from discreet.local.tally import Tally
from discreet.local.vectors import VectorMean, VectorRandomiser
from discreet.noise import permutation

Floats = NDArray[np.float64]


class RowLoss(Protocol):
    """A loss of one person's features and target, by its gradient."""

    def gradients(self, features: Floats, targets: Floats, coefficients: Floats) -> Floats:
        """One gradient for each person, in rows."""


@dataclass(frozen=True)
class SquaredLoss:
    """Half the squared error of a linear prediction."""

    def gradients(self, features: Floats, targets: Floats, coefficients: Floats) -> Floats:
        """(x · w - y) x for each row."""
        found: Floats = (features @ coefficients - targets)[:, None] * features
        return found


@dataclass(frozen=True)
class HingeLoss:
    """The hinge of a linear score, for targets of -1 and 1."""

    def gradients(self, features: Floats, targets: Floats, coefficients: Floats) -> Floats:
        """-y x where y (x · w) is below one, else nothing."""
        active = targets * (features @ coefficients) < 1
        found: Floats = -(active * targets)[:, None] * features
        return found


@dataclass(frozen=True, kw_only=True)
class LocalGradientDescent:
    """Gradient descent in which each person reports once.

    ``clamp`` bounds every coordinate of a gradient, or its length where ``vectors`` is
    :class:`~discreet.local.unit_vectors.PrivUnit`; ``step`` multiplies it, ``ridge`` pulls
    coefficients to zero. All of them are public.

    ``projection`` makes long gradients short before they are clamped, by a public matrix of each
    round: for many features, of which a person has few.

    On devices: publish :meth:`collection` of a round with the coefficients so far; clients of that
    round report their gradient divided by ``clamp``, projected before if there is a projection;
    :meth:`update_coefficients` goes on from the tally.
    """

    epsilon: Number
    loss: RowLoss
    rounds: int
    clamp: float
    step: float
    ridge: float = 0.0
    vectors: type[VectorRandomiser] = VectorMean
    projection: RandomProjection | None = None

    def __post_init__(self) -> None:
        """Refuse rounds, clamps and steps that are not positive."""
        count("rounds", self.rounds)
        positive("clamp", self.clamp)
        positive("step", self.step)
        finite("ridge", self.ridge)

    @cached_property
    def event(self) -> Event:
        """What each person pays, whatever the number of rounds."""
        return self.question(1).event

    def guarantee(self, *, unit: AddRemoveUnit | Replace) -> PureDP:
        """What each person, or device, is promised: any row against any other."""
        return PureDP(epsilon=self.epsilon, unit=require_people(unit))

    def question(self, dimensions: int) -> VectorRandomiser:
        """What a person of a round is asked: a gradient of so many coordinates, or its image."""
        told = dimensions if self.projection is None else self.projection.dimensions
        return self.vectors(epsilon=self.epsilon, dimensions=told)

    def collection(self, name: str, *, dimensions: int, turn: int) -> Collection:
        """The collection of one round, which is its version: reports of other rounds are refused.

        Contract: people are divided among rounds, each in one, without looking at their data.
        """
        return Collection(name=name, version=turn, oracle=self.question(dimensions), memoised=False)

    def update_coefficients(self, coefficients: Floats, tally: Tally, *, turn: int) -> Floats:
        """The coefficients after a round, from the tally of its reports."""
        mean = self.question(len(coefficients)).mean(tally).mean
        if self.projection is not None:
            mean = self.projection.up(mean, len(coefficients), turn=turn)
        found: Floats = coefficients - self.step * (self.clamp * mean + self.ridge * coefficients)
        return found

    def fit(self, features: Any, targets: Any) -> Floats:
        """Coefficients after all rounds, the mean of the second half of them.

        Features and targets stay with their people; only reports reach the coefficients. No number
        is refused, for a refusal would tell it: NaN counts as 0, an infinite number as the largest
        one, and a coordinate of a gradient that is NaN as 0.
        """
        rows = np.nan_to_num(np.asarray(features, dtype=np.float64))
        aims = np.nan_to_num(np.asarray(targets, dtype=np.float64))
        fits = rows.ndim == 2 and aims.shape == (len(rows),) and len(rows) >= self.rounds
        if not fits:
            raise InvalidData(
                code="local_gradient_rows",
                expectation="a row of features and a target for each person, one a round or more",
                remedy="Pass features in two dimensions, and targets in one.",
            )
        question = self.question(rows.shape[1])
        coefficients, later = np.zeros(rows.shape[1]), []
        for turn, batch in enumerate(np.array_split(permutation(len(rows)), self.rounds)):
            with np.errstate(over="ignore", invalid="ignore"):
                gradients = self.loss.gradients(rows[batch], aims[batch], coefficients)
                if self.projection is not None:
                    gradients = self.projection.down(np.nan_to_num(gradients), turn=turn)
                told = question.privatize_many(gradients / self.clamp)
            coefficients = self.update_coefficients(
                coefficients, question.aggregate(told), turn=turn
            )
            if 2 * turn >= self.rounds:
                later.append(coefficients)
        return np.mean(later, axis=0) if later else coefficients
