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
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import BITS, ONE
from discreet.learn.estimators.base import PrivateEstimator
from discreet.learn.estimators.naive_bayes import ClassMoments
from discreet.learn.exact_sums import sums


class StandardScaler(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
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
        rows = self._read(X, reset=True)
        box = self._box(rows.shape[1])
        block = np.where(privacy.kept(len(rows), people), 0, -1)
        found, noise = ClassMoments.released(privacy, box, rows, block, 1)
        self.mean_ = found.means[0] * box.half + box.middle
        self.var_ = found.variances[0] * box.half**2
        self.scale_ = np.sqrt(self.var_)
        self._keep(privacy, noise.event)
        return self

    def transform(self, X: Any) -> Floats:
        """Rows less the mean, over the deviation."""
        check_is_fitted(self)
        scaled: Floats = (self._read(X, reset=False) - self.mean_) / self.scale_
        return scaled

    def inverse_transform(self, X: Any) -> Floats:
        """Rows as they were before scaling."""
        check_is_fitted(self)
        back: Floats = self._read(X, reset=False) * self.scale_ + self.mean_
        return back


class SimpleImputer(OneToOneFeatureMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """Fills missing values with the noisy mean of those that are there.

    Assumptions: ``bounds``, spend and unit are chosen without the data.

    Guarantee: ``statistics_`` is a function of one release that costs ``event_``.

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
        """Learn the means of the values that are there; ``y`` is not read."""
        privacy = self._privacy()
        rows = self._read(X, reset=True)
        d = rows.shape[1]
        box = self._box(d)
        noise = BoundedNoise(privacy, (SumGroup(2 * d),))
        there = np.where(np.isnan(rows), 0.0, ONE)
        block = np.where(privacy.kept(len(rows), people), 0, -1)
        exact = sums(np.concatenate([there, box.steps(rows)], axis=1), block, 1)
        noisy = noise.release(0, exact, bits=BITS)[0]
        number = np.maximum(noisy[:d], max(1.0, noise.deviation(0)))
        self.statistics_ = np.clip(noisy[d:] / number, -1, 1) * box.half + box.middle
        self._keep(privacy, noise.event)
        return self

    def transform(self, X: Any) -> Floats:
        """Rows with the learnt means in place of NaN."""
        check_is_fitted(self)
        rows = self._read(X, reset=False)
        return np.where(np.isnan(rows), self.statistics_, rows)
