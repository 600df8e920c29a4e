"""Principal components from a noisy covariance, in one pass.

Source: modern-learn:12 (noise on the second moments; centring, rank and eigenvalues from the noisy
matrix). Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.core.source import Moments, Products
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import BITS, Box
from discreet.learn.estimators.moment_estimator import MomentEstimator, moments_of, one_block
from discreet.learn.privacy import Privacy
from discreet.learn.tags import written_as

_COUNT = Fraction(1, 20)


@written_as(
    "learn.PCA",
    "n_components",
    "components_ mean_ explained_variance_ explained_variance_ratio_ n_components_",
)
class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MomentEstimator):  # type: ignore[misc]
    """Principal components with a guarantee.

    Assumptions: ``bounds``, ``n_components``, spend and unit are chosen without the data; rows are
    clamped into the bounds, and a missing feature counts as the middle.

    Guarantee: all fitted attributes are functions of one release that costs ``event_``.

    Source: modern-learn:12. Proof: ``proofs/learn.md``.
    """

    products = Products.ALL

    def __init__(
        self,
        n_components: int | None = None,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        randomness: Any = None,
    ) -> None:
        self.n_components = n_components
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Find the components; ``y`` is not read."""
        privacy = self._privacy()
        rows = self._read_rows(X, reset=True)
        box = self._box(rows.shape[1])
        noise = self.sums_noise(privacy, rows.shape[1])
        kept = privacy.choose_rows_to_keep(len(rows), people)
        self._learn(noise, one_block(moments_of(((rows, box),), kept)), box)
        self._keep(privacy, noise.event)
        return self

    def sums_noise(self, privacy: Privacy, features: int) -> BoundedNoise:
        self._wanted(features)
        size = features + features * (features + 1) // 2
        return BoundedNoise(privacy, (SumGroup(1, _COUNT), SumGroup(size, 1 - _COUNT)))

    def _wanted(self, features: int) -> int:
        if self.n_components is None:
            return features
        wanted = count("n_components", self.n_components)
        if wanted > features:
            raise InvalidParameter(
                code="too_many_components",
                expectation="at most as many components as features",
                received=wanted,
                remedy="Choose fewer components.",
            )
        return wanted

    def _learn(self, noise: BoundedNoise, moments: Moments, box: Box) -> None:
        exact, d = moments.products[0], len(box.half)
        upper = np.triu_indices(d)
        number = float(noise.release(0, exact[0, :1], bits=2 * BITS)[0])
        held = np.concatenate([exact[0, 1:], exact[1:, 1:][upper]])
        rest = noise.release(1, held, bits=2 * BITS)
        number = max(number, 1.0, noise.deviation(0))
        means = np.clip(rest[:d] / number, -1, 1)
        square = np.zeros((d, d))
        square[upper] = rest[d:] / number
        square += np.triu(square, 1).T
        covariance = (square - np.outer(means, means)) * np.outer(box.half, box.half)
        self._decompose(covariance, self._wanted(d))
        self.mean_ = means * box.half + box.middle

    def _decompose(self, covariance: Floats, wanted: int) -> None:
        values, vectors = np.linalg.eigh(covariance)
        order = np.argsort(values)[::-1][:wanted]
        vectors = vectors[:, order].T
        signs = np.sign(vectors[np.arange(wanted), np.argmax(abs(vectors), axis=1)])
        self.components_ = vectors * signs[:, None]
        self.explained_variance_ = np.maximum(values[order], 0)
        total = max(float(np.maximum(values, 0).sum()), 1e-300)
        self.explained_variance_ratio_ = self.explained_variance_ / total
        self.n_components_ = wanted

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def transform(self, X: Any) -> Floats:
        """Rows in the coordinates of the components."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        centred = np.nan_to_num(rows - self.mean_)
        found: Floats = centred @ self.components_.T
        return found

    def inverse_transform(self, X: Any) -> Floats:
        """Rows as far as the components describe them."""
        check_is_fitted(self)
        back: Floats = np.asarray(X, dtype=np.float64) @ self.components_ + self.mean_
        return back
