"""Predictions of a fitted model, each a function of its own row to the last bit.

A matrix product may round a row's prediction by how many rows there are; on a border between two
classes that flips a label, so that one row that goes would change the losses of others. Linear
models are therefore added up column by column, and all others asked one row at a time.

Source: contract, "Numbers". Proof: ``proofs/selection_by_runs.md``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.learn.box import Box
from discreet.learn.estimators.base import read_numbers
from discreet.learn.estimators.linear import Ridge
from discreet.learn.estimators.linear_classifiers import LogisticRegression
from discreet.learn.row_products import predictions_of_each


def row_predictions(model: Any, X: Any) -> Any:
    """What the model predicts for each row."""
    rows = read_numbers(X, model.n_features_in_)
    if isinstance(model, LogisticRegression):
        scores = _linear(model, rows)
        two = len(model.classes_) == 2
        return model.classes_[(scores[:, 0] > 0).astype(int) if two else scores.argmax(axis=1)]
    if isinstance(model, Ridge):
        low, high = map(float, model.target_bounds)
        return np.clip(_linear(model, rows)[:, 0], low, high)
    return np.array([model.predict(row[None])[0] for row in rows])


def _linear(model: Any, rows: Floats) -> Floats:
    """The linear scores of rows that are clamped into the bounds, as ``predict`` has them."""
    box = Box.of(model.bounds, rows.shape[1])
    inside = np.where(np.isnan(rows), box.middle, np.clip(rows, box.low, box.high))
    found: Floats = predictions_of_each(inside, np.atleast_2d(model.coef_)) + model.intercept_
    return found
