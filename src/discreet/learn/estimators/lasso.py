"""The lasso by private Frank–Wolfe: few coefficients of many, at a price that grows with ln p.

Source: 004b:C13, C14. Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.source import TargetKind
from discreet.learn.box import Box
from discreet.learn.estimators.base import read_target, target_known
from discreet.learn.estimators.row_estimator import RowEstimator
from discreet.learn.optimisers.frank_wolfe import FrankWolfe
from discreet.learn.privacy import Privacy
from discreet.learn.tags import written_as


@written_as("learn.Lasso", "target_bounds radius steps", "coef_ intercept_")
class Lasso(RegressorMixin, RowEstimator):  # type: ignore[misc]
    """Least squares within an L1 ball, with a guarantee.

    Assumptions: bounds, ``radius`` (of the ball, in units of the bounds), ``steps``, spend and unit
    are chosen without the data. Rows follow the rules of :class:`Ridge`.

    Guarantee: ``coef_`` and ``intercept_`` cost ``event_``, which the spend covers.

    Source: 004b:C13, C14. Proof: ``proofs/optimisers.md``.
    """

    mechanism = "private Frank–Wolfe"
    target_kind = TargetKind.NUMBER

    def __init__(
        self,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        target_bounds: Any = None,
        radius: float = 1.0,
        steps: int = 20,
        randomness: Any = None,
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.radius = radius
        self.steps = steps
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Fit to rows and targets; ``people`` says whose each row is, if the unit is a person."""
        privacy = self._privacy()
        rows = self._read_rows(X, reset=True)
        target, known = target_known(read_target(y, len(rows)))
        kept = known & privacy.choose_rows_to_keep(len(rows), people)
        self._fitted(privacy, rows if kept.all() else rows[kept], target[kept])
        return self

    def _planned(self, privacy: Privacy, features: int, classes: int) -> Event:
        return self._optimiser(privacy).event

    def _known_ahead(self, privacy: Privacy, features: int, classes: int) -> Mapping[str, float]:
        return {"epsilon of each step": float(self._optimiser(privacy).epsilon_each)}

    def _optimiser(self, privacy: Privacy) -> FrankWolfe:
        return FrankWolfe(steps=self.steps, radius=self.radius, privacy=privacy.bounded)

    def _fitted(self, privacy: Privacy, rows: Floats, target: Floats) -> None:
        box, height = self._box(rows.shape[1]), Box.of(self.target_bounds, 1, name="target_bounds")
        optimiser, units = self._optimiser(privacy), box.units_and_one(rows)
        theta = optimiser.minimise(units, height.units(target[:, None])[:, 0])
        self.coef_ = height.half[0] * theta[:-1] / box.half
        level = height.half[0] * theta[-1] + height.middle[0]
        self.intercept_ = float(level - self.coef_ @ box.middle)
        self._keep(privacy, optimiser.event)

    def predict(self, X: Any) -> Floats:
        """Predictions, clamped to the declared bounds of the target."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        box, height = self._box(rows.shape[1]), Box.of(self.target_bounds, 1, name="target_bounds")
        x = box.filled(rows)
        found: Floats = np.clip(x @ self.coef_ + self.intercept_, height.low[0], height.high[0])
        return found
