"""Search, cross-validation and splits: what they cost, what they see, and a twin that pays less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression as Plain

import discreet as dp
from discreet import events, learn
from discreet.core.errors import DiscreetError, InvalidParameter, NotPrivate
from discreet.learn.selection.folds import FitAndScore
from discreet.learn.selection.row_predictions import row_predictions
from discreet.learn.selection.runs import event_of_run, spend_of_run
from discreet.learn.selection.scores import Accuracy, NoisyScore, SquaredError, noisy_score
from discreet.noise import Noiseless, Seeded

RNG = np.random.default_rng(1)
X = RNG.uniform(-1, 1, (900, 2))
LABELS = (X @ [2.0, -1.0] + RNG.logistic(size=900) / 3 > 0).astype(int)
TARGET = X @ [2.0, -1.0]
ROW = dp.Row()
ONE = dp.PureDP(epsilon=1)
LOGISTIC = learn.LogisticRegression(bounds=(-1, 1), classes=[0, 1])
RIDGE = learn.Ridge(bounds=(-1, 1), target_bounds=(-3, 3))


def search(estimator: Any = LOGISTIC, grid: Any = None, **more: Any) -> learn.GridSearch:
    usual = {"spend": ONE, "unit": ROW, "runs": 5}
    return learn.GridSearch(estimator, grid or {"C": [0.01, 1.0]}, **{**usual, **more})


# -- what a run may cost --------------------------------------------------------------------------


@pytest.mark.parametrize("eta", [0, 1])
@pytest.mark.parametrize(
    "spend",
    [ONE, dp.ApproxDP(epsilon=1, delta=1e-6), dp.ApproxDP(epsilon=1, delta=1e-6, by=dp.ZCDP)],
    ids=repr,
)
def test_the_best_of_all_runs_costs_the_spend_and_little_less(spend: Any, eta: int) -> None:
    law = learn.stopping_law(10, eta)
    event = events.Tuned(event_of_run(spend_of_run(spend, law)), law)
    paid = event.epsilon(delta=float(getattr(spend, "delta", 0)))
    assert 0.999 < paid <= 1


def test_a_run_has_half_or_a_third_of_a_pure_spend() -> None:
    assert spend_of_run(ONE, learn.stopping_law(10, 0)).epsilon == 0.5  # type: ignore[union-attr]
    third = spend_of_run(ONE, learn.stopping_law(10, 1))
    assert float(third.epsilon) == pytest.approx(1 / 3)  # type: ignore[union-attr]
    with pytest.raises(InvalidParameter, match="search_spend"):
        spend_of_run(dp.ZCDP(rho=1), learn.stopping_law(10, 0))


def test_more_runs_try_more_candidates() -> None:
    chances = [learn.chance_of_trying(5, learn.stopping_law(runs, 0)) for runs in (2, 10, 100)]
    assert chances == sorted(chances)
    drawn = dp.noise.stopping_times(learn.stopping_law(10, 0), 4000, Seeded(1))
    tried = 1 - 0.8**drawn
    assert tried.mean() == pytest.approx(chances[1], abs=0.03)  # five deviations


# -- folds ----------------------------------------------------------------------------------------


def test_folds_are_drawn_for_each_unit_and_all_its_rows() -> None:
    people = RNG.integers(0, 200, 900)
    privacy = learn.Privacy(ONE, dp.Person("id", max_rows=3), Seeded(2))
    for split in (learn.Holdout(0.25), learn.KFold(4)):
        rounds = split.rounds(privacy, 900, people)
        scored = np.array([each.scored for each in rounds])
        for person in range(200):
            assert len(np.unique(scored[:, people == person], axis=1).T) <= 1
        assert all((each.fitted ^ each.scored).all() for each in rounds)
    assert scored.sum(axis=0).tolist() == [1] * 900


def test_a_row_that_goes_moves_no_other() -> None:
    """Coins are drawn in order, so that here the others' are the very same."""
    privacy = learn.Privacy(ONE, ROW, Seeded(2))
    more = learn.KFold(4).rounds(privacy, 900, None)
    few = learn.KFold(4).rounds(learn.Privacy(ONE, ROW, Seeded(2)), 899, None)
    for one, other in zip(more, few, strict=True):
        assert (one.scored[:899] == other.scored).all()


