"""Estimators that look at rows several times, at a price that is known before the first look.

The rows may be those of ``fit``, or rows that somebody else clamped and bounded, as an engine does
for a curator. A subclass says what fitting costs, from public numbers, and fits to rows that count.

Source: contract, "Spending" (events are fixed before data is read). Proof: ``proofs/learn.md``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from discreet.core.arrays import Floats
from discreet.core.events.event import Event
from discreet.core.source import BoundedRows, FitColumns, TargetKind
from discreet.learn.box import Box
from discreet.learn.estimators.base import PrivateEstimator, class_numbers
from discreet.learn.privacy import Privacy


class RowEstimator(PrivateEstimator):
    """Base of the estimators that look several times."""

    target_kind: ClassVar[TargetKind] = TargetKind.LABEL

    @abstractmethod
    def _planned(self, privacy: Privacy, features: int, classes: int) -> Event:
        """What ``_fitted`` costs for so many features and classes; refusals are free."""

    @abstractmethod
    def _fitted(self, privacy: Privacy, rows: Floats, target: Any) -> None:
        """Fit to the rows that count, none left out; labels are places among the classes."""

    def _known_ahead(self, privacy: Privacy, features: int, classes: int) -> Mapping[str, float]:
        """Noise, and what follows from it, for so many features and classes."""
        return {}

    def fit_rows(
        self, privacy: Privacy, columns: FitColumns, rows: Callable[[], BoundedRows]
    ) -> tuple[Event, Callable[[], Any]]:
        """What fitting to rows that somebody else bounded costs, and how to do it.

        ``rows`` is called, and the estimator changed, only when fitting is. Rows may be none.
        """
        features = len(columns.features)
        Box.of(columns.bounds, features)
        if columns.target_bounds is not None:
            Box.of(columns.target_bounds, 1, name="target_bounds")
        event = self._planned(privacy, features, _kinds(columns))

        def fitted() -> Any:
            self._take(columns)
            found = rows()
            self._fitted(privacy, found.features, found.target)
            return self

        return event, fitted

    def known_ahead(self, privacy: Privacy, columns: FitColumns) -> Mapping[str, float]:
        """Noise, and what follows from it, as far as public numbers tell; by name."""
        return self._known_ahead(privacy, len(columns.features), _kinds(columns))

    def _take(self, columns: FitColumns) -> None:
        """Remember what was declared of the columns, for predictions."""
        self.n_features_in_ = len(columns.features)
        self.features_ = list(columns.features)
        self.bounds = columns.bounds
        if columns.target_bounds is not None:
            self.target_bounds = columns.target_bounds
        if columns.classes is not None:
            self.classes = columns.classes
            self.classes_, _ = class_numbers(columns.classes, ())


def _kinds(columns: FitColumns) -> int:
    """How many classes there are; none where the target is no label."""
    return 0 if columns.classes is None else len(class_numbers(columns.classes, ())[0])
