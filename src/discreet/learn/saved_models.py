"""Fitted models as JSON, and back: parameters, fitted attributes, guarantee, event, statement.

Nothing of a file is executed: kinds of models are looked up in a table of frozen names, numbers are
numbers. A model that was read predicts as the one that was written, to the last bit.
"""

from __future__ import annotations

import json
import numbers
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import from_json as event_from_json
from discreet.learn.coefficient_intervals import NoisyNormalEquations
from discreet.learn.random_splits import RandomSplits
from discreet.learn.tags import FORMS
from discreet.learn.usable_models import require_usable
from discreet.release.guarantee import guarantee_to_dict
from discreet.release.kept_guarantee import kept_guarantee

FORM = "model/1"
"""Of the text; part of it."""


def model_to_json(model: Any) -> str:
    """All of a fitted model on one line."""
    return json.dumps(model_to_dict(model), sort_keys=True, separators=(",", ":"), allow_nan=False)


def model_to_dict(model: Any) -> dict[str, Any]:
    """A fitted model as plain JSON."""
    check_is_fitted(model)
    form = FORMS.get(type(model))
    if form is None:
        raise InvalidParameter(
            code="model_not_known",
            expectation="an estimator of dp.learn",
            received=type(model).__name__,
            remedy="Save one of these; there is no form for classes of one's own.",
        )
    fitted = [(name, now) for name, now in form.fitted.names if hasattr(model, now)]
    return {
        "form": FORM,
        "model": form.tag,
        "features": int(model.n_features_in_),
        "parameters": parameters_of(model),
        "fitted": {name: _plain(getattr(model, now)) for name, now in fitted},
        "guarantee": guarantee_to_dict(model.guarantee_),
        "event": json.loads(model.event_.to_json()),
        "facts": dict(model.facts_),
    }


def require_plain(value: Any) -> None:
    """Refuse what no model can be written down with."""
    _plain(value)


def parameters_of(model: Any) -> dict[str, Any]:
    """The parameters that decide what a model is, as plain JSON."""
    names = FORMS[type(model)].parameters.names
    return {name: _plain(getattr(model, now)) for name, now in names}


def restore(model: Any, plain: Any) -> None:
    """Make an estimator the one that was written; its kind must be the same."""
    form = FORMS[type(model)]
    if plain["form"] != FORM or plain["model"] != form.tag:
        raise ValueError(plain["form"])
    fitted = form.fitted.arguments(plain["fitted"])
    parameters = form.parameters.arguments(plain["parameters"])
    if fitted is None or parameters is None:
        raise ValueError(plain["model"])
    values = {name: _rebuild_value(each) for name, each in (*parameters.items(), *fitted.items())}
    event = event_from_json(json.dumps(plain["event"]))
    guarantee = kept_guarantee(plain["guarantee"], event, plain["facts"])
    for name, value in values.items():
        setattr(model, name, value)
    model.n_features_in_ = plain["features"]
    model.guarantee_, model.event_, model.facts_ = guarantee, event, dict(plain["facts"])
    require_usable(model, values)
    model_to_json(model)


def _plain(value: Any) -> Any:  # noqa: PLR0911 -- one line for each kind of value
    match value:
        case None | bool() | str():
            return value
        case np.ndarray():
            return {"array": [_plain(each) for each in value.tolist()], "kind": value.dtype.kind}
        case np.generic():
            return _plain(value.item())
        case list() | tuple():
            return [_plain(each) for each in value]
        case RandomSplits():
            shape = {"features": value.features.tolist(), "thresholds": value.thresholds.tolist()}
            return {"splits": {**shape, "depth": value.depth}}
        case NoisyNormalEquations():
            return {"equations": value.to_dict()}
        case numbers.Integral():
            return int(value)
        case numbers.Real():
            return float(value)
    raise InvalidParameter(
        code="model_not_known",
        expectation="parameters that are numbers, texts, or lists of these",
        received=type(value).__name__,
        remedy="Give labels and bounds as plain numbers or texts.",
    )


def _rebuild_value(plain: Any) -> Any:
    match plain:
        case list():
            return [_rebuild_value(each) for each in plain]
        case {"array": values, "kind": kind}:
            return np.array(values, dtype=_DTYPES[kind])
        case {"splits": {"features": features, "thresholds": thresholds, "depth": depth}}:
            return RandomSplits(np.array(features, np.int64), np.array(thresholds, float), depth)
        case {"equations": equations}:
            return NoisyNormalEquations.from_dict(equations)
        case dict():
            raise ValueError(sorted(plain))
    return plain


_DTYPES: dict[str, Any] = {"f": np.float64, "i": np.int64, "b": np.bool_, "U": np.str_, "O": object}
