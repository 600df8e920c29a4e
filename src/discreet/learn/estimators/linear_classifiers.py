"""Logistic regression and support vectors by objective perturbation, one class against the rest.

Features are mapped to [-1, 1] by their bounds, with a constant for the intercept, and the random
linear term has the norm of that cube. Where noise is large beside what one row may add, so is the
ridge: both are public numbers.

Source: 004b:C3, C4, C5; modern-learn:12. Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import exact, positive
from discreet.learn.estimators.base import class_numbers, read_target
from discreet.learn.estimators.row_estimator import RowEstimator
from discreet.learn.losses import LogisticLoss, Loss, SmoothHingeLoss
from discreet.learn.optimisers.objective_perturbation import ObjectivePerturbation
from discreet.learn.optimisers.row_sets import Cube
from discreet.learn.privacy import Privacy
from discreet.learn.tags import written_as

_LEAST_RIDGE = 2.0**-40
"""What is asked for where nobody asks: the spend then says how large the ridge is."""
_LENGTH = 16.0
"""The length of coefficients that the linear term may bring about by itself, in units."""


def share_among(spend: Guarantee, problems: int) -> Guarantee:
    """What each of several problems may cost so that all together cost the spend."""
    match spend:
        case PureDP(epsilon=epsilon):
            return PureDP(epsilon=exact(epsilon) / problems)
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(epsilon=exact(epsilon) / problems, delta=exact(delta) / problems)
        case ZCDP(rho=rho):
            return ZCDP(rho=exact(rho) / problems)
    return spend


def perturbed(loss: Loss, privacy: Privacy, dimension: int, ridge: float) -> ObjectivePerturbation:
    """The optimiser, with a ridge of the size of its noise if that is larger."""
    given = {"loss": loss, "rows": Cube(dimension), "privacy": privacy}
    made = ObjectivePerturbation(**given, ridge=ridge)  # type: ignore[arg-type]
    asked = made.deviation * math.sqrt(dimension) / _LENGTH
    return ObjectivePerturbation(**given, ridge=max(ridge, asked))  # type: ignore[arg-type]


@written_as("learn.LogisticRegression", "classes C", "classes_ coef_ intercept_")
class LogisticRegression(ClassifierMixin, RowEstimator):  # type: ignore[misc]
    """Logistic regression with a guarantee; with several classes, one against the rest.

    Assumptions: ``classes``, ``bounds``, ``C``, spend and unit are chosen without the data. ``C``
    is one over the ridge, in units of the bounds; without it the ridge is the least at which the
    spend buys a minimiser. Rows are clamped into the bounds; a missing feature counts as the
    middle, a row of another label counts nowhere.

    Guarantee: ``coef_`` and ``intercept_`` cost ``event_``, which the spend covers.

    Source: 004b:C3, C4, C5, modern-learn:12. Proof: ``proofs/optimisers.md``.
    """

    mechanism = "objective perturbation"

    def __init__(
        self,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        classes: Any = None,
        C: float | None = None,
        randomness: Any = None,
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.classes = classes
        self.C = C
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Fit to rows and labels; ``people`` says whose each row is, if the unit is a person."""
        privacy = self._privacy()
        rows = self._read(X, reset=True)
        self.classes_, labels = class_numbers(self.classes, read_target(y, len(rows)))
        kept = privacy.kept(len(rows), people) & (labels >= 0)
        self._fitted(privacy, rows if kept.all() else rows[kept], labels[kept])
        return self

    def _planned(self, privacy: Privacy, features: int, classes: int) -> Event:
        """What ``_fitted`` will cost for so many features and classes; reads no rows."""
        problems = 1 if classes == 2 else classes
        return compose((self._optimiser(privacy, features, problems).event,) * problems)

    def _known_ahead(self, privacy: Privacy, features: int, classes: int) -> Mapping[str, float]:
        made = self._optimiser(privacy, features, 1 if classes == 2 else classes)
        return {"noise of the linear term": made.deviation, "ridge": made.strength}

    def _fitted(self, privacy: Privacy, rows: Floats, labels: Ints) -> None:
        """Fit to the rows that count; ``labels`` are places among the classes."""
        box = self._box(rows.shape[1])
        theta = self._minimised(privacy, box.units_and_one(rows), labels)
        self.coef_ = theta[:, :-1] / box.half
        self.intercept_ = theta[:, -1] - self.coef_ @ box.middle
        self._keep(privacy, self._planned(privacy, rows.shape[1], len(self.classes_)))

    def _minimised(self, privacy: Privacy, units: Floats, labels: Ints) -> Floats:
        problems = [1] if len(self.classes_) == 2 else range(len(self.classes_))
        optimiser = self._optimiser(privacy, units.shape[1] - 1, len(problems))
        signs = [np.where(labels == place, 1.0, -1.0) for place in problems]
        return np.array([optimiser.minimise(units, sign) for sign in signs])

    def _optimiser(self, privacy: Privacy, features: int, problems: int) -> ObjectivePerturbation:
        ridge = _LEAST_RIDGE if self.C is None else 1 / float(positive("C", self.C))
        each = replace(privacy.bounded, spend=share_among(privacy.spend, problems))
        return perturbed(self._loss(), each, features + 1, ridge)

    def _loss(self) -> Loss:
        return LogisticLoss()

    def decision_function(self, X: Any) -> Floats:
        """The linear score of each class, or of the second of two."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        box = self._box(rows.shape[1])
        x = box.filled(rows)
        scores: Floats = x @ self.coef_.T + self.intercept_
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> Any:
        """The likeliest class of each row."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(int) if scores.ndim == 1 else np.argmax(scores, axis=1)
        return self.classes_[places]

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class; of several, each against the rest, normalised."""
        from scipy.special import expit

        scores = self.decision_function(X)
        shares = expit(scores)
        if scores.ndim == 1:
            return np.stack([1 - shares, shares], axis=1)
        total = np.maximum(shares.sum(axis=1, keepdims=True), 1e-300)
        normalised: Floats = shares / total
        return normalised


@written_as("learn.LinearSVC", "classes C", "classes_ coef_ intercept_")
class LinearSVC(LogisticRegression):
    """Linear support vectors, by a hinge whose kink is rounded, with a guarantee.

    Assumptions and guarantee: as for :class:`LogisticRegression`. There are no probabilities.

    Source: 004b:C3, C5. Proof: ``proofs/optimisers.md``.
    """

    def _loss(self) -> Loss:
        return SmoothHingeLoss()

    @property
    def predict_proba(self) -> Any:
        """Not offered: a hinge has no probabilities."""
        message = "predict_proba"
        raise AttributeError(message)