def test_scores_on_rows_that_were_fitted_to_are_refused() -> None:
    both = np.ones(3, dtype=bool)
    with pytest.raises(InvalidParameter, match="training_score"):
        FitAndScore(both, both)
    for share in (0, 1):
        with pytest.raises(DiscreetError):
            learn.Holdout(share)
    with pytest.raises(DiscreetError):
        learn.KFold(1)
    fitted = search().fit(X, LABELS)
    for name in ("cv_results_", "n_splits_", "train_score_", "refit_time_", "runs_"):
        assert not hasattr(fitted, name)


@pytest.mark.parametrize("split", [learn.Holdout(0.2), learn.KFold(5)], ids=repr)
def test_what_one_unit_meets_costs_no_more_than_the_run(split: Any) -> None:
    fit, score = split.spends(ONE)
    fits = 0 if isinstance(split, learn.Holdout) else split.folds - 1
    together = fits * fit.epsilon + score.epsilon
    assert together <= 1
    rho = split.spends(dp.ZCDP(rho=1))
    assert fits * rho[0].rho + rho[1].rho <= 1


# -- scores ---------------------------------------------------------------------------------------


def test_scores_are_those_of_the_model() -> None:
    privacy = learn.Privacy(ONE, ROW, Noiseless())
    everyone = np.ones(900, dtype=bool)
    model = clone(LOGISTIC).set_params(spend=ONE, unit=ROW).fit(X, LABELS)
    found, _ = noisy_score(Accuracy(), model, (X, LABELS), everyone, privacy)
    assert found.mean == pytest.approx(model.score(X, LABELS))
    assert found.rank == pytest.approx(900 * (2 * found.mean - 1))
    odd = np.where(np.arange(900) < 100, 7, LABELS)  # labels that were not declared count nowhere
    found, _ = noisy_score(Accuracy(), model, (X, odd), everyone, privacy)
    assert found.good + found.bad == pytest.approx(800)
    line = clone(RIDGE).set_params(spend=ONE, unit=ROW).fit(X, TARGET)
    found, _ = noisy_score(SquaredError(), line, (X, TARGET), everyone, privacy)
    assert found.bad == pytest.approx(np.sum((line.predict(X) - TARGET) ** 2) / 36, rel=1e-6)
    assert NoisyScore(-1.0, -2.0).mean == 0.5


def test_a_row_changes_both_sums_together_by_one() -> None:
    model = clone(RIDGE).set_params(spend=ONE, unit=ROW).fit(X, TARGET)
    privacy = learn.Privacy(ONE, ROW, Noiseless())
    wild = np.concatenate([X[:20], [[np.nan, np.inf]]])
    target = np.concatenate([TARGET[:20], [np.inf]])
    sums = []
    for rows in (20, 21):
        counted = np.ones(rows, dtype=bool)
        data = wild[:rows], target[:rows]
        found, _ = noisy_score(SquaredError(), model, data, counted, privacy)
        sums.append(np.array([found.good, found.bad]))
    moved = sums[1] - sums[0]
    assert (moved >= 0).all()
    assert moved.sum() == 1


@pytest.mark.parametrize(
    "model", [LOGISTIC, RIDGE, learn.GaussianNB(bounds=(-1, 1), classes=[0, 1])], ids=repr
)
def test_predictions_are_those_of_each_row_alone(model: Any) -> None:
    fitted = clone(model).set_params(spend=ONE, unit=ROW).fit(X, LABELS)
    all_at_once = row_predictions(fitted, X[:60])
    assert all_at_once == pytest.approx(fitted.predict(X[:60]))
    each = [row_predictions(fitted, X[place : place + 1])[0] for place in range(60)]
    assert all_at_once.tolist() == each  # to the last bit


# -- the search -----------------------------------------------------------------------------------


