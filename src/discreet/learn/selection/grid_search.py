"""Search over a grid, paid for by random stopping: the best of a random number of runs.

Usual searches fit every candidate, score each on rows that somebody is in, and tell the best: each
fit and each score costs. Here every run draws one candidate from the grid, fits it to some of the
rows and scores it on others; their number is random, only the best run is kept, and the
model is that run's own. Nothing is fitted again.

Source: modern-learn:1 (Papernot, Steinke 2022; Liu, Talwar 2019). Proof:
``proofs/selection_by_runs.md``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from sklearn.base import MetaEstimatorMixin, clone, is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from discreet.core.errors import InvalidParameter
from discreet.core.events.tuned import Tuned
from discreet.core.parameters import Number
from discreet.learn.estimators.base import PrivateEstimator, features_of, read_target
from discreet.learn.privacy import Privacy, identifiers
from discreet.learn.selection.folds import Holdout, Split
from discreet.learn.selection.runs import Runs, event_of_run, spend_of_run, stopping_law
from discreet.learn.selection.scores import Accuracy, NoisyScore, Score, SquaredError
from discreet.mechanisms.additive import mark_unprotected_event
from discreet.noise import stopping_times, uniform_integers

_OWN = ("spend", "unit", "randomness")


class GridSearch(MetaEstimatorMixin, PrivateEstimator):  # type: ignore[misc]
    """The best of ``runs`` expected fits of an estimator, with a guarantee for all of them.

    ``param_grid`` lists values as scikit-learn's does; bounds may be among them. The estimator's
    own spend, unit and randomness are set here. ``scoring`` is accuracy for classifiers and the
    squared error for regressions, unless told otherwise.

    Assumptions: estimator, grid, ``runs``, ``eta``, ``split``, spend and unit are chosen without
    the data.

    Guarantee: ``best_params_``, ``best_score_`` and ``best_estimator_`` cost ``event_``, which the
    spend covers, whatever the number of candidates and of runs. There are no scores of other
    candidates, none on rows that were fitted to, and not the number of runs.

    Source: modern-learn:1. Proof: ``proofs/selection_by_runs.md``.

    Numerics: losses are rounded to 2**-30 and added up in exact integers.
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        spend: Any = None,
        unit: Any = None,
        runs: Number = 30,
        eta: Number = 0,
        split: Split = Holdout(),  # noqa: B008  # it is frozen
        scoring: Score | None = None,
        randomness: Any = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.spend = spend
        self.unit = unit
        self.runs = runs
        self.eta = eta
        self.split = split
        self.scoring = scoring
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Search; ``people`` says whose each row is, if the unit is a person."""
        privacy, law = self._privacy(), stopping_law(self.runs, self.eta)
        candidates, score = self._candidates(), self._score()
        run = spend_of_run(privacy.spend, law)
        rows = self._read_rows(X, reset=True)
        target = read_target(y, len(rows))
        kept = privacy.choose_rows_to_keep(len(rows), people)
        whose = None if people is None else identifiers(people, len(rows))
        runs = Runs(replace(privacy, spend=run), self.split, (rows, target, whose), kept)
        best = self._best(runs, candidates, score, privacy)
        self.best_params_, self.best_estimator_, found = best
        self.best_score_ = found.mean
        self._keep(
            privacy, mark_unprotected_event(Tuned(event_of_run(run), law), privacy.randomness)
        )
        return self

    def _features_declared(self) -> int | None:
        return features_of(self.estimator.bounds)

    def _best(
        self, runs: Runs, candidates: list[dict[str, Any]], score: Score, privacy: Privacy
    ) -> tuple[dict[str, Any], Any, NoisyScore]:
        """The run with the best score; K is drawn before the first, and none is left out."""
        law = stopping_law(self.runs, self.eta)
        many = int(stopping_times(law, 1, privacy.randomness)[0])
        drawn = uniform_integers(len(candidates), many, privacy.randomness)
        best: tuple[dict[str, Any], Any, NoisyScore] | None = None
        for place in drawn.tolist():
            model, found = runs.run(clone(self.estimator).set_params(**candidates[place]), score)
            if best is None or found.rank > best[2].rank:
                best = candidates[place], model, found
        assert best is not None
        return best

    def _candidates(self) -> list[dict[str, Any]]:
        """All combinations of the grid; refused where they would set privacy, or are no model's."""
        if not isinstance(self.estimator, PrivateEstimator):
            raise InvalidParameter(
                code="estimator_not_private",
                expectation="an estimator of discreet.learn, which keeps the spend it is given",
                received=type(self.estimator).__name__,
                remedy="Search over an estimator such as discreet.learn.LogisticRegression.",
            )
        candidates = [dict(each) for each in ParameterGrid(self.param_grid)]
        if any(name in each for name in _OWN for each in candidates):
            raise InvalidParameter(
                code="privacy_in_grid",
                expectation="a grid without spend, unit and randomness",
                remedy="Give them to the search; every candidate is compared at the same price.",
            )
        return candidates

    def _score(self) -> Score:
        if self.scoring is not None:
            return self.scoring
        if is_classifier(self.estimator):
            return Accuracy()
        if is_regressor(self.estimator):
            return SquaredError()
        raise InvalidParameter(
            code="no_score",
            expectation="a classifier or a regression, or scoring=",
            received=type(self.estimator).__name__,
            remedy="Pass an object with losses(model, X, y) within [0, 1].",
        )

    @property
    def classes_(self) -> Any:
        """Those of the best model, which were declared."""
        return self.best_estimator_.classes_

    def predict(self, X: Any) -> Any:
        """As the best model does."""
        check_is_fitted(self)
        return self.best_estimator_.predict(self._read_rows(X, reset=False))

    def predict_proba(self, X: Any) -> Any:
        """As the best model does, if it does."""
        check_is_fitted(self)
        return self.best_estimator_.predict_proba(self._read_rows(X, reset=False))

    def score(self, X: Any, y: Any) -> float:
        """As the best model does: exact, for rows that are public or paid for elsewhere."""
        check_is_fitted(self)
        return float(self.best_estimator_.score(self._read_rows(X, reset=False), y))

    def __sklearn_tags__(self) -> Any:
        """Of the kind that the estimator is."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags
