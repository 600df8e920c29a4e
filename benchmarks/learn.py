"""Suite ``learn``: private models against diffprivlib, and against fits without privacy.

Accuracy: the same splits, epsilon and bounds on both sides, pure privacy; for each model, table and
epsilon the mean difference of test scores over seeds and its standard error. Scores are accuracies,
and R² for regression, cut at -1. Of two scalings of diffprivlib's logistic regression the one with
the better mean is taken. Discreet's unit is a row that comes or goes; the remark also has the score
where a row is replaced.

DP-SGD: logistic regression against it, with tuning that is charged, at the same epsilon and delta
(``learn_sgd.py``).

Both are done for tables on which rules were adjusted, for tables that led to later changes and for
tables on which none was (``learn_data.py``); ``not-worse`` counts them apart.
``DISCREET_TABLES="later fresh"`` asks for some of the three alone.

Time: a fit of a million rows over scikit-learn's own without privacy, in seconds of the processor.

Seeds: ``DISCREET_SEEDS`` of the environment, ten by default.
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
from learn_data import FRESH, LATER, Task, packaged_tasks, tasks
from peers import Missing, Peer
from sklearn import decomposition, linear_model, naive_bayes
from timing import Figure, alternate, processor_clock, ratios

import discreet as dp
from discreet import learn

EPSILONS = (0.1, 1.0, 10.0)
SEEDS = int(os.environ.get("DISCREET_SEEDS", "10"))
CLASSIFIERS = ("LogisticRegression", "GaussianNB", "RandomForestClassifier")
WANTED = os.environ.get("DISCREET_TABLES", "adjusted later fresh").split()
GROUPS = {
    "adjusted": lambda: list(tasks()),
    "later": lambda: packaged_tasks(LATER),
    "fresh": lambda: packaged_tasks(FRESH),
}
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
    pairs = []
    for seed in range(SEEDS):
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
        remark=f"{mean[0]:.3f} against {mean[1]:.3f}, error {error:.3f}, {SEEDS} seeds; "
        f"replaced rows {mean[2]:.3f}",
    )


def accuracy(among: list[Task], kind: str) -> list[Figure]:
    """Every model on every table that suits it."""
    found = []
    with Peer("diffprivlib", "peer_diffprivlib_learn.py") as peer, TemporaryDirectory() as folder:
        for task in among:
            for model in CLASSIFIERS if task.classes else ("LinearRegression",):
                found += [compared(peer, task, model, e, Path(folder)) for e in EPSILONS]
    return [*found, share(found, f"learn/not-worse/{kind}")]


def over_sgd(among: list[Task], kind: str) -> list[Figure]:
    """Softmax regression on every table of classes, against DP-SGD that was tuned."""
    with TemporaryDirectory() as folder:
        found = [
            learn_sgd.compared(task, epsilon, Path(folder))
            for task in among
            if task.classes
            for epsilon in EPSILONS
        ]
    return [*found, share(found, f"learn/over-sgd/not-worse/{kind}")]


def share(found: list[Figure], name: str) -> Figure:
    """How many cells are better, or equal within a standard error."""
    good = sum(each.value >= each.at_least for each in found)
    remark = f"{good} of {len(found)} better, or equal within one standard error"
    return Figure(name=name, values=[good / len(found)], unit="share", remark=remark)


def times() -> list[Figure]:
    """Fits of a million rows with ten features."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (ROWS, 10))
    y = x @ rng.normal(size=10) + rng.normal(size=ROWS)
    sides = (y > 0).astype(int)
    given = {"spend": dp.PureDP(epsilon=1), "unit": dp.Row(), "bounds": (-1, 1)}
    number, label = {"target_bounds": (-10, 10)}, {"classes": [0, 1]}
    pairs: dict[str, tuple[Any, dict[str, Any], Any]] = {
        "LinearRegression": (linear_model.LinearRegression(), number, y),
        "Ridge": (linear_model.Ridge(), number, y),
        "LogisticRegression": (linear_model.LogisticRegression(), label, sides),
        "GaussianNB": (naive_bayes.GaussianNB(), label, sides),
        "PCA": (decomposition.PCA(), {}, None),
    }
    figures = []
    for name, (plain, more, target) in pairs.items():
        private = getattr(learn, name)(**given, **more)
        timers = {
            "private": processor_clock(lambda p=private, t=target: p.fit(x, t)),
            "plain": processor_clock(lambda p=plain, t=target: p.fit(x, t)),
        }
        took = alternate(f"fit {name}", timers, rounds=5)
        over = ratios(took["private"], took["plain"])
        figures.append(Figure(name=f"learn/fit/{name}", values=over, unit="x", at_most=3))
    return figures


def figures() -> list[Figure]:
    """Accuracy where the peer is there, against DP-SGD, and times."""
    found: list[Figure] = []
    for kind in WANTED:
        try:
            among = GROUPS[kind]()
            found += over_sgd(among, kind)
            found += accuracy(among, kind)
        except Missing as reason:
            print(f"MISSING {kind} tables or diffprivlib: {reason}", file=sys.stderr)
    return [*found, *times()]
