"""Linear and ridge regression from noisy sums of products, in one pass.

Released are the number of rows and the sum of targets, and the sums of features, of products with
the target and of products of features, in units of the declared bounds. All that comes after is
post-processing: means, a covariance without negative eigenvalues, shrinkage where noise would
drown the slope, and a ridge no smaller than what noise moves the covariance by.

Source: modern-learn:12 (noisy sufficient statistics calibrated once, ridge set by the noise);
004b:C18. Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.parameters import nonnegative
from discreet.core.source import FitColumns, Moments, Products, TargetKind
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import BITS, Box
from discreet.learn.coefficient_intervals import CoefficientIntervals, NoisyNormalEquations
from discreet.learn.estimators.base import read_target, target_known
from discreet.learn.estimators.moment_estimator import MomentEstimator, moments_of, one_block
from discreet.learn.exact_sums import Whole
from discreet.learn.privacy import Privacy
from discreet.learn.tags import written_as

_LEVEL = Fraction(1, 10)
"""The share of the spend for the number of rows and the sum of targets: the level of answers."""
_RIDGE = 3.0
"""The ridge in deviations of the covariance's noise, times the root of the number of features."""


@dataclass(frozen=True)
class RegressionNoise:
    """The noise of a regression on ``features`` numbers, and how much of it there is."""

    privacy: Privacy
    features: int

    @cached_property
    def noise(self) -> BoundedNoise:
        """Two groups: the level, and all that slopes are made of."""
        size = 2 * self.features + self.features * (self.features + 1) // 2
        return BoundedNoise(self.privacy, (SumGroup(2, _LEVEL), SumGroup(size, 1 - _LEVEL)))

    def release(self, moments: Whole) -> NoisyMoments:
        """Noisy sums of products of (1, target, features), given as whole steps of 2**-72."""
        noise, d = self.noise, self.features
        level = noise.release(0, moments[0, :2], bits=2 * BITS)
        upper = np.triu_indices(d)
        held = [moments[0, 2:], moments[1, 2:], moments[2:, 2:][upper]]
        rest = noise.release(1, np.concatenate(held), bits=2 * BITS)
        square = np.zeros((d, d))
        square[upper] = rest[2 * d :]
        square += np.triu(square, 1).T
        return NoisyMoments(level, rest[:d], rest[d : 2 * d], square, self)

    @property
    def event(self) -> Event:
        """What a fit costs."""
        return self.noise.event


@dataclass(frozen=True, eq=False)
class NoisyMoments:
    """Noisy sums, in units of the bounds; whatever is done with them is free."""

    level: Floats
    features: Floats
    mixed: Floats
    square: Floats
    given: RegressionNoise

    def equations(self) -> NoisyNormalEquations:
        """The same sums as equations for (level, slopes), with the law of their noise."""
        square = np.block(
            [[self.level[:1, None], self.features[None]], [self.features[:, None], self.square]]
        )
        noise = self.given.noise
        mixed = np.concatenate([self.level[1:], self.mixed])
        return NoisyNormalEquations(square, mixed, (noise.scale(0), noise.scale(1)), noise.pure)

    def solved(self, ridge: float) -> tuple[Floats, float]:
        """Slopes and intercept that minimise the noisy squared error plus a ridge."""
        noise, d = self.given.noise, len(self.features)
        rough, fine = noise.deviation(0), noise.deviation(1)
        rows = max(float(self.level[0]), 2 * rough, 1.0)
        target = _shrunk(self.level[1:] / rows, rough / rows)[0]
        means = np.clip(self.features / rows, -1, 1)
        covariance = self.square / rows - np.outer(means, means)
        values, vectors = np.linalg.eigh(covariance)
        least = _RIDGE * fine * np.sqrt(d) / rows
        slope = _shrunk(self.mixed / rows - means * target, fine / rows)
        damped = np.maximum(values, 0) + max(least, ridge / rows)
        coefficients: Floats = vectors @ ((vectors.T @ slope) / damped)
        return coefficients, float(target - means @ coefficients)


def _shrunk(values: Floats, deviation: float) -> Floats:
    """The positive-part rule of James and Stein: nothing is left of what noise alone would give."""
    length = float(values @ values)
    kept = max(0.0, 1 - len(values) * deviation**2 / length) if length > 0 else 0.0
    shrunk: Floats = np.clip(values * kept, -1, 1)
    return shrunk


