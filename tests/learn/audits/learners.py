"""Learners that choose among experts or hypotheses, statistical queries, and paid selection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import clone

import discreet as dp
from discreet import learn
from discreet.core.arrays import Floats
from discreet.core.guarantee import Guarantee, PureDP
from discreet.learn.selection.runs import spend_of_run

from .attack import Attack
from .optimisers import MANY, NONE, ONE, SIXTEEN, pure

# -- experts ---------------------------------------------------------------------------------------

EVEN = np.array([0.5, 0.5])
GOOD, BAD = np.array([0.0, 1.0]), np.array([1.0, 0.0])
"""Losses of one round, of which a neighbour has the other."""
ROUNDS = 4


def hedged(span: float) -> Callable[[Any], int]:
    """How often the first expert is chosen; all rounds but the first have seen the loss."""
    made = learn.Hedge(experts=2, rounds=ROUNDS, spend=dp.PureDP(epsilon=3))
    if span == 1:
        return lambda loss: sum(list(made.choose([loss, EVEN, EVEN, EVEN]))[1:])

    def unclamped(loss: Any) -> int:
        so_far = np.rint(span * loss * 2**30).astype(np.int64)
        return sum(made._choice.release(-so_far) for _ in range(ROUNDS - 1))

    return unclamped


def doubling(horizons: int) -> Callable[[Any], int]:
    """The second choices of horizons; the twin's have all seen the loss, which is in the first."""
    first = learn.DoublingHedge(experts=2, spend=dp.PureDP(epsilon=2), first=2).horizon(0)

    def release(loss: Any) -> int:
        return sum(list(first.choose([loss, EVEN]))[-1] for _ in range(horizons))

    return release


def linear(times: int) -> Callable[[Any], int]:
    """The share of the first coordinate; the twin's rounds cost four times the spend each."""
    rows = 4
    made = learn.LinearLearner(dimension=2, rows=rows, spend=dp.PureDP(epsilon=3 * times))

    def release(row: Any) -> int:
        data = np.concatenate([row[None], np.zeros((rows - 1, 2))])
        return int(np.rint(rows * made.fit(data)[0]))

    return release


ROW, OTHER = np.array([-1.0, 1.0]), np.array([1.0, -1.0])

# -- queries and hypotheses ------------------------------------------------------------------------

QUERIES = 2


def answers(times: int) -> Callable[[Any], int]:
    """The likelihood ratio of all answers; the twin answers as many times more for the price."""
    known = np.repeat([[0.0], [1.0]], 20, axis=0)
    rate = 3 * 0.95 / QUERIES

    def release(rows: Floats) -> int:
        data = np.concatenate([known, rows])
        asked = learn.StatisticalQueries(data, QUERIES, pure(3 * times))
        found = [asked.answer(lambda each: each[:, 0] > 0.5) for _ in range(QUERIES)]
        sums = (2 * np.array(found) - 1) * asked.number
        return int(np.floor(2 * rate * (abs(sums) - abs(sums - 1)).sum()))

    return release


RULES = (lambda x: np.zeros(len(x)), lambda x: np.ones(len(x)))


def hypothesis() -> Callable[[Any], int]:
    made = learn.AgnosticLearner(hypotheses=RULES, privacy=pure(3))
    return lambda rows: int(made.fit(rows, np.ones(len(rows))))


# -- selection -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FreeFolds(learn.KFold):
    """A twin in which scores cost nothing, since models are private."""

    def spends(self, run: Any) -> tuple[Guarantee, Guarantee]:
        return super().spends(run)[0], PureDP(epsilon=10**15)


@dataclass(frozen=True)
class FreeHoldout(learn.Holdout):
    """The same for one split."""

    def spends(self, run: Any) -> tuple[Guarantee, Guarantee]:
        return super().spends(run)[0], PureDP(epsilon=10**15)


RIDGE = learn.Ridge(bounds=(-1, 1), target_bounds=(-1, 1))
NOBODY = np.zeros((1, 1)), np.array([np.nan])
SOMEBODY = np.array([[0.0], [1.0]]), np.array([np.nan, 1.0])


