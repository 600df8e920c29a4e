"""Softmax regression as an estimator: logistic regression of several classes with a delta.

Source: 004b:C6, modern-learn:12. Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Event
from discreet.core.guarantee import ZCDP, Guarantee
from discreet.core.parameters import Number, exact
from discreet.learn.bounded_noise import multiplier_for
from discreet.learn.centring import most_of_use
from discreet.learn.estimators.linear_classifiers import ClassOptimiser, LogisticRegression
from discreet.learn.optimisers.softmax_descent import SoftmaxDescent
from discreet.learn.privacy import Privacy
from discreet.learn.tags import written_as
from discreet.mechanisms.for_spend import require_gaussian


@dataclass(frozen=True)
class SecondOfTwo:
    """Coefficients of the second of two classes, less those of the first."""

    descent: SoftmaxDescent

    @property
    def event(self) -> Event:
        return self.descent.event

    @property
    def known_ahead(self) -> Mapping[str, float]:
        return self.descent.known_ahead

    def minimise(self, x: Floats, labels: Ints) -> Floats:
        found = self.descent.minimise(x, labels)
        return found[1:] - found[:1]


@written_as(
    "learn.SoftmaxRegression", "classes steps clip centring", "classes_ coef_ intercept_ bounds_"
)
class SoftmaxRegression(LogisticRegression):
    """Logistic regression of all classes together, by noisy gradients, with a guarantee.

    Assumptions: ``classes``, ``bounds``, ``steps``, ``clip``, ``centring``, spend and unit are
    chosen without the data; rows are read as by :class:`LogisticRegression`,
    whose ``centring`` it has.

    Guarantee: ``coef_``, ``intercept_`` and ``bounds_`` cost ``event_``, which the spend covers.
    It is in ApproxDP or ZCDP; with PureDP use :class:`LogisticRegression`.

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
        centring: Number | None = 0.2,
        randomness: Any = None,
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.classes = classes
        self.steps = steps
        self.clip = clip
        self.centring = centring
        self.randomness = randomness

    def _divided(self, spend: Guarantee, share: Fraction) -> tuple[Guarantee, Guarantee]:
        """In rho: both are normal noise, and together one release of the multiplier it buys."""
        rho = 1 / (2 * exact(multiplier_for(require_gaussian(spend))) ** 2)
        part = min(share, most_of_use(ZCDP(rho=rho)))
        return ZCDP(rho=rho * part), ZCDP(rho=rho * (1 - part))

    def _optimiser(self, privacy: Privacy, dimension: int, classes: int) -> ClassOptimiser:
        made = SoftmaxDescent(
            classes=classes,
            dimension=dimension,
            privacy=privacy,
            steps=self.steps,
            clip=self.clip,
        )
        return SecondOfTwo(made) if classes == 2 else made

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class."""
        scores = self.decision_function(X)
        both = np.stack([0 * scores, scores], axis=1) if scores.ndim == 1 else scores
        weights = np.exp(both - both.max(axis=1, keepdims=True))
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
        return shares