def test_the_search_finds_what_is_better_where_it_matters() -> None:
    right = []
    for seed in range(8):
        grid = {"bounds": [(-1, 1), (-1e6, 1e6)]}  # bounds far too wide drown the data
        found = search(grid=grid, runs=20, randomness=Seeded(seed)).fit(X, LABELS)
        right.append(found.best_params_["bounds"] == (-1, 1))
    # With two candidates the good one is among those tried in 80 of 100 searches.
    assert sum(right) >= 4
    assert found.score(X, LABELS) > 0.5


def test_it_keeps_the_model_of_the_best_run_with_its_event() -> None:
    found = search().fit(X, LABELS)
    assert found.event_ == events.Tuned(events.Pure(epsilon=0.5), learn.stopping_law(5, 0))
    assert found.event_.epsilon(delta=0) == 1
    assert found.guarantee_ == dp.PureDP(epsilon=1, unit=ROW)
    assert found.best_estimator_.event_.epsilon(delta=0) == 0.5
    assert 0 <= found.best_score_ <= 1
    assert (found.predict(X) == found.best_estimator_.predict(X)).all()
    assert found.predict_proba(X).shape == (900, 2)
    assert found.classes_.tolist() == [0, 1]
    kept = set(vars(found)) - set(found.get_params(deep=False))
    assert kept == {
        *("best_params_", "best_estimator_", "best_score_", "event_", "guarantee_", "facts_"),
        "n_features_in_",
    }
    with pytest.raises(NotPrivate):
        search(randomness=Seeded(3)).fit(X, LABELS).event_.epsilon(delta=0)


def test_scikit_learn_can_clone_it_and_reach_its_parameters() -> None:
    made = search()
    copy = clone(made)
    assert copy.get_params()["estimator__bounds"] == (-1, 1)
    assert copy.set_params(estimator__C=3.0).estimator.C == 3.0
    assert is_classifier(made)
    assert is_regressor(search(RIDGE, {"alpha": [1.0]}))


def test_what_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="estimator_not_private"):
        search(Plain()).fit(X, LABELS)
    with pytest.raises(InvalidParameter, match="privacy_in_grid"):
        search(grid={"spend": [ONE]}).fit(X, LABELS)
    with pytest.raises(InvalidParameter, match="no_score"):
        search(learn.StandardScaler(bounds=(-1, 1)), {"bounds": [(-1, 1)]}).fit(X, LABELS)
    with pytest.raises(InvalidParameter, match="privacy_missing"):
        search(spend=None).fit(X, LABELS)
    with pytest.raises(InvalidParameter, match="cross_validation_spend"):
        learn.cross_val_score(Plain(), X, LABELS, spend=ONE, unit=ROW)


@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("split", [learn.Holdout(0.5), learn.KFold(3)], ids=repr)
def test_sides_without_rows_are_like_any_others(rows: int, split: Any) -> None:
    for seed in range(6):
        given = {"split": split, "randomness": Seeded(seed), "runs": 2}
        assert search(**given).fit(X[:rows], LABELS[:rows]).best_params_
        ridge = search(RIDGE, {"alpha": [1.0, 2.0]}, unit=dp.Person("id", max_rows=2), **given)
        assert ridge.fit(X[:rows], TARGET[:rows], people=[1, None][:rows]).best_params_


def test_cross_validation_scores_all_folds_at_one_price() -> None:
    found = learn.cross_val_score(LOGISTIC, X, LABELS, spend=dp.PureDP(epsilon=20), unit=ROW)
    assert found.event == events.Pure(epsilon=20)
    assert 0.7 < found.score < 1
    people = np.arange(900) // 3
    unit = dp.Person("id", max_rows=2)
    by_person = learn.cross_val_score(RIDGE, X, TARGET, spend=ONE, unit=unit, people=people)
    assert 0 <= by_person.score <= 1
    _, test = learn.train_test_split(900, unit=unit, people=people, share=0.3)
    assert 0.2 < test.mean() < 0.4
    assert (test.reshape(300, 3).min(axis=1) == test.reshape(300, 3).max(axis=1)).all()
