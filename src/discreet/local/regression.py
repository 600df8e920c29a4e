"""Regression in one round: people report one entry of their sufficient statistics.

The normal equations need the means of all products of two features, and of features with the
target. Each person reports one of these numbers, drawn at random, by one noisy bit; the server
solves.

Source: 004a:C28.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData
from discreet.core.parameters import Number, count, positive
from discreet.local.reports import ReportBatch
from discreet.local.tally import Tally
from discreet.local.vectors import VectorMean

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class OneRoundRegression:
    """Linear regression on ``features`` numbers, each clamped to -1 to 1, as is the target.

    ``ridge`` is a public floor of the eigenvalues of the noisy products, without which noise could
    make the equations meaningless.
    """

    epsilon: Number
    features: int
    ridge: float

    def __post_init__(self) -> None:
        """Refuse regressions without features, or without a floor."""
        count("features", self.features)
        positive("ridge", self.ridge)

    @cached_property
    def question(self) -> VectorMean:
        """The mean vector that people are asked for: products of features, then with the target."""
        pairs = self.features * (self.features + 1) // 2
        return VectorMean(epsilon=self.epsilon, dimensions=pairs + self.features)

    def privatize_many(self, rows: Any, targets: Any) -> ReportBatch:
        """One report for each person; NaN counts as 0, and nothing that a person has is refused."""
        x, y = np.asarray(rows, dtype=np.float64), np.asarray(targets, dtype=np.float64)
        if x.ndim != 2 or x.shape[1] != self.features or y.shape != (len(x),):
            raise InvalidData(
                code="local_regression_rows",
                expectation=f"rows of {self.features} features, and one target each",
                remedy="Pass features in two dimensions and targets in one.",
            )
        x, y = (np.clip(np.where(np.isnan(each), 0.0, each), -1, 1) for each in (x, y))
        first, second = np.triu_indices(self.features)
        vectors = np.concatenate([x[:, first] * x[:, second], x * y[:, None]], axis=1)
        return self.question.privatize_many(vectors)

    def fit(self, tally: Tally) -> Floats:
        """Coefficients from the tally of the reports: post-processing."""
        means = self.question.mean(tally).mean
        first, second = np.triu_indices(self.features)
        products = np.zeros((self.features, self.features))
        products[first, second] = products[second, first] = means[: len(first)]
        values, vectors = np.linalg.eigh(products)
        inverse = (vectors / np.maximum(values, self.ridge)) @ vectors.T
        found: Floats = inverse @ means[len(first) :]
        return found
