"""Estimators as users fit them, through ``fit``, and what their fitted attributes tell.

Neighbours: a row that counts nowhere, or two low ones, and one row more that is far outside of the
bounds. Where the law of the noise is public an attacker looks at the likelihood ratio.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import discreet as dp
from discreet import learn
from discreet.core.arrays import Floats
from discreet.learn.box import Box

from .attack import Attack

EPSILON = 2.0
MORE = 3.0
"""A larger claim, where noise of the smaller one leaves little to see."""
DELTA = 1e-3
FAR = 1000.0
"""Far outside of the bounds: it counts as one."""
PERSON = 400
"""Rows of one person, where a twin has the noise of one row."""
GIVEN: dict[str, Any] = {"unit": dp.Row(), "bounds": (-1, 1)}
LABELLED: dict[str, Any] = {**GIVEN, "classes": [0, 1]}
TARGET: dict[str, Any] = {**GIVEN, "target_bounds": (-1, 1)}
LESS = "noise of one row for a person's 400"
WIDE = "bounds that are not enforced"

Look = Callable[[Any], Any]
"""What an attacker looks at in a fitted model: numbers, of which whole parts are compared."""


def nobody_and(rows: int, target: float) -> tuple[Any, Any]:
    """A row that counts nowhere, and as many far ones besides."""
    none = np.zeros((1, 1)), np.array([np.nan])
    far = np.full((rows, 1), FAR), np.full(rows, target)
    return none, tuple(np.concatenate(each) for each in zip(none, far, strict=True))


def low_and(rows: int) -> tuple[Any, Any]:
    """Two low rows, and as many far ones besides."""
    low = np.full((2, 1), -1.0)
    more = np.concatenate([low, np.full((rows, 1), FAR)])
    return (low, np.zeros(2)), (more, (more[:, 0] > 0).astype(float))


def zeros_and(rows: int) -> tuple[Any, Any]:
    """Twenty rows in the middle, and as many far ones besides."""
    zeros = np.zeros((20, 1))
    more = np.concatenate([zeros, np.full((rows, 1), FAR)])
    return (zeros, np.zeros(20)), (more, np.zeros(len(more)))


def middle_and(rows: int) -> tuple[Any, Any]:
    """Twenty low rows of the first label, twenty in the middle of the second, and far ones."""
    known = np.repeat([[-1.0], [0.0]], 20, axis=0), np.repeat([0.0, 1.0], 20)
    far = np.full((rows, 1), FAR), np.ones(rows)
    return known, tuple(np.concatenate(each) for each in zip(known, far, strict=True))


def seen(kind: Callable[..., Any], given: dict[str, Any], look: Look) -> Callable[[Any], Any]:
    made = {"spend": dp.PureDP(epsilon=EPSILON), **given}

    def release(data: tuple[Floats, Floats]) -> tuple[int, ...]:
        found = np.ravel(look(kind(**made).fit(*data)))
        return tuple(np.floor(np.clip(found, -8, 8)).astype(int).tolist())

    return release


class Unbounded(Box):
    """A twin of bounds that maps to them and clamps nothing."""

    def columns(self, values: Any, out: Any) -> Any:
        out[:] = np.rint((values - self.middle[:, None]) / self.half[:, None] * 2.0**36)
        return out


def unbounded(kind: type) -> Callable[..., Any]:
    class Twin(kind):  # type: ignore[misc]
        def _box(self, features: int) -> Box:
            return Unbounded.of(self.bounds, features)

    return Twin


def everywhere(kind: type) -> Callable[..., Any]:
    """A twin of trees in which a row counts in every tree, with the noise of one."""

    class Twin(kind):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None, people: Any = None) -> Any:
            super().fit(X, y)
            units, known = self._box(1).units(X), y == 1
            for splits, counts in zip(self.splits_, self.leaf_counts_, strict=True):
                np.add.at(counts, (splits.leaves(units[known]), 1), 1)
            return self

    return Twin


class NobodyIsExact(learn.DecisionTreeClassifier):
    """A twin that forgets the noise of labels nobody has."""

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Any:
        super().fit(X, y)
        self.leaf_counts_[:, :, 1] *= bool((y == 1).any())
        return self


def ratio(values: Floats, moved: Floats, scale: float) -> float:
    """The log-likelihood ratio of noise in the norm of a cube."""
    return float(abs(values).max() - abs(values - moved).max()) / scale


def sums_ratio(model: Any) -> float:
    """Of the noisy sums that a regression keeps, for one row of ones."""
    square, mixed = model.equations_.square, model.equations_.mixed
    rough = np.array([square[0, 0], mixed[0]])
    fine = np.array([square[0, 1], mixed[1], square[1, 1]])
    scales = model.equations_.scales
    return 4 * sum(ratio(v, np.ones_like(v), s) for v, s in zip((rough, fine), scales, strict=True))


def leaves_of_far(model: Any) -> Floats:
    """The counts of the second label in the leaves that the row would be in."""
    far, trees = np.ones((1, 1)), zip(model.splits_, model.leaf_counts_, strict=True)
    return np.array([counts[splits.leaves(far)[0], 1] for splits, counts in trees])


def leaf_ratio(model: Any) -> Any:
    """Of these counts, for a row of the second label that is in one of the trees."""
    counts = leaves_of_far(model)
    return 2 * np.log(np.mean(np.exp(EPSILON * (abs(counts) - abs(counts - 1)))))


def score_of_far(model: Any) -> Floats:
    """How a linear model finds the row that came."""
    return np.asarray(model.decision_function(np.ones((1, 1))) / 2)


def vertex(model: Any) -> Floats:
    return np.array([100 * np.sign(model.coef_[0]), 100 * np.sign(model.intercept_)])


def of_classes(model: Any) -> Floats:
    return np.asarray(60 * model.theta_[1, 0])


def mean_and_variance(model: Any) -> Floats:
    spread = model.var_ if hasattr(model, "var_") else model.explained_variance_
    return np.array([6 * model.mean_[0], 8 * spread[0]])


def one_row_for_many(
    kind: Any, given: dict[str, Any], look: Look, refutes: float, **more: Any
) -> Attack:
    name = kind.__name__
    release = seen(kind, given, look)
    return Attack(
        name,
        (name,),
        float(given["spend"].epsilon),
        nobody_and(1, 1.0),
        release,
        release,
        LESS,
        refutes,
        twin_pair=nobody_and(PERSON, 1.0),
        **more,
    )


def without_bounds(
    kind: Any, given: dict[str, Any], look: Look, refutes: float, pair: Any
) -> Attack:
    name = kind.__name__
    sound, twin = seen(kind, given, look), seen(unbounded(kind), given, look)
    return Attack(name, (name,), EPSILON, pair, sound, twin, WIDE, refutes)


HINGE: dict[str, Any] = {**LABELLED, "spend": dp.PureDP(epsilon=EPSILON)}
LINEAR: dict[str, Any] = {**LABELLED, "spend": dp.PureDP(epsilon=MORE)}
CLOSE: dict[str, Any] = {**LABELLED, "spend": dp.ApproxDP(epsilon=MORE, delta=DELTA), "steps": 1}
SPARSE: dict[str, Any] = {
    **TARGET,
    "spend": dp.PureDP(epsilon=EPSILON),
    "steps": 1,
    "radius": 0.01,
}
TREE: dict[str, Any] = {**LABELLED, "max_depth": 1}
FOREST: dict[str, Any] = {**TREE, "n_estimators": 8}

ESTIMATORS: tuple[Attack, ...] = (
    without_bounds(learn.LinearRegression, TARGET, sums_ratio, 0.7, nobody_and(1, 1.0)),
    without_bounds(learn.Ridge, TARGET, sums_ratio, 0.6, nobody_and(1, 1.0)),
    one_row_for_many(learn.Lasso, SPARSE, vertex, 0.3),
    one_row_for_many(learn.LogisticRegression, LINEAR, score_of_far, 0.0, trials=3000),
    one_row_for_many(learn.LinearSVC, HINGE, score_of_far, 0.3),
    one_row_for_many(
        learn.SoftmaxRegression,
        CLOSE,
        lambda model: 8 * score_of_far(model),
        0.0,
        delta=DELTA,
    ),
    without_bounds(learn.GaussianNB, LABELLED, of_classes, 0.0, middle_and(1)),
    without_bounds(
        learn.KMeans,
        {**GIVEN, "n_clusters": 1, "rounds": 1},
        lambda model: 60 * model.cluster_centers_[0],
        0.05,
        zeros_and(1),
    ),
    without_bounds(learn.PCA, GIVEN, mean_and_variance, 0.3, low_and(1)),
    without_bounds(learn.StandardScaler, GIVEN, mean_and_variance, 0.2, low_and(1)),
    without_bounds(
        learn.SimpleImputer,
        GIVEN,
        lambda model: 6 * model.statistics_,
        0.6,
        low_and(1),
    ),
    Attack(
        "DecisionTreeClassifier",
        ("DecisionTreeClassifier",),
        EPSILON,
        nobody_and(1, 1.0),
        seen(learn.DecisionTreeClassifier, TREE, leaf_ratio),
        seen(NobodyIsExact, TREE, lambda model: abs(model.leaf_counts_[:, :, 1]).sum() > 0),
        "no noise on labels that nobody has",
        1,
    ),
    Attack(
        "RandomForestClassifier",
        ("RandomForestClassifier",),
        EPSILON,
        nobody_and(1, 1.0),
        seen(learn.RandomForestClassifier, FOREST, leaf_ratio),
        seen(
            everywhere(learn.RandomForestClassifier),
            FOREST,
            lambda model: leaves_of_far(model).sum() / 2,
        ),
        "a row that counts in every tree",
        0.6,
    ),
)
