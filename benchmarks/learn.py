"""Suite ``learn``: private models against diffprivlib, and against fits without privacy.

Accuracy: the same splits, epsilon and bounds on both sides, pure privacy; for each model, table and
epsilon the mean difference of test scores over seeds and its standard error. Scores are accuracies,
and R² for regression, cut at -1. Of two scalings of diffprivlib's logistic regression the one with
the better mean is taken. Discreet's unit is a row that comes or goes; the remark also has the score
where a row is replaced.

DP-SGD: logistic regression against it, with tuning that is charged, at the same epsilon and delta
(``learn_sgd.py``).

Time: a fit of a million rows over scikit-learn's own without privacy.

Seeds: ``DISCREET_SEEDS`` of the environment, ten by default; a third of them for Adult.
"""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import learn_sgd
import numpy as np
from learn_data import Task, tasks
from peers import Missing, Peer
from sklearn import linear_model
from timing import Figure, alternate, clock

import discreet as dp
from discreet import learn

EPSILONS = (0.1, 1.0, 10.0)
SEEDS = int(os.environ.get("DISCREET_SEEDS", "10"))
CLASSIFIERS = ("LogisticRegression", "GaussianNB", "RandomForestClassifier")
ROWS = 1_000_000


def ours(model: str, split: Path, epsilon: float, unit: Any) -> float:
    """The score of one fit here."""
    part = np.load(split)
    given: dict[str, Any] = {
        "spend": dp.PureDP(epsilon=epsilon),
        "unit": unit,
        "bounds": (part["low"], part["high"]),
    }
    if int(part["classes"]):
        given["classes"] = list(range(int(part["classes"])))
    else:
        given["target_bounds"] = tuple(part["target"].tolist())
    fitted = getattr(learn, model)(**given).fit(part["x_fit"], part["y_fit"])
    return float(fitted.score(part["x_test"], part["y_test"]))


def theirs(peer: Peer, model: str, split: Path, epsilon: float, folder: Path) -> list[float]:
    """The score of one fit of diffprivlib, in each of two scalings of logistic regression."""
    scores = []
    for unit in (False, True) if model == "LogisticRegression" else (False,):
        asked = {"model": model, "epsilon": epsilon, "split": str(split), "unit": unit}
        peer.seconds(**asked, path=str(folder / "score"))
        scores.append(float((folder / "score").read_text()))
    return scores


def compared(peer: Peer, task: Task, model: str, epsilon: float, folder: Path) -> Figure:
    """The paired difference for one model, table and epsilon."""
    seeds = max(3, SEEDS // 3) if task.name.startswith("adult") else SEEDS
    pairs = []
    for seed in range(seeds):
        split = task.split(seed, folder / "split.npz")
        mine = ours(model, split, epsilon, dp.Row())
        replaced = ours(model, split, epsilon, dp.Replace(dp.Row()))
        other = theirs(peer, model, split, epsilon, folder)
        pairs.append([max(each, -1.0) for each in (mine, replaced, *other)])
    every = np.array(pairs)
    best = 2 + int(np.argmax(every[:, 2:].mean(axis=0)))
    table = every[:, [0, best, 1]]
    gap = table[:, 0] - table[:, 1]
    error = float(gap.std(ddof=1) / math.sqrt(len(gap)))
    mean = table.mean(axis=0)
    print(task.name, model, epsilon, mean.round(3), round(error, 3), file=sys.stderr, flush=True)
    return Figure(
        name=f"learn/{model}/{task.name.replace(' ', '-')}/{epsilon:g}",
        values=[float(gap.mean())],
        unit="score",
        at_least=-error,
        remark=f"{mean[0]:.3f} against {mean[1]:.3f}, error {error:.3f}, {seeds} seeds; "
        f"replaced rows {mean[2]:.3f}",
    )


def accuracy() -> list[Figure]:
    """Every model on every table that suits it."""
    found = []
    with Peer("diffprivlib", "peer_diffprivlib_learn.py") as peer, TemporaryDirectory() as folder:
        for task in tasks():
            for model in CLASSIFIERS if task.classes else ("LinearRegression",):
                found += [compared(peer, task, model, e, Path(folder)) for e in EPSILONS]
    good = sum(each.value >= each.at_least for each in found)
    remark = f"{good} of {len(found)} better, or equal within one standard error"
    share = Figure(name="learn/not-worse", values=[good / len(found)], unit="share", remark=remark)
    return [*found, share]


def over_sgd() -> list[Figure]:
    """Logistic regression on every table of classes, against DP-SGD that was tuned."""
    with TemporaryDirectory() as folder:
        return [
            learn_sgd.compared(task, epsilon, Path(folder))
            for task in tasks()
            if task.classes
            for epsilon in EPSILONS
        ]


def times() -> list[Figure]:
    """Fits of a million rows with ten features."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (ROWS, 10))
    y = x @ rng.normal(size=10) + rng.normal(size=ROWS)
    given = {"spend": dp.PureDP(epsilon=1), "unit": dp.Row(), "bounds": (-1, 1)}
    bounds = {"target_bounds": (-10, 10)}
    pairs = {
        "LinearRegression": (linear_model.LinearRegression(), bounds),
        "Ridge": (linear_model.Ridge(), bounds),
        "LogisticRegression": (linear_model.LogisticRegression(), {"classes": [0, 1]}),
    }
    figures = []
    for name, (plain, more) in pairs.items():
        private = getattr(learn, name)(**given, **more)
        target = (y > 0).astype(int) if "classes" in more else y
        timers = {
            "private": clock(lambda p=private, t=target: p.fit(x, t)),
            "plain": clock(lambda p=plain, t=target: p.fit(x, t)),
        }
        took = alternate(f"fit {name}", timers, rounds=3)
        ratios = [a / b for a, b in zip(took["private"], took["plain"], strict=True)]
        figures.append(Figure(name=f"learn/fit/{name}", values=ratios, unit="x", at_most=3))
    return figures


def figures() -> list[Figure]:
    """Accuracy where the peer is there, against DP-SGD, and times."""
    try:
        found = accuracy()
    except Missing as reason:
        print(f"MISSING diffprivlib: {reason}", file=sys.stderr)
        found = []
    return [*found, *over_sgd(), *times()]
