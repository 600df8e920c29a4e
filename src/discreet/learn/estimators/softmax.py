"""Softmax regression as an estimator: logistic regression of several classes with a delta.

Source: 004b:C6, modern-learn:12. Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Event
from discreet.learn.estimators.linear_classifiers import LogisticRegression
from discreet.learn.optimisers.softmax_descent import SoftmaxDescent
from discreet.learn.privacy import Privacy
from discreet.learn.tags import written_as


@written_as("learn.SoftmaxRegression", "classes steps clip", "classes_ coef_ intercept_")
class SoftmaxRegression(LogisticRegression):
    """Logistic regression of all classes together, by noisy gradients, with a guarantee.

    Assumptions: ``classes``, ``bounds``, ``steps``, ``clip``, spend and unit are chosen without the
    data. Rows are clamped into the bounds; a missing feature counts as the middle, a row of
    another label counts nowhere.

    Guarantee: ``coef_`` and ``intercept_`` cost ``event_``, which the spend covers. The spend is in
    ApproxDP or ZCDP; with PureDP use :class:`LogisticRegression`.

    Source: 004b:C6. Proof: ``proofs/optimisers.md``.
    """

    C = 1.0  # of the base class; there is no ridge here

    def __init__(
        self,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        classes: Any = None,
        steps: int = 30,
        clip: float = 1.0,
        randomness: Any = None,
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.classes = classes
        self.steps = steps
        self.clip = clip
        self.randomness = randomness

    def _minimised(
        self, privacy: Privacy, units: Floats, labels: Ints, ridge: float
    ) -> tuple[Floats, Event]:
        made = SoftmaxDescent(
            classes=len(self.classes_),
            dimension=units.shape[1],
            privacy=replace(privacy.bounded),
            steps=self.steps,
            clip=self.clip,
        )
        found = made.minimise(units, labels)
        if len(self.classes_) == 2:
            found = found[1:] - found[:1]
        return found, made.event

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class."""
        scores = self.decision_function(X)
        both = np.stack([0 * scores, scores], axis=1) if scores.ndim == 1 else scores
        weights = np.exp(both - both.max(axis=1, keepdims=True))
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
        return shares
