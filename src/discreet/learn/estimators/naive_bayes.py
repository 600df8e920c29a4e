"""Gaussian naive Bayes from noisy sums of each class, in one pass.

A row adds (1, x, 2 x**2 - 1), in units of the bounds, to its own class: classes are blocks, so
each has the whole spend. Afterwards the differences between classes are shrunk as far as noise
explains them, feature by feature.

Source: modern-learn:12; contract, "Units and neighbours" (parallel composition).
Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import Floats, Ints
from discreet.core.source import FitColumns, Moments, TargetKind
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import BITS, ONE, Box
from discreet.learn.estimators.base import class_numbers, read_target
from discreet.learn.estimators.moment_estimator import MomentEstimator
from discreet.learn.exact_sums import Whole, sums
from discreet.learn.privacy import Privacy
from discreet.learn.tags import written_as

_COUNT = Fraction(1, 5)
_LEAST_VARIANCE = 1e-4
_DOUBT = 1.0


def squared(steps: Floats) -> Floats:
    """2 x**2 - 1 in the same steps, rounded: a function of each number alone."""
    doubled: Floats = np.rint(2 * (steps / ONE) ** 2 * ONE - ONE)
    return np.clip(doubled, -ONE, ONE)


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Noisy counts, means and variances of each class, in units of the bounds."""

    counts: Floats
    means: Floats
    variances: Floats

    @classmethod
    def released(cls, noise: BoundedNoise, exact: Whole, *, bits: int) -> ClassMoments:
        """Add noise once to the sums of (1, x, 2 x**2 - 1) of each class, and take the moments."""
        d = (exact.shape[1] - 1) // 2
        counts = noise.release(0, exact[:, :1], bits=bits)[:, 0]
        rest = noise.release(1, exact[:, 1:], bits=bits)
        rows = np.maximum(counts, max(1.0, noise.deviation(0)))
        first = _pooled(rest[:, :d] / rows[:, None], rows, noise.deviation(1))
        second = _pooled((rest[:, d:] / rows[:, None] + 1) / 2, rows, noise.deviation(1) / 2)
        # A variance that noise could have made is not taken for a small one.
        least = _LEAST_VARIANCE + _DOUBT * noise.deviation(1) / 2 / rows[:, None]
        variances = np.minimum(np.maximum(second - first**2, least), 1)
        return cls(rows, first, variances)


def class_noise(privacy: Privacy, features: int) -> BoundedNoise:
    """Two groups for each class: the number of rows, and sums with sums of squares."""
    return BoundedNoise(privacy, (SumGroup(1, _COUNT), SumGroup(2 * features, 1 - _COUNT)))


def class_sums(box: Box, x: Floats, block: Ints, blocks: int) -> Whole:
    """Exact sums of (1, x, 2 x**2 - 1) of each class, in steps of 2**-36."""
    steps = box.steps(x)
    ones = np.full((len(x), 1), ONE)
    return sums(np.concatenate([ones, steps, squared(steps)], axis=1), block, blocks)


def class_sums_from(moments: Moments) -> Whole:
    """The same from sums of squares that somebody else added up, in steps of 2**-72."""
    exact = moments.products
    number = exact[:, :1, 0]
    squares = np.diagonal(exact, axis1=1, axis2=2)[:, 1:]
    return np.concatenate([number, exact[:, 0, 1:], 2 * squares - number], axis=1)


def _pooled(values: Floats, rows: Floats, deviation: float) -> Floats:
    """Class values moved to their common mean by as much as noise explains their differences."""
    shares = rows / rows.sum()
    common = shares @ values
    noise = (deviation / rows) ** 2
    spread = np.maximum(0, shares @ (values - common) ** 2 - shares @ noise)
    kept = spread / np.maximum(spread + noise[:, None], 1e-300)
    pooled: Floats = np.clip(common + kept * (values - common), -1, 1)
    return pooled


@written_as("learn.GaussianNB", "classes", "classes_ class_prior_ theta_ var_")
class GaussianNB(ClassifierMixin, MomentEstimator):  # type: ignore[misc]
    """Naive Bayes with normal features, with a guarantee.

    Assumptions: ``classes``, ``bounds``, spend and unit are chosen without the data. Rows are
    clamped into the bounds; a missing feature counts as the middle, a row of another label counts
    nowhere.

    Guarantee: ``class_prior_``, ``theta_`` and ``var_`` are functions of one release that costs
    ``event_``.

    Source: modern-learn:12. Proof: ``proofs/learn.md``.
    """

    target_kind = TargetKind.LABEL

    def __init__(
        self,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        classes: Any = None,
        randomness: Any = None,
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.classes = classes
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Fit to rows and labels; ``people`` says whose each row is, where the unit is a person."""
        privacy = self._privacy()
        rows = self._read_rows(X, reset=True)
        self.classes_, block = class_numbers(self.classes, read_target(y, len(rows)))
        box, noise = self._box(rows.shape[1]), self.sums_noise(privacy, rows.shape[1])
        block = np.where(privacy.choose_rows_to_keep(len(rows), people), block, -1)
        exact = class_sums(box, rows, block, len(self.classes_))
        self._describe(ClassMoments.released(noise, exact, bits=BITS), box)
        self._keep(privacy, noise.event)
        return self

    def sums_noise(self, privacy: Privacy, features: int) -> BoundedNoise:
        return class_noise(privacy, features)

    def _learn(self, noise: BoundedNoise, moments: Moments, box: Box) -> None:
        found = ClassMoments.released(noise, class_sums_from(moments), bits=2 * BITS)
        self._describe(found, box)

    def _describe(self, found: ClassMoments, box: Box) -> None:
        self.class_prior_ = found.counts / found.counts.sum()
        self.theta_ = found.means * box.half + box.middle
        self.var_ = found.variances * box.half**2

    def _check(self, columns: FitColumns) -> None:
        class_numbers(columns.classes, ())

    def _take(self, columns: FitColumns) -> None:
        super()._take(columns)
        self.classes = columns.classes
        self.classes_, _ = class_numbers(columns.classes, ())

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Log-probabilities of each class together with the row, up to a constant."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        box = self._box(rows.shape[1])
        x = box.filled(rows)
        level = np.log(self.class_prior_) - 0.5 * np.log(2 * np.pi * self.var_).sum(axis=1)
        gaps = [((x - m) ** 2 / v).sum(axis=1) for m, v in zip(self.theta_, self.var_, strict=True)]
        joint: Floats = level - 0.5 * np.stack(gaps, axis=1)
        return joint

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class."""
        joint = self.predict_joint_log_proba(X)
        weights = np.exp(joint - joint.max(axis=1, keepdims=True))
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X: Any) -> Any:
        """The likeliest class of each row."""
        joint = self.predict_joint_log_proba(X)
        return self.classes_[np.argmax(joint, axis=1)]