def in_tenths(score: float) -> int:
    """A score in tenths; one half exactly, where nobody is left, by itself."""
    return -1 if score == 0.5 else int(10 * score)


def validated(split: Any, epsilon: float) -> Callable[[Any], int]:
    def release(data: Any) -> int:
        given: dict[str, Any] = {"spend": dp.PureDP(epsilon=epsilon), "unit": dp.Row()}
        return in_tenths(learn.cross_val_score(RIDGE, *data, **given, split=split).score)

    return release


def searched(split: Any, epsilon: float) -> Callable[[Any], int]:
    """The score of the best model."""
    made = learn.GridSearch(
        RIDGE,
        {"alpha": [0.5, 2.0]},
        spend=dp.PureDP(epsilon=epsilon),
        unit=dp.Row(),
        runs=2,
        split=split,
    )
    return lambda data: in_tenths(clone(made).fit(*data).best_score_)


@cache
def stopping() -> tuple[Any, float]:
    law = learn.stopping_law(10, 0)
    return law, float(spend_of_run(dp.PureDP(epsilon=2), law).epsilon)  # type: ignore[union-attr]


def best_of_runs(rows: Any) -> int:
    """The best of a random number of noisy scores of one row: what a search tells."""
    law, run = stopping()
    many = int(dp.noise.stopping_times(law, 1)[0])
    score = dp.mechanisms.DiscreteLaplace(epsilon=run, sensitivity=1)
    return int(np.clip(score.release(np.full(many, len(rows))).max(), -4, 8))


def all_told(rows: Any) -> int:
    """All of thirty scores, each at the price of a run."""
    score = dp.mechanisms.DiscreteLaplace(epsilon=stopping()[1], sensitivity=1)
    return int(np.clip(4 * score.release(np.full(30, len(rows))).mean(), -4, 8))


LEARNERS: tuple[Attack, ...] = (
    Attack(
        "Hedge",
        ("Hedge",),
        3,
        (GOOD, BAD),
        hedged(1),
        hedged(30),
        "losses that are not clamped",
        0.05,
        trials=4000,
    ),
    Attack(
        "DoublingHedge",
        ("DoublingHedge",),
        2,
        (GOOD, BAD),
        doubling(1),
        doubling(56),
        "losses are carried over into later horizons",
        0.0,
    ),
    Attack(
        "LinearLearner",
        ("LinearLearner",),
        3,
        (ROW, OTHER),
        linear(1),
        linear(16),
        "every round costs the spend four times",
        0.0,
        trials=4000,
    ),
    Attack(
        "StatisticalQueries",
        ("StatisticalQueries",),
        3,
        (NONE, ONE),
        answers(1),
        answers(8),
        "eight times as many queries as were paid for",
        1,
    ),
    Attack(
        "AgnosticLearner",
        ("AgnosticLearner",),
        3,
        (NONE, ONE),
        hypothesis(),
        hypothesis(),
        SIXTEEN,
        0.4,
        trials=8000,
        twin_pair=(NONE, MANY),
    ),
    Attack(
        "cross_val_score",
        ("cross_val_score", "KFold"),
        20,
        (NOBODY, SOMEBODY),
        validated(learn.KFold(2), 20),
        validated(FreeFolds(2), 2),
        "scores without noise, since models are private",
        0.0,
        twin_epsilon=2,
    ),
    Attack(
        "GridSearch",
        ("GridSearch", "Holdout"),
        8,
        (NOBODY, SOMEBODY),
        searched(learn.Holdout(0.5), 8),
        searched(FreeHoldout(0.5), 2),
        "scores without noise, since models are private",
        0.0,
        twin_epsilon=2,
    ),
    Attack(
        "GridSearch, stopping",
        ("GridSearch", "stopping_law"),
        2,
        (np.zeros(0), np.ones(1)),
        best_of_runs,
        all_told,
        "the scores of all runs are told",
        0.5,
        trials=6000,
    ),
)
