"""Optimisers called directly, with the loss whose gradient is as large as it may be everywhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import discreet as dp
from discreet import learn
from discreet.core.arrays import Floats

from .attack import Attack

DELTA = 1e-3
NONE, ONE = np.zeros((0, 1)), np.ones((1, 1))
FAR = 30 * ONE
"""A row outside of the ball of length one: it counts as one."""


@dataclass(frozen=True)
class Line(learn.AbsoluteLoss):
    """The loss -t: every gradient is -x."""

    def value(self, t: Floats, y: Floats) -> Floats:
        return -t + 0 * y

    def slope(self, t: Floats, y: Floats) -> Floats:
        return -np.ones_like(t)


@dataclass(frozen=True)
class Unclamped(learn.Ball):
    """A twin of the ball into which no row is moved."""

    def clamped(self, rows: Floats) -> Floats:
        return rows


class WithoutRidge(learn.OutputPerturbation):
    """A twin with noise for a movement of L instead of L/Δ."""

    @property
    def sensitivity(self) -> float:
        return super().sensitivity * float(self.ridge)


def pure(epsilon: float) -> learn.Privacy:
    return learn.Privacy(dp.PureDP(epsilon=epsilon), dp.Row())


def close(epsilon: float) -> learn.Privacy:
    return learn.Privacy(dp.ApproxDP(epsilon=epsilon, delta=DELTA), dp.Row())


def in_bins(value: Any, width: float) -> int:
    return int(np.floor(np.clip(float(value) / width, -8, 8)))


def ones(rows: Any) -> Floats:
    return np.ones(len(rows))


# -- objective and output perturbation -------------------------------------------------------------


def objective(rows: learn.Ball, privacy: learn.Privacy) -> Callable[[Any], int]:
    made = learn.ObjectivePerturbation(
        loss=learn.LogisticLoss(), rows=rows, ridge=0.3, privacy=privacy
    )
    return lambda x: in_bins(made.minimise(x, ones(x))[0], 1.0)


def output(kind: Any) -> Callable[[Any], int]:
    made = kind(loss=learn.HuberLoss(1), rows=learn.Ball(1), ridge=0.1, privacy=pure(2))
    return lambda x: in_bins(made.minimise(x, np.full(len(x), 1e3))[0], 2.5)


# -- gradients -------------------------------------------------------------------------------------

STEPS = 16


def descent(
    within: Any, *, noise_of: dict[str, Any] | None = None, clip: float = 1.0, **given: Any
) -> Any:
    """Descent, with the noise that others' parameters ask for, and clipped at another length."""
    made = learn.GradientDescent(
        **{
            "loss": Line(),
            "steps": STEPS,
            "clip": 1.0,
            "within": within,
            "privacy": close(3),
            **given,
        }
    )
    less = replace(made, **(noise_of or {})).multiplier / clip
    made = replace(made, clip=clip)
    made.__dict__["multiplier"] = less
    return made


def last_point(made: learn.GradientDescent) -> Callable[[Any], int]:
    """The last point, in halves of the deviation of its noise."""
    width = made.multiplier * np.sqrt(STEPS) / 2

    def release(x: Floats) -> int:
        path = made.path(x, ones(x), rate_of_descent=1.0)
        return in_bins(path[-1][0], width)

    return release


def share_of_first(made: learn.GradientDescent) -> Callable[[Any], int]:
    """On the simplex of two: the log-odds of the last point, which noise and rows move."""
    width = made.multiplier * made.clip * np.sqrt(2 * made.steps) * 0.1 / 2

    def release(x: Floats) -> int:
        first, second = made.path(x, ones(x), rate_of_descent=0.1)[-1]
        return in_bins(np.log(first / second), width)

    return release


BALL = learn.EuclideanBall(1e9)
SIMPLEX = learn.ProbabilitySimplex()
APART = np.zeros((0, 2)), np.array([[10.0, -10.0]])


def leader(sums: Any, *, restart: bool = False, forget: bool = False) -> Callable[[Any], int]:
    """The noisy sum of all gradients: of eight uses of the row, in eight epochs."""
    epochs = 8
    made = learn.FollowTheLeader(
        loss=Line(),
        clip=1.0,
        ridge=1.0,
        within=learn.EuclideanBall(1e9),
        passes=learn.Epochs(epochs=epochs, batches=1),
        sums=sums,
        dimension=1,
        privacy=close(3),
    )
    once = replace(made, passes=learn.Epochs(epochs=1, batches=1))
    less = replace(made.counter, passes=learn.Epochs(epochs=1, batches=epochs))  # type: ignore[call-arg]
    width = made.noise()[-1] / 2

    def release(x: Floats) -> int:
        if restart:  # every epoch has a path of its own, at the price of all
            total = sum(float(once.open().step(x, ones(x))[0]) for _ in range(epochs))
        elif forget:  # all epochs, with the noise of one
            live = less.open()
            for _ in range(epochs):
                summed = live.step(np.array([len(x) << sums.bits]))
            total = float(summed[0]) * 2.0**-sums.bits
        else:
            live_leader = made.open()
            for _ in range(epochs):
                live_leader.step(x, ones(x))
            total = float(live_leader.point[0])
        return in_bins(total, width)

    return release


def softmax(clip: float) -> Callable[[Any], int]:
    """The first step of two classes; the twin's sums are clipped as much wider than its noise."""
    made = learn.SoftmaxDescent(classes=2, dimension=1, steps=1, clip=0.05 * clip, privacy=close(3))
    if clip > 1:
        made.__dict__["multiplier"] = made.multiplier / clip

    def release(x: Floats) -> int:
        found = made.minimise(x, np.zeros(len(x), dtype=int))[:, 0]
        return in_bins(np.diff(found)[0], 0.01)

    return release


