"""Centring, scaling and imputing by noisy means and variances.

Source: modern-learn:12; 004d:M2 (what is learnt for preparing data is paid for as well).
Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import Floats
from discreet.core.source import Moments, Products
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import BITS, ONE, Box
from discreet.learn.estimators.moment_estimator import MomentEstimator
from discreet.learn.estimators.naive_bayes import (
    ClassMoments,
    class_noise,
    class_sums,
    class_sums_from,
)
from discreet.learn.exact_sums import Whole, sums
from discreet.learn.privacy import Privacy
from discreet.learn.tags import written_as


@written_as("learn.StandardScaler", "", "mean_ var_ scale_")
class StandardScaler(OneToOneFeatureMixin, TransformerMixin, MomentEstimator):  # type: ignore[misc]
    """Scales features to noisy means and deviations.

    Assumptions: ``bounds``, spend and unit are chosen without the data; rows are clamped into the
    bounds, and a missing feature counts as the middle.

    Guarantee: ``mean_``, ``var_``, ``scale_`` are functions of one release that costs ``event_``.

    Source: modern-learn:12, 004d:M2. Proof: ``proofs/learn.md``.
    """

    def __init__(
        self, *, spend: Any = None, unit: Any = None, bounds: Any = None, randomness: Any = None
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Learn means and deviations; ``y`` is not read."""
        privacy = self._privacy()
        rows = self._read_rows(X, reset=True)
        box, noise = self._box(rows.shape[1]), self.sums_noise(privacy, rows.shape[1])
        block = np.where(privacy.choose_rows_to_keep(len(rows), people), 0, -1)
        exact = class_sums(box, rows, block, 1)
        self._describe(ClassMoments.released(noise, exact, bits=BITS), box)
        self._keep(privacy, noise.event)
        return self

    def sums_noise(self, privacy: Privacy, features: int) -> BoundedNoise:
        return class_noise(privacy, features)

    def _learn(self, noise: BoundedNoise, moments: Moments, box: Box) -> None:
        found = ClassMoments.released(noise, class_sums_from(moments), bits=2 * BITS)
        self._describe(found, box)

    def _describe(self, found: ClassMoments, box: Box) -> None:
        self.mean_ = found.means[0] * box.half + box.middle
        self.var_ = found.variances[0] * box.half**2
        self.scale_ = np.sqrt(self.var_)

    def transform(self, X: Any) -> Floats:
        """Rows less the mean, over the deviation."""
        check_is_fitted(self)
        scaled: Floats = (self._read_rows(X, reset=False) - self.mean_) / self.scale_
        return scaled

    def inverse_transform(self, X: Any) -> Floats:
        """Rows as they were before scaling."""
        check_is_fitted(self)
        back: Floats = self._read_rows(X, reset=False) * self.scale_ + self.mean_
        return back


@written_as("learn.SimpleImputer", "", "statistics_")
class SimpleImputer(OneToOneFeatureMixin, TransformerMixin, MomentEstimator):  # type: ignore[misc]
    """Fills missing values with the noisy mean of those that are there.

    Assumptions: ``bounds``, spend and unit are chosen without the data.

    Guarantee: ``statistics_`` is a function of one release that costs ``event_``.

    Source: modern-learn:12, 004d:M2. Proof: ``proofs/learn.md``.
    """

    products = Products.NONE

    def __init__(
        self, *, spend: Any = None, unit: Any = None, bounds: Any = None, randomness: Any = None
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Learn the means of the values that are there; ``y`` is not read."""
        privacy = self._privacy()
        rows = self._read_rows(X, reset=True)
        d = rows.shape[1]
        box, noise = self._box(d), self.sums_noise(privacy, d)
        there = np.where(np.isnan(rows), 0.0, ONE)
        block = np.where(privacy.choose_rows_to_keep(len(rows), people), 0, -1)
        exact = sums(np.concatenate([there, box.steps(rows)], axis=1), block, 1)
        self._describe(noise, exact[0], box, bits=BITS)
        self._keep(privacy, noise.event)
        return self

    def sums_noise(self, privacy: Privacy, features: int) -> BoundedNoise:
        return BoundedNoise(privacy, (SumGroup(2 * features),))

    def _learn(self, noise: BoundedNoise, moments: Moments, box: Box) -> None:
        there = np.array([int(each) << 2 * BITS for each in moments.there[0]], dtype=object)
        exact = np.concatenate([there, moments.products[0, 0, 1:]])
        self._describe(noise, exact, box, bits=2 * BITS)

    def _describe(self, noise: BoundedNoise, exact: Whole, box: Box, *, bits: int) -> None:
        noisy, d = noise.release(0, exact, bits=bits), len(box.half)
        number = np.maximum(noisy[:d], max(1.0, noise.deviation(0)))
        self.statistics_ = np.clip(noisy[d:] / number, -1, 1) * box.half + box.middle

    def transform(self, X: Any) -> Floats:
        """Rows with the learnt means in place of NaN."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        return np.where(np.isnan(rows), self.statistics_, rows)
