"""Every estimator by itself, as users fit it: its claim stands, and that of a twin does not.

Each audit trains on one half of the fits which outcomes to look at, and refutes a true claim with
probability at most 1e-6. ``lower_bound`` of a finding is the epsilon that it could refute: the
assertions say how much that is at least, at a claim of four. Twins make mistakes that are easily
made: bounds that are not enforced, noise for one row of a person who has forty, a row that counts
in every tree, no noise where nobody is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.audit import Finding, LearnedEvents, audit, outcome, repeated
from discreet.core.arrays import Floats
from discreet.learn.box import Box

GIVEN: dict[str, Any] = {"unit": dp.Row(), "bounds": (-1, 1)}
FAR = 1000.0
"""Far outside of the bounds: it counts as one."""
LABELLED: dict[str, Any] = {**GIVEN, "classes": [0, 1]}
TARGET: dict[str, Any] = {**GIVEN, "target_bounds": (-1, 1)}

Look = Callable[[Any], Floats]
"""What an attacker looks at in a fitted model."""


def found_by(
    made: Callable[[float], Any], look: Look, claim: float, *, rows: int = 1, trials: int = 1000
) -> Finding:
    """The audit of fits to two low rows, and to as many high ones more as one unit has."""
    few = np.full((2, 1), -1.0)
    pair = few, np.concatenate([few, np.full((rows, 1), FAR)])

    def release(x: Floats) -> tuple[int, ...]:
        fitted = made(claim).fit(x, (x[:, 0] > 0).astype(float))
        return tuple(np.floor(2 * np.clip(look(fitted), -4, 4)).astype(int).ravel().tolist())

    return audit(
        repeated(release),
        *pair,
        epsilon=claim,
        delta=0,
        events=LearnedEvents(outcome),
        trials=trials,
        confidence=1 - 1e-6,
    )


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


def spending(kind: Callable[..., Any], **given: Any) -> Callable[[float], Any]:
    return lambda epsilon: kind(spend=dp.PureDP(epsilon=epsilon), **given)


def everywhere(kind: type) -> Callable[..., Any]:
    """A twin of trees in which a row counts in every tree, with the noise of one."""

    class Twin(kind):  # type: ignore[misc]
        def fit(self, X: Any, y: Any = None, people: Any = None) -> Any:
            super().fit(X, y)
            units = self._box(1).units(X)
            for splits, counts in zip(self.splits_, self.leaf_counts_, strict=True):
                np.add.at(counts, (splits.leaves(units), y.astype(int)), 1)
            return self

    return Twin


LOOKS: dict[str, tuple[Any, dict[str, Any], Look, float]] = {
    "scaler": (
        learn.StandardScaler,
        GIVEN,
        lambda model: np.array([3 * model.mean_[0], 4 * model.var_[0]]),
        0.8,
    ),
    "components": (
        learn.PCA,
        GIVEN,
        lambda model: np.array([3 * model.mean_[0], 4 * model.explained_variance_[0]]),
        1.0,
    ),
    "imputer": (learn.SimpleImputer, GIVEN, lambda model: 4 * model.statistics_, 1.2),
    "k-means": (
        learn.KMeans,
        {**GIVEN, "n_clusters": 1, "rounds": 1},
        lambda model: 4 * model.cluster_centers_[0],
        1.2,
    ),
}
"""What is fitted, what an attacker looks at, and the epsilon that the audit refutes at least."""


def both(name: str) -> None:
    kind, given, look, refuted = LOOKS[name]
    honest = found_by(spending(kind, **given), look, 4)
    assert honest.passes
    assert honest.lower_bound > refuted
    assert not found_by(spending(unbounded(kind), **given), look, 1).passes


def test_the_imputer_keeps_its_claim_and_the_twin_without_bounds_does_not() -> None:
    both("imputer")


@pytest.mark.audit
@pytest.mark.parametrize("name", [name for name in LOOKS if name != "imputer"])
def test_claims_stand_and_those_of_twins_without_bounds_do_not(name: str) -> None:
    both(name)


def slope(model: Any) -> Floats:
    return np.array([np.ravel(model.coef_)[0], np.ravel(model.intercept_)[0]])


@pytest.mark.audit
@pytest.mark.parametrize(
    ("kind", "given", "refuted"),
    [
        (learn.LogisticRegression, LABELLED, 0.3),
        (learn.LinearSVC, LABELLED, 0.3),
        (learn.Lasso, {**TARGET, "steps": 1}, 0.3),
    ],
    ids=["logistic", "svc", "lasso"],
)
def test_claims_stand_and_those_of_twins_with_noise_for_one_row_do_not(
    kind: Any, given: dict[str, Any], refuted: float
) -> None:
    """Forty rows of one person: the twin has the noise of one, as if rows were people."""

    def scaled(model: Any) -> Floats:
        return slope(model) if "classes" in given else 4 * slope(model)

    honest = found_by(spending(kind, **given), scaled, 4, trials=2000)
    assert honest.passes
    assert honest.lower_bound > refuted
    assert not found_by(spending(kind, **given), scaled, 1, rows=40).passes


@pytest.mark.audit
@pytest.mark.parametrize(
    ("kind", "given"),
    [(learn.DecisionTreeClassifier, {}), (learn.RandomForestClassifier, {"n_estimators": 8})],
    ids=["tree", "forest"],
)
def test_trees_keep_their_claim_and_the_twin_with_rows_in_all_of_them_does_not(
    kind: Any, given: dict[str, Any]
) -> None:
    def look(model: Any) -> Floats:
        """Of each tree, whether anybody has the second label."""
        return np.sort(np.clip(model.leaf_counts_[:, :, 1].sum(axis=1), 0, 1).round() / 2)

    def summed(model: Any) -> Floats:
        return np.array([model.leaf_counts_[:, :, 1].sum() / 2])

    made = spending(kind, **LABELLED, **given, max_depth=1)
    honest = found_by(made, summed, 4)
    assert honest.passes
    assert honest.lower_bound > 0.3
    if given:
        twin = spending(everywhere(kind), **LABELLED, **given, max_depth=1)
        assert not found_by(twin, summed, 1).passes
    else:
        exact = spending(_Exact, **LABELLED, max_depth=1)
        assert not found_by(exact, look, 1).passes


class _Exact(learn.DecisionTreeClassifier):
    """A twin that forgets the noise of labels nobody has."""

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Any:
        super().fit(X, y)
        self.leaf_counts_[:, :, 1] *= bool((y == 1).any())
        return self
