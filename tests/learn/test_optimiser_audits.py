"""Audits of optimisers that had none: claims that stand, twins that do not, what could be refuted.

A true claim is refuted with probability at most 1e-6 in each audit. ``lower_bound`` of a finding is
the epsilon that its audit could refute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.audit import Finding, LearnedEvents, audit, outcome, repeated
from discreet.core.arrays import Floats
from discreet.learn.losses import HuberLoss

pytestmark = pytest.mark.audit
NONE, ONE = np.zeros((0, 1)), np.ones((1, 1))
CLOSE = learn.Privacy(dp.ApproxDP(epsilon=2, delta=1e-3), dp.Row())


@dataclass(frozen=True)
class Line(learn.AbsoluteLoss):
    """The loss -t: every gradient is -x."""

    def value(self, t: Floats, y: Floats) -> Floats:
        return -t + 0 * y

    def slope(self, t: Floats, y: Floats) -> Floats:
        return -np.ones_like(t)


def pure(epsilon: float) -> learn.Privacy:
    return learn.Privacy(dp.PureDP(epsilon=epsilon), dp.Row())


def audited(
    release: Any,
    pair: tuple[Any, Any] = (NONE, ONE),
    *,
    claim: float,
    delta: float = 0.0,
    trials: int = 1500,
) -> Finding:
    return audit(
        repeated(release),
        *pair,
        epsilon=claim,
        delta=delta,
        events=LearnedEvents(outcome),
        trials=trials,
        confidence=1 - 1e-6,
    )


def test_output_perturbation_and_a_twin_that_forgets_the_ridge() -> None:
    """The twin has noise for a movement of L instead of L/Δ, at a ridge of one tenth."""

    def release(ridge: float, privacy: learn.Privacy) -> Any:
        made = learn.OutputPerturbation(
            loss=HuberLoss(1), rows=learn.Ball(1), ridge=ridge, privacy=privacy
        )
        return lambda rows: bool(made.minimise(rows, np.full(len(rows), 1e3))[0] > 0.5 / ridge)

    honest = audited(release(0.1, pure(3)), claim=3)
    assert honest.passes
    assert honest.lower_bound > 1  # what this audit could refute
    assert not audited(release(0.1, pure(30)), claim=3).passes


@pytest.mark.parametrize("rate", [None, 0.5])
def test_gradient_descent_and_a_twin_with_too_little_noise(rate: float | None) -> None:
    """Nine steps; the twin has a quarter of the noise of one."""
    given: dict[str, Any] = {
        "loss": Line(),
        "clip": 1.0,
        "within": learn.EuclideanBall(1e9),
        "privacy": CLOSE,
        "rate": rate,
    }

    def release(multiplier: float) -> Any:
        made = learn.GradientDescent(steps=9, **given)
        made.__dict__["multiplier"] = multiplier

        def half_way(rows: Floats) -> bool:
            return bool(made.path(rows, np.ones(len(rows)), rate_of_descent=1.0)[-1][0] > 4)

        return half_way

    honest = audited(
        release(learn.GradientDescent(steps=9, **given).multiplier),
        claim=2,
        delta=1e-3,
        trials=4000,
    )
    assert honest.passes
    if rate is None:
        assert honest.lower_bound > 0.1  # what this audit could refute
    less = learn.GradientDescent(steps=1, **given).multiplier / 4
    assert not audited(release(less), claim=2, delta=1e-3).passes


def test_mirror_descent_and_a_twin_that_clips_nothing() -> None:
    """A row ten times as long as the clip, on the simplex of two."""
    pair = np.zeros((0, 2)), np.array([[10.0, 0.0]])

    def release(clip: float) -> Any:
        made = learn.GradientDescent(
            loss=Line(), steps=2, clip=1.0, within=learn.ProbabilitySimplex(), privacy=CLOSE
        )
        if clip > 1:  # noise for the clip that is declared, sums of another
            made = replace(made, clip=clip)
            made.__dict__["multiplier"] = made.multiplier / clip
        return lambda rows: bool(
            made.path(rows, np.ones(len(rows)), rate_of_descent=0.1)[-1][0] > 0.53
        )

    assert audited(release(1), pair, claim=2, delta=1e-3).passes
    assert not audited(release(10), pair, claim=2, delta=1e-3).passes


def test_exponential_erm_and_a_twin_without_the_clamp() -> None:
    """Two candidates; the twin's reach is a fifth of what losses differ by."""

    class Short(learn.ExponentialERM):
        @property
        def reach(self) -> float:
            return super().reach / 5

    def release(kind: Any) -> Any:
        made = kind(
            loss=Line(), rows=learn.Ball(1), candidates=np.array([[0.0], [1.0]]), privacy=pure(2)
        )
        if kind is Short:  # five rows of the honest one, that is one that is not clamped
            return lambda rows: float(
                made.minimise(np.repeat(rows, 5, axis=0), np.ones(5 * len(rows)))[0]
            )
        return lambda rows: float(made.minimise(rows, np.ones(len(rows)))[0])

    honest = audited(release(learn.ExponentialERM), claim=2)
    assert honest.passes
    assert honest.lower_bound > 0.05  # the candidate in the middle never moves: half of epsilon
    assert not audited(release(Short), claim=2).passes