# -- choices ---------------------------------------------------------------------------------------


def vertex(privacy: learn.Privacy) -> Callable[[Any], int]:
    made = learn.FrankWolfe(steps=1, radius=0.01, privacy=privacy)
    return lambda x: int(np.sign(made.minimise(x, ones(x))[0]))


def feature(privacy: learn.Privacy) -> Callable[[Any], int]:
    made = learn.SupportSelection(size=1, privacy=privacy)
    return lambda x: made.select(np.hstack([x, *[0 * x] * 7]), ones(x))[0]


def candidate() -> Callable[[Any], float]:
    made = learn.ExponentialERM(
        loss=Line(),
        rows=learn.Ball(1),
        candidates=np.array([[-1.0], [0.0], [1.0]]),
        privacy=pure(3),
    )
    return lambda x: float(made.minimise(x, ones(x))[0])


def place_on_line() -> Callable[[Any], int]:
    made = learn.ExponentialLine(loss=Line(), low=-1, high=1, privacy=pure(3), knots=3)
    return lambda x: in_bins(made.minimise(x, ones(x)), 0.25)


TREE, BANDS = learn.TreeAggregation(), learn.BandedFactorisation()
EIGHT_TIMES = "the noise of one epoch for eight"
ANEW = "each epoch begins a path of its own, at the price of one"
MANY = np.repeat(ONE, 16, axis=0)
SIXTEEN = "noise of one row for a person's sixteen"

OPTIMISERS: tuple[Attack, ...] = (
    Attack(
        "ObjectivePerturbation",
        ("ObjectivePerturbation", "Ball", "LogisticLoss"),
        3,
        (NONE, FAR),
        objective(learn.Ball(1), pure(3)),
        objective(Unclamped(1), pure(3)),
        "rows that are not moved into the ball",
        0.0,
        trials=4000,
    ),
    Attack(
        "ObjectivePerturbation, normal",
        ("ObjectivePerturbation",),
        3,
        (NONE, FAR),
        objective(learn.Ball(1), close(3)),
        objective(Unclamped(1), close(3)),
        "rows that are not moved into the ball",
        0.05,
        delta=DELTA,
        trials=4000,
    ),
    Attack(
        "OutputPerturbation",
        ("OutputPerturbation", "HuberLoss"),
        2,
        (NONE, ONE),
        output(learn.OutputPerturbation),
        output(WithoutRidge),
        "noise as if the ridge were one, at a tenth",
        0.8,
        trials=4000,
    ),
    Attack(
        "GradientDescent",
        ("GradientDescent", "EuclideanBall"),
        3,
        (NONE, ONE),
        last_point(descent(BALL)),
        last_point(descent(BALL, noise_of={"steps": 1})),
        "the noise of one step for sixteen",
        0.0,
        delta=DELTA,
        trials=4000,
    ),
    Attack(
        "GradientDescent, sampled",
        ("GradientDescent",),
        3,
        (NONE, ONE),
        last_point(descent(BALL, rate=0.9)),
        last_point(descent(BALL, rate=0.9, noise_of={"rate": 0.05})),
        "priced as a sample of a twentieth, nine tenths are read",
        0.0,
        delta=DELTA,
        trials=3000,
    ),
    Attack(
        "GradientDescent, mirror",
        ("GradientDescent", "ProbabilitySimplex"),
        3,
        APART,
        share_of_first(descent(SIMPLEX, steps=2)),
        share_of_first(descent(SIMPLEX, steps=2, clip=10.0)),
        "gradients clipped ten times as long as noise is for",
        0.1,
        delta=DELTA,
        trials=8000,
    ),
    *(
        Attack(
            f"FollowTheLeader, {name}",
            ("FollowTheLeader", "Epochs", type(sums).__name__),
            3,
            (NONE, ONE),
            leader(sums),
            leader(sums, **{kind: True}),
            mistake,
            0.0,
            delta=DELTA,
            trials=6000,
        )
        for name, sums, kind, mistake in (
            ("tree", TREE, "forget", EIGHT_TIMES),
            ("tree, epochs", TREE, "restart", ANEW),
            ("banded", BANDS, "forget", EIGHT_TIMES),
            ("banded, epochs", BANDS, "restart", ANEW),
        )
    ),
    Attack(
        "SoftmaxDescent",
        ("SoftmaxDescent",),
        3,
        (NONE, ONE),
        softmax(1),
        softmax(8),
        "gradients clipped eight times as long as noise is for",
        0.5,
        delta=DELTA,
        trials=8000,
    ),
    Attack(
        "FrankWolfe",
        ("FrankWolfe",),
        2,
        (NONE, ONE),
        vertex(pure(2)),
        vertex(pure(40)),
        "the printed noise, of an average over twenty rows",
        0.6,
        trials=8000,
    ),
    Attack(
        "SupportSelection",
        ("SupportSelection",),
        2,
        (NONE, ONE),
        feature(pure(2)),
        feature(pure(40)),
        "the noise of an average over twenty rows",
        0.3,
        trials=8000,
    ),
    Attack(
        "ExponentialERM",
        ("ExponentialERM",),
        3,
        (NONE, ONE),
        candidate(),
        candidate(),
        SIXTEEN,
        1.1,
        twin_pair=(NONE, MANY),
        trials=8000,
    ),
    Attack(
        "ExponentialLine",
        ("ExponentialLine",),
        3,
        (NONE, ONE),
        place_on_line(),
        place_on_line(),
        SIXTEEN,
        0.4,
        twin_pair=(NONE, MANY),
        trials=8000,
    ),
)
