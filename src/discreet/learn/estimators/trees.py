"""Decision trees and forests with splits chosen without data, and noisy counts in their leaves.

Every row goes to one tree, by a coin of its own, and to one leaf of it: all leaves of all trees are
one histogram over leaf and class, of which a row changes one cell. Split features and thresholds
are random within the bounds, so the shape of a tree tells nothing.

Source: modern-learn:11 (disjoint forests; random splits, leaf noise only).
Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Event
from discreet.core.parameters import count
from discreet.learn.estimators.base import class_numbers, read_target
from discreet.learn.estimators.row_estimator import RowEstimator
from discreet.learn.privacy import Privacy
from discreet.learn.random_splits import RandomSplits
from discreet.learn.tags import written_as
from discreet.mechanisms.for_spend import WholeNoise, deviation, noise_for
from discreet.noise import uniform_integers

MOST_LEAVES = 1 << 26
"""Leaves of all trees, times classes."""
_ALIKE = 0.6
"""Between independent trees, whose evidence adds up (0), and trees that say the same (1)."""


@written_as(
    "learn.RandomForestClassifier",
    "classes n_estimators max_depth",
    "classes_ splits_ leaf_counts_ blur_",
)
class RandomForestClassifier(ClassifierMixin, RowEstimator):  # type: ignore[misc]
    """A forest of random trees with a guarantee.

    Assumptions: ``classes``, ``bounds``, ``n_estimators``, ``max_depth``, spend and unit are chosen
    without the data; what is left out of these follows from the spend. Rows are clamped into the
    bounds; a missing feature counts as the middle, a row of another label counts nowhere.

    Guarantee: ``leaf_counts_`` costs ``event_``, which the spend covers; splits read no data.

    Source: modern-learn:11. Proof: ``proofs/learn.md``.
    """

    mechanism = "noisy counts of leaves"

    def __init__(
        self,
        n_estimators: int | None = None,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        classes: Any = None,
        max_depth: int | None = None,
        randomness: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.classes = classes
        self.max_depth = max_depth
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Fit to rows and labels; ``people`` says whose each row is, if the unit is a person."""
        privacy = self._privacy()
        rows = self._read_rows(X, reset=True)
        self.classes_, labels = class_numbers(self.classes, read_target(y, len(rows)))
        kept = privacy.choose_rows_to_keep(len(rows), people) & (labels >= 0)
        self._fitted(privacy, rows if kept.all() else rows[kept], labels[kept])
        return self

    def _planned(self, privacy: Privacy, features: int, classes: int) -> Event:
        noise = self._noise(privacy)
        _require_leaves(*self._shape(deviation(noise)), classes)
        return noise.event

    def _known_ahead(self, privacy: Privacy, features: int, classes: int) -> Mapping[str, float]:
        noise = deviation(self._noise(privacy))
        trees, depth = self._shape(noise)
        return {"noise of each leaf's number of rows": noise, "trees": trees, "depth": depth}

    def _noise(self, privacy: Privacy) -> WholeNoise:
        source, moved = privacy.randomness, privacy.rows_that_differ
        return noise_for(privacy.spend, l1=moved, l2=moved, randomness=source)

    def _shape(self, noise: float) -> tuple[int, int]:
        return self._trees(noise), self._depth(noise)

    def _fitted(self, privacy: Privacy, rows: Floats, labels: Ints) -> None:
        source, noise, kinds = privacy.randomness, self._noise(privacy), len(self.classes_)
        trees, depth = self._shape(deviation(noise))
        _require_leaves(trees, depth, kinds)
        units = self._box(rows.shape[1]).units(rows)
        self.splits_ = [
            RandomSplits.draw_splits(rows.shape[1], depth, source) for _ in range(trees)
        ]
        where = uniform_integers(trees, len(rows), source)
        exact = np.zeros((trees, 1 << depth, kinds), dtype=np.int64)
        for tree, splits in enumerate(self.splits_):
            mine = where == tree
            np.add.at(exact[tree], (splits.leaves(units[mine]), labels[mine]), 1)
        self.leaf_counts_ = noise.release(exact).astype(np.float64)
        self.blur_ = deviation(noise)
        self._keep(privacy, noise.event)

    def _trees(self, noise: float) -> int:
        """As many as asked for; else ten, and fewer where leaves are noisy."""
        if self.n_estimators is None:
            return max(2, round(10 / (1 + noise / 10)))
        return count("n_estimators", self.n_estimators)

    def _depth(self, noise: float) -> int:
        """As deep as asked for; else five, and one less for each tenfold noise."""
        if self.max_depth is None:
            return max(2, 5 - int(math.log10(max(1.0, noise))))
        return count("max_depth", self.max_depth)

    def predict_proba(self, X: Any) -> Floats:
        """Shares of each class, by the leaves of all trees."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        units = self._box(rows.shape[1]).units(rows)
        # As much of each class again as noise may have put into the sum of all leaves.
        leaves = self.leaf_counts_[:, :, 0].size
        prior = np.maximum(self.leaf_counts_.sum(axis=(0, 1)), 0) + self.blur_ * np.sqrt(leaves)
        prior /= prior.sum()
        total = np.zeros((len(rows), len(self.classes_)))
        for splits, counts in zip(self.splits_, self.leaf_counts_, strict=True):
            smoothed = np.maximum(counts, 0) + (1 + self.blur_) * prior
            shares = smoothed / smoothed.sum(axis=1, keepdims=True)
            total += np.log(shares / prior)[splits.leaves(units)]
        total = np.log(prior) + total / len(self.splits_) ** _ALIKE
        weights = np.exp(total - total.max(axis=1, keepdims=True))
        found: Floats = weights / weights.sum(axis=1, keepdims=True)
        return found

    def predict(self, X: Any) -> Any:
        """The likeliest class of each row."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return self.classes_[likeliest]


@written_as(
    "learn.DecisionTreeClassifier", "classes max_depth", "classes_ splits_ leaf_counts_ blur_"
)
class DecisionTreeClassifier(RandomForestClassifier):
    """One random tree with a guarantee.

    Assumptions and guarantee: as for :class:`RandomForestClassifier`.

    Source: modern-learn:11. Proof: ``proofs/learn.md``.
    """

    def __init__(
        self,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        classes: Any = None,
        max_depth: int | None = None,
        randomness: Any = None,
    ) -> None:
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.classes = classes
        self.max_depth = max_depth
        self.randomness = randomness

    def _trees(self, noise: float) -> int:
        return 1


def _require_leaves(trees: int, depth: int, classes: int) -> None:
    """Refuse forests that no memory holds; all of these numbers are public."""
    if math.log2(trees) + depth + math.log2(max(classes, 1)) > math.log2(MOST_LEAVES):
        raise InvalidParameter(
            code="too_many_leaves",
            expectation=f"at most {MOST_LEAVES} leaves, those of all trees, times classes",
            received=f"{trees} trees of depth {depth}, {classes} classes",
            remedy="Write a smaller max_depth or n_estimators.",
        )
