"""Estimators that need sums of products of columns, and nothing else of the rows.

The sums may be added up here, over rows in memory, or by an engine that never hands out a row. A
subclass says which sums it reads, what noise hides them and what follows from noisy ones.

Source: modern-learn:12; contract, "What may be seen". Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from discreet.core.arrays import Bools, Floats
from discreet.core.events.event import Event
from discreet.core.source import FitColumns, Moments, Products, TargetKind
from discreet.learn.bounded_noise import BoundedNoise
from discreet.learn.box import ONE, Box
from discreet.learn.estimators.base import PrivateEstimator
from discreet.learn.exact_sums import Whole, products, slices
from discreet.learn.privacy import Privacy


class MomentEstimator(PrivateEstimator):
    """Base of the estimators from sums."""

    target_kind: ClassVar[TargetKind] = TargetKind.NONE
    products: ClassVar[Products] = Products.SQUARES

    @abstractmethod
    def sums_noise(self, privacy: Privacy, features: int) -> BoundedNoise:
        """The noise for the sums of so many features, with its event; refusals are free."""

    @abstractmethod
    def _learn(self, noise: BoundedNoise, moments: Moments, box: Box) -> None:
        """Release the sums once, and keep what follows from them."""

    def fit_moments(
        self, privacy: Privacy, columns: FitColumns, moments: Callable[[], Moments]
    ) -> tuple[Event, Callable[[], Any]]:
        """What fitting from sums that somebody else adds up costs, and how to do it.

        ``moments`` gives sums in units of the bounds; it is called, and the estimator changed, only
        when fitting is.
        """
        features = len(columns.features)
        noise, box = self.sums_noise(privacy, features), Box.of(columns.bounds, features)
        self._check(columns)

        def fitted() -> Any:
            self._take(columns)
            self._learn(noise, moments(), box)
            self._keep(privacy, noise.event)
            return self

        return noise.event, fitted

    def _check(self, columns: FitColumns) -> None:
        """Refuse declarations of a target that are of no use."""

    def _take(self, columns: FitColumns) -> None:
        """Remember what was declared of the columns, for predictions."""
        self.n_features_in_ = len(columns.features)
        self.features_ = list(columns.features)
        self.bounds = columns.bounds


def moments_of(columns: tuple[tuple[Floats, Box], ...], kept: Bools) -> Whole:
    """Exact sums of products of (1, columns) over the rows that count, in steps of 2**-72.

    Each part of ``columns`` is an array of rows with the box of its features.
    """
    width = 1 + sum(rows.shape[1] for rows, _ in columns)

    def blocks() -> Iterator[Floats]:
        for part in slices(len(kept)):
            steps = np.full((width, len(kept[part])), ONE)
            start = 1
            for rows, box in columns:
                end = start + rows.shape[1]
                box.columns(rows[part].T, steps[start:end])
                start = end
            yield steps if kept[part].all() else steps[:, kept[part]]

    return products(blocks(), width)


def one_block(exact: Whole, there: Whole | None = None) -> Moments:
    """Sums of all rows together; where nobody asks how many values there are, there are none."""
    none = np.zeros(len(exact) - 1, dtype=object)
    return Moments(exact[None], (none if there is None else there)[None])