def test_statistical_queries_and_a_twin_that_counts_one_of_four() -> None:
    def release(privacy: learn.Privacy, asked: int) -> Any:
        def answers(rows: Floats) -> bool:
            oracle = learn.StatisticalQueries(np.concatenate([ONE * 0, rows]), asked, privacy)
            found = [oracle.answer(lambda each: each[:, 0] > 0.5) for _ in range(asked)]
            return bool(np.mean(found) > 0.25)

        return answers

    assert audited(release(pure(2), 4), claim=2).passes
    assert not audited(release(pure(40), 4), claim=2).passes


def test_the_learner_over_a_class_and_a_twin_with_errors_counted_twice() -> None:
    rules = (lambda x: np.zeros(len(x)), lambda x: np.ones(len(x)))

    def release(copies: int) -> Any:
        learner = learn.AgnosticLearner(hypotheses=rules, privacy=pure(1.5))
        return lambda rows: int(
            learner.fit(np.repeat(rows, copies, axis=0), np.ones(copies * len(rows)))
        )

    honest = audited(release(1), claim=1.5)
    assert honest.passes
    assert not audited(release(6), claim=1.5).passes


def test_the_linear_learner_and_a_twin_whose_losses_span_two() -> None:
    """A row is exchanged; the twin takes products within [-1, 1] for losses within [0, 1]."""
    pair = np.array([[1.0, -1.0]] * 2), np.array([[-1.0, 1.0], [1.0, -1.0]])

    def release(epsilon: float) -> Any:
        learner = learn.LinearLearner(dimension=2, rows=2, spend=dp.PureDP(epsilon=epsilon))
        return lambda rows: float(learner.fit(rows)[0])

    honest = audited(release(2), pair, claim=2, trials=4000)
    assert honest.passes
    assert honest.lower_bound > 0.05  # what this audit could refute
    assert not audited(release(40), pair, claim=2).passes


def test_doubling_horizons_and_a_twin_that_keeps_its_sums() -> None:
    """The twin carries losses over, so that each is seen in every horizon: in 56 of them.

    Only the second choice of a horizon has seen the loss; the first would be noise beside it, which
    hid the twin in four of ten runs. By the law of that choice (two binomials, simulated 60 times)
    the refuted epsilon is 3.2 with a deviation of .16: below 2 in far fewer than one of a million.
    """
    made = learn.DoublingHedge(experts=2, spend=dp.PureDP(epsilon=2), first=2)
    even = np.array([0.5, 0.5])

    def release(horizons: int) -> Any:
        def chosen(first: float) -> int:
            loss = np.array([first, 1 - first])
            seen = (list(made.horizon(0).choose([loss, even])) for _ in range(horizons))
            return sum(each[-1] for each in seen)

        return chosen

    assert audited(release(1), (0.0, 1.0), claim=2).passes
    twin = audited(release(56), (0.0, 1.0), claim=2)
    assert not twin.passes
    assert twin.lower_bound > 2.3
