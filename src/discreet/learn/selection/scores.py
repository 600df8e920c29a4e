"""Scores that are paid for: how good a model is on rows that it was not fitted to.

Each row has a loss within [0, 1]. Released are two noisy sums: of losses, and of what is left to
one. A row adds to both together exactly one, so both cost what one count costs; their
difference ranks models of the same rows with the least noise, and their ratio is the score.

Source: contract, "Numbers"; modern-learn:1 (a score is part of a run). Proof:
``proofs/selection_by_runs.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from discreet.core.arrays import Bools, Floats
from discreet.core.events.event import Event
from discreet.learn.box import Box
from discreet.learn.estimators.base import class_numbers, read_target, target_known
from discreet.learn.exact_sums import sums
from discreet.learn.privacy import Privacy
from discreet.learn.selection.row_predictions import row_predictions
from discreet.mechanisms.for_spend import noise_for

STEPS = 2.0**30


class Score(Protocol):
    """The loss of each row under a fitted model, within [0, 1], and which rows have one."""

    def losses(self, model: Any, X: Any, y: Any) -> tuple[Floats, Bools]:
        """A function of each row and the model alone."""


@dataclass(frozen=True)
class Accuracy:
    """Of classifiers: one for a wrong label. Labels that were not declared count nowhere."""

    def losses(self, model: Any, X: Any, y: Any) -> tuple[Floats, Bools]:
        _, true = class_numbers(model.classes, read_target(y, len(X)))
        _, told = class_numbers(model.classes, row_predictions(model, X))
        return (true != told).astype(np.float64), true >= 0


@dataclass(frozen=True)
class SquaredError:
    """Of regressions: squared, in units of the declared bounds of the target, at most one."""

    def losses(self, model: Any, X: Any, y: Any) -> tuple[Floats, Bools]:
        values, known = target_known(read_target(y, len(X)))
        box = Box.of(model.target_bounds, 1, name="target_bounds")
        both = [box.units(each[:, None])[:, 0] for each in (values, row_predictions(model, X))]
        return ((both[0] - both[1]) / 2) ** 2, known


@dataclass(frozen=True)
class NoisyScore:
    """Noisy sums over rows: of what is good, and of losses. Post-processing from here."""

    good: float
    bad: float

    @property
    def rank(self) -> float:
        """What models of the same rows are compared by."""
        return self.good - self.bad

    @property
    def mean(self) -> float:
        """The mean of what is good, within [0, 1]; one half where noise leaves no rows."""
        total = self.good + self.bad
        return min(1.0, max(0.0, self.good / total)) if total > 0 else 0.5


def noisy_score(
    score: Score, model: Any, data: tuple[Any, Any], counted: Bools, privacy: Privacy
) -> tuple[NoisyScore, Event]:
    """The score on the rows and targets that count, and what it cost.

    Contract: neighbours differ in at most ``privacy.moved`` of the rows that count.
    """
    noise = noise_for(
        privacy.spend,
        l1=privacy.rows_that_differ * int(STEPS),
        l2=privacy.rows_that_differ * int(STEPS),
        randomness=privacy.randomness,
    )
    found, known = score.losses(model, *data)
    lost = np.rint(np.clip(np.nan_to_num(found, nan=1.0), 0, 1) * STEPS)
    place = np.where(counted & known, 0, -1)
    exact = sums(np.stack([STEPS - lost, lost], axis=1), place, 1)[0]
    good, bad = noise.release(np.array([int(each) for each in exact], dtype=np.int64))
    return NoisyScore(float(good) / STEPS, float(bad) / STEPS), noise.event
