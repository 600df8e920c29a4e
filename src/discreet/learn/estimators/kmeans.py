"""k-means by noisy rounds of Lloyd's algorithm, a fixed number of them.

In every round a row adds (1, x), in units of the bounds, to its nearest centre: centres are blocks.
Starting centres are spread over the bounds without the data; a centre whose noisy number of rows is
drowned by noise stays where it is.

Source: modern-learn:12 (no stopping by convergence). Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from discreet.core.arrays import Floats, Ints
from discreet.core.events.event import Event
from discreet.core.parameters import count
from discreet.core.source import TargetKind
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import BITS, ONE
from discreet.learn.estimators.row_estimator import RowEstimator
from discreet.learn.exact_sums import sums
from discreet.learn.privacy import Privacy
from discreet.learn.row_products import row_sums
from discreet.learn.tags import written_as
from discreet.noise import Source, uniform_integers

_CANDIDATES = 200


def spread_centres(clusters: int, features: int, source: Source) -> Floats:
    """Centres far from each other in the cube [-1, 1], chosen without data.

    The first is random; each next one is the random candidate farthest from those before.
    """
    drawn = uniform_integers(1 << 30, _CANDIDATES * features, source)
    candidates = drawn.reshape(_CANDIDATES, features) / 2.0**29 - 1
    centres = candidates[:1] / 2
    for _ in range(clusters - 1):
        gaps = ((candidates[:, None] - centres) ** 2).sum(axis=2).min(axis=1)
        centres = np.concatenate([centres, candidates[[int(np.argmax(gaps))]] / 2])
    spread: Floats = centres
    return spread


def nearest_centre(units: Floats, centres: Floats) -> Ints:
    """The place of the nearest centre of each row, a function of that row and the centres."""
    found = np.empty((len(units), len(centres)))
    for place, centre in enumerate(centres):
        found[:, place] = row_sums((units - centre) ** 2)
    nearest: Ints = np.argmin(found, axis=1).astype(np.int64)
    return nearest


@written_as("learn.KMeans", "n_clusters rounds", "cluster_centers_")
class KMeans(ClusterMixin, TransformerMixin, RowEstimator):  # type: ignore[misc]
    """k-means with a guarantee.

    Assumptions: ``n_clusters``, ``rounds``, ``bounds``, spend and unit are chosen without the data;
    rows are clamped into the bounds, and a missing feature counts as the middle.

    Guarantee: ``cluster_centers_`` costs ``event_``, which the spend covers. Labels of the
    training rows are not kept: they would tell about them.

    Source: modern-learn:12. Proof: ``proofs/learn.md``.
    """

    mechanism = "noisy rounds of sums"
    target_kind = TargetKind.NONE

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        spend: Any = None,
        unit: Any = None,
        bounds: Any = None,
        rounds: int = 5,
        randomness: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.spend = spend
        self.unit = unit
        self.bounds = bounds
        self.rounds = rounds
        self.randomness = randomness

    def fit(self, X: Any, y: Any = None, people: Any = None) -> Self:
        """Find the centres; ``y`` is not read."""
        privacy = self._privacy()
        rows = self._read_rows(X, reset=True)
        kept = privacy.choose_rows_to_keep(len(rows), people)
        self._fitted(privacy, rows if kept.all() else rows[kept])
        return self

    def _planned(self, privacy: Privacy, features: int, classes: int) -> Event:
        count("n_clusters", self.n_clusters)
        return self._noise(privacy, features).event

    def _known_ahead(self, privacy: Privacy, features: int, classes: int) -> Mapping[str, float]:
        return {"noise of each sum of each round": self._noise(privacy, features).deviation(0)}

    def _noise(self, privacy: Privacy, features: int) -> BoundedNoise:
        rounds = count("rounds", self.rounds)
        return BoundedNoise(privacy, (SumGroup(features + 1, Fraction(1, rounds)),) * rounds)

    def _fitted(self, privacy: Privacy, rows: Floats, target: Any = None) -> None:
        clusters, d = count("n_clusters", self.n_clusters), rows.shape[1]
        box, noise = self._box(d), self._noise(privacy, d)
        steps = box.steps(rows)
        added = np.concatenate([np.full((len(rows), 1), ONE), steps], axis=1)
        centres = spread_centres(clusters, d, privacy.randomness)
        for place in range(len(noise.groups)):
            block = nearest_centre(steps / ONE, centres)
            noisy = noise.release(place, sums(added, block, clusters), bits=BITS)
            seen = noisy[:, 0] > 2 * noise.deviation(place)
            means = np.clip(noisy[:, 1:] / np.maximum(noisy[:, :1], 1), -1, 1)
            centres = np.where(seen[:, None], means, centres)
        self.cluster_centers_ = centres * box.half + box.middle
        self._keep(privacy, noise.event)

    def predict(self, X: Any) -> Ints:
        """The nearest centre of each row."""
        found: Ints = np.argmin(self.transform(X), axis=1)
        return found

    def fit_predict(self, X: Any, y: Any = None, people: Any = None) -> Ints:
        """Fit, then the nearest centre of each row; these are about the rows, and not private."""
        return self.fit(X, y, people).predict(X)

    def transform(self, X: Any) -> Floats:
        """The distance of each row to each centre, in units of the bounds."""
        check_is_fitted(self)
        rows = self._read_rows(X, reset=False)
        box = self._box(rows.shape[1])
        units, centres = box.units(rows), box.units(self.cluster_centers_)
        gaps = [np.sqrt(((units - centre) ** 2).sum(axis=1)) for centre in centres]
        return np.stack(gaps, axis=1)