@written_as("learn.Ridge", "target_bounds alpha", "coef_ intercept_ equations_")
class Ridge(RegressorMixin, MomentEstimator):  # type: ignore[misc]
    """Ridge regression with a guarantee.

    Assumptions: ``bounds``, ``target_bounds``, ``alpha``, spend and unit are chosen without the
    data. Rows are clamped into the bounds; a missing feature counts as the middle, a row without a
    target counts nowhere.

    Guarantee: ``coef_`` and ``intercept_`` are functions of one release that costs ``event_``.

    >>> import discreet as dp
    >>> from discreet.learn import Ridge
    >>> given = {"spend": dp.PureDP(epsilon=1), "unit": dp.Row()}
    >>> model = Ridge(**given, bounds=(0, 1), target_bounds=(0, 1))
    >>> model.fit(np.array([[0.1], [0.5], [0.9]]), [0.2, 0.5, 0.8]).event_
    Pure(epsilon=1)

    Source: modern-learn:12, 004b:C18. Proof: ``proofs/learn.md``.

    Numerics: sums in exact integers; the ridge is in units of the bounds, and is at least three
    times what noise is expected to move the covariance by.
    """

    target_kind = TargetKind.NUMBER
    products = Products.ALL

    def __init__(
        self,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        target_bounds: Any = None,
        alpha: float = 1.0,
        randomness: Any = None,
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.alpha = alpha
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Fit to rows and targets; ``people`` says whose each row is, if the unit is a person."""
        privacy = self._privacy()
        rows = self._read_rows(X, reset=True)
        target, known = target_known(read_target(y, len(rows)))
        box, height = self._box(rows.shape[1]), self._height()
        noise = self.sums_noise(privacy, rows.shape[1])
        kept = known & privacy.choose_rows_to_keep(len(rows), people)
        exact = moments_of(((target[:, None], height), (rows, box)), kept)
        self._learn(noise, one_block(exact), box)
        self._keep(privacy, noise.event)
        return self

    def sums_noise(self, privacy: Privacy, features: int) -> BoundedNoise:
        nonnegative("alpha", self._ridge())
        return RegressionNoise(privacy, features).noise

    def _learn(self, noise: BoundedNoise, moments: Moments, box: Box) -> None:
        noisy = RegressionNoise(noise.privacy, len(box.half)).release(moments.products[0])
        self._solve(noisy, (box, self._height()), float(self._ridge()))

    def _check(self, columns: FitColumns) -> None:
        Box.of(columns.target_bounds, 1, name="target_bounds")

    def _take(self, columns: FitColumns) -> None:
        super()._take(columns)
        self.target_bounds = columns.target_bounds

    def _height(self) -> Box:
        return Box.of(self.target_bounds, 1, name="target_bounds")

    def _ridge(self) -> float:
        return self.alpha

    def _solve(self, noisy: NoisyMoments, boxes: tuple[Box, Box], ridge: float) -> None:
        self.equations_ = noisy.equations()
        slopes, level = noisy.solved(ridge)
        features, target = boxes
        height = float(target.half[0])
        self.coef_ = height * slopes / features.half
        middle = float(self.coef_ @ features.middle)
        self.intercept_ = height * level + float(target.middle[0]) - middle

    def coef_intervals(self, *, confidence: float = 0.95) -> CoefficientIntervals:
        """Where the coefficients of the same regression without noise lie, on these very rows.

        They come from the noisy sums by themselves: neither shrunk nor with a larger ridge than
        ``alpha``. So they need not lie around ``coef_``, which is. Each holds by itself; all at
        once, less often. Where noise leaves the sums unclear they are the whole line, and near
        there they are wider. Free: nothing private is read.
        """
        return self._intervals(confidence, 0.0)

    def population_intervals(
        self, *, confidence: float = 0.95, residual_deviation: float | None = None
    ) -> CoefficientIntervals:
        """The same for the population that rows were drawn from, independently of each other.

        ``residual_deviation`` bounds the deviation of the target around the line, the same
        everywhere; without it, half the width of the target's bounds, which is always enough.
        Clamping must not act, or coefficients are those of what was clamped.
        """
        half = float(self._height().half[0])
        if residual_deviation is None:
            return self._intervals(confidence, 1.0)
        deviation = float(nonnegative("residual_deviation", residual_deviation))
        return self._intervals(confidence, deviation / half)

    def _intervals(self, confidence: float, spread: float) -> CoefficientIntervals:
        check_is_fitted(self)
        box, target = self._box(self.n_features_in_), self._height()
        height, middle = float(target.half[0]), float(target.middle[0])

        def in_columns(units: Floats) -> Floats:
            slopes = height * units[:, 1:] / box.half
            levels = height * units[:, :1] + middle - slopes @ box.middle[:, None]
            return np.concatenate([levels, slopes], axis=1)

        ends = self.equations_.quantiles(
            ridge=float(self._ridge()), spread=spread, confidence=confidence, map_to=in_columns
        )
        names = tuple(
            getattr(self, "features_", ())
        )  # those of a SELECT, if it was of the last fit
        known = names if len(names) == self.n_features_in_ else ()
        return CoefficientIntervals(float(confidence), ends[0], ends[1:], known)

    def predict(self, X: Any) -> Floats:
        """Predictions, clamped to the declared bounds of the target as the training rows were."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        box = self._box(rows.shape[1])
        filled = box.filled(rows)
        target = self._height()
        predicted: Floats = np.clip(
            filled @ self.coef_ + self.intercept_, target.low[0], target.high[0]
        )
        return predicted


@written_as("learn.LinearRegression", "target_bounds", "coef_ intercept_ equations_")
class LinearRegression(Ridge):
    """Least squares with a guarantee; the ridge is the one that the noise asks for, and no more.

    Assumptions: as for :class:`Ridge`.

    Guarantee: ``coef_`` and ``intercept_`` are functions of one release that costs ``event_``.

    Source: modern-learn:12, 004b:C18. Proof: ``proofs/learn.md``.
    """

    def __init__(
        self,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        target_bounds: Any = None,
        randomness: Any = None,
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.target_bounds = target_bounds
        self.randomness = randomness

    def _ridge(self) -> float:
        return 0.0
