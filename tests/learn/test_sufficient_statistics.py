"""Estimators from noisy sums: without noise they are the usual ones, and one row moves one unit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.decomposition as plain_decomposition
import sklearn.linear_model as plain_linear
import sklearn.naive_bayes as plain_bayes
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet import learn
from discreet.learn.box import BITS, Box
from discreet.learn.estimators.moment_estimator import moments_of
from discreet.learn.estimators.naive_bayes import squared
from discreet.noise import Noiseless

RNG = np.random.default_rng(1)
X = RNG.uniform(-1, 1, (4000, 3)) * [1, 2, 3] + [0, 1, 2]
Y = X @ [1.0, -2.0, 0.5] + 3 + RNG.normal(size=4000) / 4
LABELS = (Y > 2).astype(int) + (Y > 4)
QUIET: dict[str, Any] = {
    "spend": dp.PureDP(epsilon=20),
    "unit": dp.Row(),
    "bounds": ([-1, -1, -1], [1, 3, 5]),
    "randomness": Noiseless(),
}


def test_linear_regression_without_noise_is_least_squares() -> None:
    found = learn.LinearRegression(**QUIET, target_bounds=(-10, 15)).fit(X, Y)
    true = plain_linear.LinearRegression().fit(X, Y)
    assert found.coef_ == pytest.approx(true.coef_, rel=0.05)
    assert found.score(X, Y) > true.score(X, Y) - 0.01


def test_a_ridge_shrinks_in_units_of_the_bounds() -> None:
    fits = [
        learn.Ridge(**QUIET, alpha=alpha, target_bounds=(-10, 15)).fit(X, Y).coef_
        for alpha in (1, 1e3, 1e5)
    ]
    lengths = [float(np.linalg.norm(fit)) for fit in fits]
    assert lengths[0] > lengths[1] > lengths[2]


def test_predictions_stay_within_the_declared_bounds() -> None:
    model = learn.LinearRegression(**QUIET, target_bounds=(0, 4)).fit(X, Y)
    predicted = model.predict(1e6 * X)
    assert predicted.min() >= 0
    assert predicted.max() <= 4


def test_naive_bayes_without_noise_is_the_usual_one() -> None:
    found = learn.GaussianNB(**QUIET, classes=[2, 0, 1]).fit(X, LABELS)
    true = plain_bayes.GaussianNB().fit(X, LABELS)
    assert found.classes_.tolist() == [0, 1, 2]
    assert found.theta_ == pytest.approx(true.theta_, abs=0.05)
    assert found.class_prior_ == pytest.approx(true.class_prior_, abs=0.01)
    assert found.score(X, LABELS) > true.score(X, LABELS) - 0.02
    assert found.predict_proba(X).sum(axis=1) == pytest.approx(1)


def test_components_without_noise_are_the_usual_ones() -> None:
    found = learn.PCA(2, **QUIET).fit(X)
    true = plain_decomposition.PCA(2).fit(X)
    assert abs((found.components_ * true.components_).sum(axis=1)) == pytest.approx(1, abs=1e-3)
    assert found.explained_variance_ == pytest.approx(true.explained_variance_, rel=0.01)
    assert found.inverse_transform(found.transform(X)).shape == X.shape
    with pytest.raises(dp.errors.InvalidParameter, match="too_many_components"):
        learn.PCA(4, **QUIET).fit(X)


def test_scaler_and_imputer_without_noise_are_the_usual_ones() -> None:
    scaler = learn.StandardScaler(**QUIET).fit(X)
    assert scaler.mean_ == pytest.approx(X.mean(axis=0), abs=0.01)
    assert scaler.scale_ == pytest.approx(X.std(axis=0), rel=0.01)
    assert scaler.inverse_transform(scaler.transform(X)) == pytest.approx(X)
    holes = X.copy()
    holes[::3, 1] = np.nan
    imputer = learn.SimpleImputer(**QUIET).fit(holes)
    assert imputer.statistics_ == pytest.approx(np.nanmean(holes, axis=0), abs=0.01)
    assert np.isfinite(imputer.transform(holes)).all()


numbers = st.floats(allow_nan=True, allow_infinity=True)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=4), st.data())
def test_one_row_moves_every_moment_by_at_most_one(
    rows: list[tuple[float, float, float]], data: st.DataObject
) -> None:
    gone = data.draw(st.integers(0, len(rows) - 1))
    kept = np.arange(len(rows)) != gone
    table = np.array(rows)
    boxes = Box.of((-3, 5), 2), Box.of((0, 1), 1)
    every = np.ones(len(rows), dtype=bool)
    with_it = moments_of(((table[:, 2:], boxes[1]), (table[:, :2], boxes[0])), every)
    without = moments_of(((table[:, 2:], boxes[1]), (table[:, :2], boxes[0])), kept)
    assert abs(with_it - without).max() <= 1 << 2 * BITS
    assert abs(squared(boxes[0].steps(table[:, :2]))).max() <= 1 << BITS


def test_rows_without_target_and_unknown_labels_count_nowhere() -> None:
    boxes = Box.of((-1, 1), 1), Box.of((-1, 1), 1)
    x = np.array([[0.5], [0.25]])
    y = np.array([[1.0], [np.nan]])
    with_nan = moments_of(((y, boxes[1]), (x, boxes[0])), np.array([True, False]))
    alone = moments_of(((y[:1], boxes[1]), (x[:1], boxes[0])), np.array([True]))
    assert (with_nan == alone).all()
    model = learn.GaussianNB(**{**QUIET, "bounds": (-1, 1)}, classes=[0, 1])
    few = model.fit(np.array([[0.5], [-0.5]] * 50), [0, 1] * 50).theta_
    more = model.fit(np.array([[0.5], [-0.5], [0.9]] * 50), [0, 1, 7] * 50).theta_
    assert (few == more).all()


def test_rows_in_any_order_give_the_same_sums() -> None:
    boxes = Box.of(((-1, -1, -1), (1, 3, 5)), 3), Box.of((-10, 15), 1)
    order = RNG.permutation(len(X))
    every = np.ones(len(X), dtype=bool)
    y = Y[:, None]
    sums = moments_of(((y, boxes[1]), (X, boxes[0])), every)
    assert (sums == moments_of(((y[order], boxes[1]), (X[order], boxes[0])), every)).all()


def test_features_of_no_use_are_pooled_away() -> None:
    """Where noise explains the differences between classes, none is left."""
    noisy = {**QUIET, "spend": dp.PureDP(epsilon=0.01)}
    model = learn.GaussianNB(**noisy, classes=[0, 1]).fit(X, RNG.integers(0, 2, len(X)))
    assert model.theta_[0] == pytest.approx(model.theta_[1])


# -- estimators on optimisers, and trees --------------------------------------------------------


def test_linear_classifiers_without_noise_are_about_the_usual_ones() -> None:
    quiet = {**QUIET, "spend": dp.PureDP(epsilon=40)}
    labels = Y > 3
    true = plain_linear.LogisticRegression().fit(X, labels).score(X, labels)
    for kind in (learn.LogisticRegression, learn.LinearSVC):
        assert kind(**quiet, classes=[False, True]).fit(X, labels).score(X, labels) > true - 0.02
    several = learn.LogisticRegression(**quiet, classes=[0, 1, 2]).fit(X, LABELS)
    assert several.coef_.shape == (3, 3)
    assert several.score(X, LABELS) > 0.75
    assert several.predict_proba(X).sum(axis=1) == pytest.approx(1)
    with pytest.raises(AttributeError):
        _ = learn.LinearSVC(**quiet, classes=[0, 1]).predict_proba


def test_several_classes_share_the_spend() -> None:
    for spend in (dp.PureDP(epsilon=3), dp.ApproxDP(epsilon=3, delta=1e-6), dp.ZCDP(rho=0.5)):
        given: dict[str, Any] = {
            "spend": spend,
            "unit": dp.Row(),
            "bounds": (-1, 5),
            "classes": [0, 1, 2],
        }
        event = learn.LogisticRegression(**given).fit(X, LABELS).event_
        if isinstance(spend, dp.ZCDP):
            assert event.zcdp().rho <= 0.5
        else:
            assert event.epsilon(delta=float(getattr(spend, "delta", 0))) <= 3.0000001


def test_the_lasso_keeps_few_coefficients() -> None:
    wide = np.concatenate([X, RNG.uniform(-1, 1, (4000, 20))], axis=1)
    low, high = [-1, -1, -1] + [-1] * 20, [1, 3, 5] + [1] * 20
    given = {**QUIET, "bounds": (low, high), "spend": dp.PureDP(epsilon=400)}
    model = learn.Lasso(**given, target_bounds=(-10, 10), steps=15).fit(wide, X[:, 1])
    assert (model.coef_ != 0).sum() <= 15
    assert abs(model.coef_).argmax() == 1
    assert model.score(wide, X[:, 1]) > 0.6


def test_kmeans_finds_groups_that_are_far_apart() -> None:
    places = np.array([[-0.7, -0.7], [0.7, 0.7], [0.7, -0.7]])
    rows = places[RNG.integers(0, 3, 3000)] + RNG.normal(0, 0.05, (3000, 2))
    spend = dp.PureDP(epsilon=5)
    best = min(
        float(
            learn.KMeans(3, spend=spend, unit=dp.Row(), bounds=(-1, 1))
            .fit(rows)
            .transform(rows)
            .min(axis=1)
            .mean()
        )
        for _ in range(5)
    )
    assert best < 0.2


def test_trees_count_every_row_once() -> None:
    given = {**QUIET, "classes": [0, 1, 2]}
    del given["randomness"]
    source = dp.noise.Seeded(3)
    forest = learn.RandomForestClassifier(4, max_depth=3, **given, randomness=source)
    forest.fit(X, LABELS)
    assert forest.leaf_counts_.shape == (4, 8, 3)
    assert forest.leaf_counts_.sum() == pytest.approx(len(X), abs=20)
    assert forest.leaf_counts_.sum(axis=(1, 2)) == pytest.approx([1000] * 4, abs=200)
    tree = learn.DecisionTreeClassifier(max_depth=6, **given).fit(X, LABELS)
    assert tree.score(X, LABELS) > 0.55
    assert tree.predict_proba(X).sum(axis=1) == pytest.approx(1)
