"""Logistic regression and support vectors by objective perturbation, one class against the rest.

Features are mapped to [-1, 1] by their bounds, with a constant for the intercept, and the random
linear term has the norm of that cube. Where noise is large beside what one row may add, so is the
ridge: both are public numbers. A part of the spend finds out first where in the cube the rows are.

Source: 004b:C3, C4, C5; modern-learn:12. Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Event, compose
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.core.parameters import Number, exact, positive, probability
from discreet.learn.centring import Centre, Centring, most_of_use
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


def part_of(spend: Guarantee, share: Number) -> Guarantee:
    """A part of the spend; parts whose shares add up to one cost it together."""
    part = exact(share)
    match spend:
        case PureDP(epsilon=epsilon):
            return PureDP(epsilon=exact(epsilon) * part)
        case ApproxDP(epsilon=epsilon, delta=delta, by=by):
            return ApproxDP(epsilon=exact(epsilon) * part, delta=exact(delta) * part, by=by)
        case ZCDP(rho=rho):
            return ZCDP(rho=exact(rho) * part)
    return spend


def perturbed(loss: Loss, privacy: Privacy, dimension: int, ridge: float) -> ObjectivePerturbation:
    """The optimiser, with a ridge of the size of its noise if that is larger."""
    given = {"loss": loss, "rows": Cube(dimension), "privacy": privacy}
    made = ObjectivePerturbation(**given, ridge=ridge)  # type: ignore[arg-type]
    asked = made.deviation * math.sqrt(dimension) / _LENGTH
    return ObjectivePerturbation(**given, ridge=max(ridge, asked))  # type: ignore[arg-type]


class ClassOptimiser(Protocol):
    """Finds coefficients from rows of a cube and the numbers of their classes."""

    @property
    def event(self) -> Event:
        """What all coefficients cost together."""

    @property
    def known_ahead(self) -> Mapping[str, float]:
        """Noise, and what follows from it, by name."""

    def minimise(self, x: Floats, labels: Ints) -> Floats:
        """One line of coefficients for each class, or for the second of two."""


@dataclass(frozen=True)
class OneAgainstRest:
    """The same optimiser for several problems: the class at each of ``places`` against the rest."""

    optimiser: ObjectivePerturbation
    places: tuple[int, ...]

    @property
    def event(self) -> Event:
        return compose((self.optimiser.event,) * len(self.places))

    @property
    def known_ahead(self) -> Mapping[str, float]:
        made = self.optimiser
        return {"noise of the linear term": made.deviation, "ridge": made.strength}

    def minimise(self, x: Floats, labels: Ints) -> Floats:
        signs = [np.where(labels == place, 1.0, -1.0) for place in self.places]
        return np.array([self.optimiser.minimise(x, sign) for sign in signs])


@dataclass(frozen=True)
class LinearPlan:
    """First where rows lie, if that is paid for, then coefficients for rows measured there."""

    centring: Centring | None
    optimiser: ClassOptimiser

    @property
    def event(self) -> Event:
        """What both cost, known before rows are read."""
        return (
            self.optimiser.event
            if self.centring is None
            else self.centring.event + self.optimiser.event
        )

    @property
    def known_ahead(self) -> Mapping[str, float]:
        """The noise of both, by name."""
        centring = {} if self.centring is None else self.centring.known_ahead
        return {**centring, **self.optimiser.known_ahead}

    def fitted(self, units: Floats, labels: Ints) -> tuple[Centre, Floats]:
        """The centre, and coefficients in its units; rows have a last column of ones."""
        declared = Centre.declared(units.shape[1] - 1)
        centre = declared if self.centring is None else self.centring.find_centre(units)
        return centre, self.optimiser.minimise(centre.centre_rows(units), labels)


@written_as("learn.LogisticRegression", "classes C centring", "classes_ coef_ intercept_ bounds_")
class LogisticRegression(ClassifierMixin, RowEstimator):  # type: ignore[misc]
    """Logistic regression with a guarantee; with several classes, one against the rest.

    Assumptions: ``classes``, ``bounds``, ``C``, ``centring``, spend and unit are chosen without the
    data. ``centring`` is the share of the spend that finds ``bounds_``, where rows lie within the
    bounds; with None these are taken as they are. ``C`` is one over the ridge, in units of
    ``bounds_``; without it the ridge is the least at which the spend buys a minimiser. Rows are
    clamped into both bounds; a missing feature counts as the middle of those declared, a row of
    another label counts nowhere.

    Guarantee: ``coef_``, ``intercept_`` and ``bounds_`` cost ``event_``, which the spend covers.

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
        centring: Number | None = 0.2,
        randomness: Any = None,
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.classes = classes
        self.C = C
        self.centring = centring
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Fit to rows and labels; ``people`` says whose each row is, if the unit is a person."""
        privacy = self._privacy()
        rows = self._read_rows(X, reset=True)
        self.classes_, labels = class_numbers(self.classes, read_target(y, len(rows)))
        kept = privacy.choose_rows_to_keep(len(rows), people) & (labels >= 0)
        self._fitted(privacy, rows if kept.all() else rows[kept], labels[kept])
        return self

    def _planned(self, privacy: Privacy, features: int, classes: int) -> Event:
        """What ``_fitted`` will cost for so many features and classes; reads no rows."""
        return self._plan(privacy, features, classes).event

    def _known_ahead(self, privacy: Privacy, features: int, classes: int) -> Mapping[str, float]:
        return self._plan(privacy, features, classes).known_ahead

    def _fitted(self, privacy: Privacy, rows: Floats, labels: Ints) -> None:
        """Fit to the rows that count; ``labels`` are places among the classes."""
        box, features = self._box(rows.shape[1]), rows.shape[1]
        plan = self._plan(privacy, features, len(self.classes_))
        centre, theta = plan.fitted(box.units_and_one(rows), labels)
        inside = centre.within(box)
        self.bounds_ = np.clip([inside.low, inside.high], box.low, box.high)
        self.coef_ = theta[:, :-1] / (centre.width * box.half)  # ends may have met
        self.intercept_ = theta[:, -1] - self.coef_ @ inside.middle
        self._keep(privacy, plan.event)

    def _plan(self, privacy: Privacy, features: int, classes: int) -> LinearPlan:
        """What is done with rows of which each unit has as many as it may; refusals are here."""
        bounded = privacy.bounded
        if self.centring is None:
            return LinearPlan(None, self._optimiser(bounded, features + 1, classes))
        bought, left = (
            replace(bounded, spend=part)
            for part in self._divided(privacy.spend, exact(probability("centring", self.centring)))
        )
        return LinearPlan(Centring(bought, features), self._optimiser(left, features + 1, classes))

    def _divided(self, spend: Guarantee, share: Fraction) -> tuple[Guarantee, Guarantee]:
        part = min(share, most_of_use(spend))
        return part_of(spend, part), part_of(spend, 1 - part)

    def _optimiser(self, privacy: Privacy, dimension: int, classes: int) -> ClassOptimiser:
        ridge = _LEAST_RIDGE if self.C is None else 1 / float(positive("C", self.C))
        places = (1,) if classes == 2 else tuple(range(classes))
        spend = part_of(privacy.spend, Fraction(1, len(places)))
        if isinstance(spend, ApproxDP) and spend.by is not None:
            spend = PureDP(epsilon=spend.epsilon)  # with a delta it has no price in rho
        each = replace(privacy, spend=spend)
        return OneAgainstRest(perturbed(self._loss(), each, dimension, ridge), places)

    def _loss(self) -> Loss:
        return LogisticLoss()

    def decision_function(self, X: Any) -> Floats:
        """The linear score of each class, or of the second of two."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        box = self._box(rows.shape[1])
        low, high = getattr(self, "bounds_", (box.low, box.high))  # old models have none
        x = np.clip(box.filled(rows), low, high)
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


@written_as("learn.LinearSVC", "classes C centring", "classes_ coef_ intercept_ bounds_")
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
