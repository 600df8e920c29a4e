"""Whether a model that was read from a file can be used: nothing of it fails later.

Numbers are finite, trees point at features and nodes that there are, and everything that a model
can be asked is asked once, of public rows: the ends of its bounds, their middle, and missing ones.
What of an answer depends on a row is checked by itself; everything else is the same for every row.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet.core.parameters import nonnegative
from discreet.learn.box import Box
from discreet.learn.coefficient_intervals import NoisyNormalEquations
from discreet.learn.random_splits import RandomSplits
from discreet.learn.tags import FORMS

_METHODS = ("predict", "predict_proba", "decision_function", "transform")
_OF_FEATURES = {
    *("coef_", "theta_", "var_", "mean_", "scale_", "statistics_"),
    *("components_", "cluster_centers_", "bounds_"),
}
"""Arrays with a number for each feature, last."""
_OF_CLASSES = {"class_prior_", "theta_", "var_", "coef_", "intercept_"}
"""Arrays of classifiers with a row for each class."""
_MOST = 1 << 20
"""Features of a model."""
_LARGEST = 2.0**200
"""Of numbers that are multiplied with each other later: products stay finite."""


def require_usable(model: Any, values: dict[str, Any]) -> None:
    """Raise where a model could not be used, by whatever kind of fault."""
    features = model.n_features_in_
    if type(features) is not int or not 1 <= features <= _MOST:
        raise ValueError
    if not FORMS[type(model)].required <= values.keys():
        raise KeyError
    for name, value in values.items():
        if name.endswith("_"):
            _require_fitted(name, value, features)
    if "classes_" in values:
        _require_classes(values)
    if hasattr(model, "_ridge") and nonnegative("alpha", model._ridge()) > _LARGEST:
        raise ValueError
    rows = _public_rows(model, features)
    with np.errstate(all="ignore"):
        for method in _METHODS:
            if hasattr(model, method) and len(getattr(model, method)(rows)) != len(rows):
                raise ValueError(method)
    model.statement.try_words()


def _public_rows(model: Any, features: int) -> Any:
    box = Box.of(model.bounds, features)
    return np.stack([box.low, box.middle, box.high, np.full(features, np.nan)])


def _require_fitted(name: str, value: Any, features: int) -> None:
    """Refuse fitted attributes of other kinds than are written, and numbers that are none."""
    match name:
        case "splits_":
            if not value:
                raise ValueError(name)
            for splits in value:
                _require_splits(splits, features)
        case "equations_":
            _require_equations(value, features)
        case "features_":
            if not all(isinstance(each, str) for each in value):
                raise TypeError(name)
        case "classes_":
            if not isinstance(value, np.ndarray) or value.ndim != 1 or len(value) < 2:
                raise TypeError(name)
            hash(tuple(value.tolist()))
        case "n_components_":
            if type(value) is not int:
                raise TypeError(name)
        case _:
            _require_numbers(name, value)
            if name in _OF_FEATURES and np.shape(value)[-1:] != (features,):
                raise ValueError(name)


def _require_classes(values: dict[str, Any]) -> None:
    """Every class has its numbers, and no number is of a class that there is not.

    Of two classes a linear classifier has one line between them.
    """
    classes = len(values["classes_"])
    for name in values.keys() & _OF_CLASSES:
        rows = np.shape(values[name])[:1]
        line = name in {"coef_", "intercept_"} and classes == 2
        if rows != ((1,) if line else (classes,)):
            raise ValueError(name)
    if "splits_" in values:
        trees, depth = len(values["splits_"]), values["splits_"][0].depth
        if np.shape(values["leaf_counts_"]) != (trees, 1 << depth, classes):
            raise ValueError(trees)


def _require_numbers(name: str, value: Any) -> None:
    single = isinstance(value, int | float) and not isinstance(value, bool)
    array = isinstance(value, np.ndarray) and value.dtype.kind in "fi" and value.size > 0
    if not (single or array) or not np.isfinite(np.asarray(value, dtype=np.float64)).all():
        raise TypeError(name)


def _require_splits(splits: Any, features: int) -> None:
    """Every node asks for a feature that there is; a tree of so many levels has so many nodes."""
    if not isinstance(splits, RandomSplits) or type(splits.depth) is not int:
        raise TypeError
    nodes = splits.features.size
    whole = (
        splits.features.ndim == splits.thresholds.ndim == 1
        and nodes == splits.thresholds.size
        and nodes + 1 == 1 << min(max(splits.depth, 0), 62)
    )
    inside = whole and bool((splits.features >= 0).all() and (splits.features < features).all())
    if not inside or not np.isfinite(splits.thresholds).all():
        raise ValueError


def _require_equations(equations: Any, features: int) -> None:
    if not isinstance(equations, NoisyNormalEquations):
        raise TypeError
    numbers = (equations.square, equations.mixed, np.array(equations.scales))
    shapes = equations.square.shape, equations.mixed.shape
    if shapes != ((features + 1, features + 1), (features + 1,)):
        raise ValueError
    if not all((np.abs(each) <= _LARGEST).all() for each in numbers) or min(equations.scales) <= 0:
        raise ValueError
