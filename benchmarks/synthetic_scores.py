"""How near synthetic rows are to real ones: marginals, and what a classifier learns from them."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.optimize import minimize

TRIPLES = 60
_SEED = 7


def total_variation(real: Any, made: Any, shape: tuple[int, ...], places: tuple[int, ...]) -> float:
    """Half the sum of differences between the shares of all cells of a marginal."""
    sizes = [shape[place] for place in places]

    def shares(rows: Any) -> Any:
        cells = np.ravel_multi_index([rows[:, place] for place in places], sizes)
        return np.bincount(cells, minlength=int(np.prod(sizes))) / len(rows)

    return float(np.abs(shares(real) - shares(made)).sum() / 2)


def three_way(real: Any, made: Any, shape: tuple[int, ...]) -> float:
    """The mean over sixty triples of columns, the same for everybody."""
    every = list(combinations(range(len(shape)), 3))
    generator = np.random.default_rng(_SEED)
    count = min(TRIPLES, len(every))
    chosen = [every[i] for i in generator.choice(len(every), count, replace=False)]
    return float(np.mean([total_variation(real, made, shape, each) for each in chosen]))


def accuracy(train: Any, test: Any, shape: tuple[int, ...], target: int) -> float:
    """How often a logistic regression that saw ``train`` is right about ``test``: two classes."""
    others = [place for place in range(len(shape)) if place != target]
    starts = np.cumsum([0, *(shape[place] for place in others)])

    def positions(rows: Any) -> Any:
        return rows[:, others] + starts[:-1]

    where, sign = positions(train), 2.0 * (train[:, target] == shape[target] - 1) - 1

    def loss(weights: Any) -> tuple[float, Any]:
        margin = sign * (weights[where].sum(axis=1) + weights[-1])
        chance = 1 / (1 + np.exp(np.clip(margin, -500, 500)))
        pull = -sign * chance
        slope = np.zeros_like(weights)
        for column in where.T:
            slope += np.bincount(column, weights=pull, minlength=len(weights))
        slope[-1] = pull.sum()
        value = np.logaddexp(0, -margin).sum() + 0.5 * (weights @ weights)
        return float(value), slope + weights

    found = minimize(loss, np.zeros(starts[-1] + 1), jac=True, method="L-BFGS-B").x
    guess = found[positions(test)].sum(axis=1) + found[-1] > 0
    return float((guess == (test[:, target] == shape[target] - 1)).mean())
