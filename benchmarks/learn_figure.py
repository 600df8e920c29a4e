"""Excess risk against epsilon, and regret against the number of ticks: drawn into the documents.

Run ``python benchmarks/learn_figure.py``; it needs the extra ``plots``. The problem is logistic
regression of 4000 invented rows with five features within a ball, at a delta of 1e-5. Regret is
that of DP-FTRL on linear losses whose direction turns once, beside its bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
from peers import ROOT

import discreet as dp
from discreet import learn
from discreet.core.plotting import styled
from discreet.learn.optimisers.gradient_descent import descent_rate
from discreet.learn.optimisers.newton import minimise

PICTURE = ROOT / "docs" / "figures" / "private-optimisation.svg"
EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
ROWS, SIZE, RADIUS, REPEATS = 4000, 5, 4.0, 12
COLOURS = {
    "objective perturbation": "#0072B2",
    "output perturbation": "#E69F00",
    "gradient descent": "#009E73",
    "DP-FTRL, tree, one pass": "#CC79A7",
    "DP-FTRL, banded, four passes": "#D55E00",
}
LOSS = learn.LogisticLoss()


def problem() -> tuple[Any, Any]:
    """Rows in the unit ball, and labels."""
    rng = np.random.default_rng(7)
    x = rng.normal(size=(ROWS, SIZE))
    x /= np.maximum(1, np.linalg.norm(x, axis=1))[:, None]
    y = np.where(x @ [3.0, -2.0, 1.0, 0.0, 0.0] + rng.logistic(size=ROWS) > 0, 1.0, -1.0)
    return x, y


def optimisers(epsilon: float) -> dict[str, Callable[[Any, Any], Any]]:
    """What each finds, at one spend."""
    privacy = learn.Privacy(dp.ApproxDP(epsilon=epsilon, delta=1e-5), dp.Row())
    ball = learn.EuclideanBall(RADIUS)
    given: dict[str, Any] = {"loss": LOSS, "rows": learn.Ball(SIZE), "privacy": privacy}
    steps = 50
    descent = learn.GradientDescent(loss=LOSS, steps=steps, clip=1.0, within=ball, privacy=privacy)
    noise = math.sqrt(SIZE) * descent.multiplier
    rate = descent_rate(RADIUS, 1.0, steps, rows=ROWS // 4, noise=noise)

    def leader(epochs: int, sums: Any) -> Any:
        rest: dict[str, Any] = {
            "loss": LOSS,
            "clip": 1.0,
            "within": ball,
            "passes": learn.Epochs(epochs=epochs, batches=32),
            "sums": sums,
            "dimension": SIZE,
            "privacy": privacy,
        }
        wide = learn.FollowTheLeader(ridge=1.0, **rest).suggested_ridge(norm=2.0, batch=ROWS / 64)
        return learn.FollowTheLeader(ridge=wide, **rest).minimise

    return {
        "objective perturbation": learn.ObjectivePerturbation(ridge=1.0, **given).minimise,
        "output perturbation": learn.OutputPerturbation(ridge=10.0, **given).minimise,
        "gradient descent": lambda x, y: descent.minimise(x, y, rate_of_descent=rate),
        "DP-FTRL, tree, one pass": leader(1, learn.TreeAggregation()),
        "DP-FTRL, banded, four passes": leader(4, learn.BandedFactorisation()),
    }


def risks() -> list[dict[str, Any]]:
    """Mean excess losses for each row."""
    x, y = problem()
    best = minimise(LOSS, x, y, ridge=1e-6, tilt=np.zeros(SIZE)).astype(float)
    least = LOSS.value(x @ best, y).mean()
    found = []
    for epsilon in EPSILONS:
        for name, optimise in optimisers(epsilon).items():
            excess = [LOSS.value(x @ optimise(x, y), y).mean() - least for _ in range(REPEATS)]
            found.append({"epsilon": epsilon, "excess": float(np.mean(excess)), "optimiser": name})
    return found


@dataclass(frozen=True)
class Line(learn.AbsoluteLoss):
    """The loss -t."""

    def slope(self, t: Any, y: Any) -> Any:
        """The same everywhere."""
        return -np.ones_like(t)


def regrets() -> list[dict[str, Any]]:
    """Mean regret over some paths, and the bound, for each number of ticks."""
    found = []
    for ticks in (32, 64, 128, 256, 512):
        for name, sums in (
            ("tree", learn.TreeAggregation()),
            ("banded", learn.BandedFactorisation()),
        ):
            given: dict[str, Any] = {
                "loss": Line(),
                "clip": 1.0,
                "within": learn.EuclideanBall(1),
                "passes": learn.Epochs(epochs=1, batches=ticks),
                "sums": sums,
                "dimension": 2,
                "privacy": learn.Privacy(dp.ApproxDP(epsilon=1, delta=1e-5), dp.Row()),
            }
            ridge = learn.FollowTheLeader(ridge=1.0, **given).suggested_ridge(norm=1)
            made = learn.FollowTheLeader(ridge=ridge, **given)
            rows = np.where(np.arange(ticks) < ticks // 3, -1.0, 1.0)[:, None] * [1.0, 0.0]
            losses = []
            for _ in range(REPEATS):
                live, loss = made.open(), float(np.linalg.norm(rows.sum(axis=0)))
                for row in rows:
                    loss -= float(row @ live.point)
                    live.step(row[None], np.ones(1))
                losses.append(loss)
            found.append(
                {"ticks": ticks, "regret": float(np.mean(losses)), "line": f"{name}, measured"}
            )
            found.append({"ticks": ticks, "regret": made.regret(norm=1), "line": f"{name}, bound"})
    return found


def main() -> None:
    """Measure, print, draw."""
    left, right = risks(), regrets()
    for each in (*left, *right):
        print(each)
    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    excess = (
        alt.Chart(alt.Data(values=left), width=300, height=260, title="excess risk of a row")
        .mark_line(point=True)
        .encode(
            x=alt.X("epsilon:Q", scale=alt.Scale(type="log"), title="epsilon"),
            y=alt.Y("excess:Q", scale=alt.Scale(type="log"), title="excess risk"),
            color=alt.Color("optimiser:N", title=None, scale=scale),
        )
    )
    regret = (
        alt.Chart(
            alt.Data(values=right), width=300, height=260, title="regret of DP-FTRL, epsilon 1"
        )
        .mark_line(point=True)
        .encode(
            x=alt.X("ticks:Q", scale=alt.Scale(type="log", base=2), title="ticks"),
            y=alt.Y("regret:Q", scale=alt.Scale(type="log"), title="regret"),
            strokeDash=alt.StrokeDash("line:N", title=None),
        )
    )
    styled(alt.hconcat(excess, regret)).save(PICTURE)


if __name__ == "__main__":
    main()
