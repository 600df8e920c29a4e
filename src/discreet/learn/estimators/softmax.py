"""Softmax regression as an estimator: logistic regression of several classes with a delta.

Source: 004b:C6, modern-learn:12. Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
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

    def _planned(self, privacy: Privacy, features: int, classes: int) -> Event:
        return self._descent(privacy, features, classes).event

    def _known_ahead(self, privacy: Privacy, features: int, classes: int) -> Mapping[str, float]:
        made = self._descent(privacy, features, classes)
        rows = float(privacy.moved)
        step, number = made.of_step * made.clip * rows, made.of_count * rows
        return {"noise of each step": step, "noise of the number of rows": number}

    def _minimised(self, privacy: Privacy, units: Floats, labels: Ints) -> Floats:
        made = self._descent(privacy, units.shape[1] - 1, len(self.classes_))
        found = made.minimise(units, labels)
        return found[1:] - found[:1] if len(self.classes_) == 2 else found

    def _descent(self, privacy: Privacy, features: int, classes: int) -> SoftmaxDescent:
        return SoftmaxDescent(
            classes=classes,
            dimension=features + 1,
            privacy=privacy.bounded,
            steps=self.steps,
            clip=self.clip,
        )

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class."""
        scores = self.decision_function(X)
        both = np.stack([0 * scores, scores], axis=1) if scores.ndim == 1 else scores
        weights = np.exp(both - both.max(axis=1, keepdims=True))
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
        return shares
