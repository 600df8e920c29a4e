"""Softmax regression against private gradient descent with charged tuning, at equal (ε, δ).

The other side is DP-SGD with the whole table as batch, which is its most accurate form where time
does not matter: softmax losses, gradients of each row clipped, normal noise, sums in floating
point. Its rate, clip and number of steps are found by ``GridSearch``, which is paid for from the
same spend; the number of rows is told to it for nothing. Discreet's own estimator, which is of the
same kind and has fixed rules instead, is used as it is.
"""

from __future__ import annotations

import math
import os
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from learn_data import Task
from timing import Figure

import discreet as dp
from discreet import learn
from discreet.core.events.mechanisms import Concentrated
from discreet.core.guarantee import ZCDP
from discreet.core.parameters import exact
from discreet.noise import rounded_gaussian

DELTA = 1e-5
SEEDS = int(os.environ.get("DISCREET_SEEDS", "10"))
GRID = {"pace": [0.3, 1.0, 3.0, 10.0], "clip": [0.3, 1.0], "steps": [10, 30]}
RUNS = 15


class GradientClassifier(learn.LogisticRegression):  # type: ignore[misc]
    """Softmax regression by full-batch DP-SGD, for a spend in ZCDP."""

    def __init__(
        self,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        classes: Any = None,
        pace: float = 1.0,
        clip: float = 1.0,
        steps: int = 30,
        randomness: Any = None,
    ) -> None:
        """``pace`` is the rate of descent over the number of rows."""
        super().__init__(
            spend=spend,
            unit=unit,
            bounds=bounds,
            classes=classes,
            centring=None,
            randomness=randomness,
        )
        self.pace = pace
        self.clip = clip
        self.steps = steps

    def _optimiser(self, privacy: Any, dimension: int, classes: int) -> Any:
        return GradientSteps(self, privacy)


@dataclass(frozen=True)
class GradientSteps:
    """The steps of one such fit."""

    model: GradientClassifier
    privacy: Any

    @property
    def event(self) -> Any:
        """All of the spend."""
        return Concentrated(self.privacy.spend.rho)

    def minimise(self, units: Any, labels: Any) -> Any:
        """Coefficients after the last step."""
        model, privacy = self.model, self.privacy
        rho = exact(privacy.spend.rho)
        scale = (
            Fraction(math.sqrt(model.steps / (2 * float(rho)))) * privacy.rows_that_differ * 2**30
        )
        kinds, wide = len(model.classes_), units.shape[1]
        true = np.eye(kinds)[labels]
        theta, squares = np.zeros((kinds, wide)), (units**2).sum(axis=1)
        for _ in range(model.steps):
            scores = units @ theta.T
            shares = np.exp(scores - scores.max(axis=1, keepdims=True))
            shares /= shares.sum(axis=1, keepdims=True)
            rest = shares - true  # a row's gradient is its outer product with the row
            length = np.sqrt((rest**2).sum(axis=1) * squares)
            cut = np.minimum(1.0, model.clip / np.maximum(length, 1e-12))
            clipped = (rest * cut[:, None]).T @ units
            noise = rounded_gaussian(scale, kinds * wide, privacy.randomness) * 2.0**-30
            theta -= model.pace / len(units) * (clipped + model.clip * noise.reshape(theta.shape))
        return theta[1:] - theta[:1] if kinds == 2 else theta


def scores(split: Path, epsilon: float) -> tuple[float, float]:
    """Test accuracies of both sides on one split."""
    part = np.load(split)
    given = {"bounds": (part["low"], part["high"]), "classes": list(range(int(part["classes"])))}
    spend = dp.ApproxDP(epsilon=epsilon, delta=DELTA)
    mine = learn.SoftmaxRegression(spend=spend, unit=dp.Row(), **given)
    other = learn.GridSearch(
        GradientClassifier(**given),
        GRID,
        spend=dp.ApproxDP(epsilon=epsilon, delta=DELTA, by=ZCDP),
        unit=dp.Row(),
        runs=RUNS,
    )
    found = [
        float(each.fit(part["x_fit"], part["y_fit"]).score(part["x_test"], part["y_test"]))
        for each in (mine, other)
    ]
    return found[0], found[1]


def compared(task: Task, epsilon: float, folder: Path) -> Figure:
    """The paired difference for one table and epsilon."""
    pairs = np.array([scores(task.split(s, folder / "sgd.npz"), epsilon) for s in range(SEEDS)])
    gap = pairs[:, 0] - pairs[:, 1]
    error = float(gap.std(ddof=1) / math.sqrt(len(gap)))
    mean = pairs.mean(axis=0)
    print(task.name, "DP-SGD", epsilon, mean.round(3), round(error, 3), file=sys.stderr, flush=True)
    return Figure(
        name=f"learn/over-sgd/{task.name.replace(' ', '-')}/{epsilon:g}",
        values=[float(gap.mean())],
        unit="score",
        at_least=-error,
        remark=f"{mean[0]:.3f} against {mean[1]:.3f}, error {error:.3f}, {SEEDS} seeds",
    )
