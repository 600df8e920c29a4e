"""Models at a service: what is sent of an estimator, and what comes back for it.

Only declarations are sent: the kind of model, bounds, classes and the like. All of the fitted model
comes back, and the estimator becomes it, as a curator of this process would fit it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from discreet.client import loaded
from discreet.client.answers import guarantee_of
from discreet.client.written import drop_none_values, not_offered, spend_to_json, text_of
from discreet.core.events.event import from_json as event_from_json
from discreet.core.guarantee import Guarantee
from discreet.core.source import FitsMoments, FitsRows, not_from_moments
from discreet.core.unit import PrivacyUnit

_WORDS = {
    "learn.LinearRegression": "linear",
    "learn.Ridge": "ridge",
    "learn.GaussianNB": "naive-bayes",
    "learn.PCA": "pca",
    "learn.StandardScaler": "scaler",
    "learn.SimpleImputer": "imputer",
    "learn.LogisticRegression": "logistic",
    "learn.LinearSVC": "svc",
    "learn.SoftmaxRegression": "softmax",
    "learn.Lasso": "lasso",
    "learn.KMeans": "kmeans",
    "learn.DecisionTreeClassifier": "tree",
    "learn.RandomForestClassifier": "forest",
}
"""What the service calls a kind of model, by the name under which models are written down."""
_RENAMED = {
    "n_components": "components",
    "C": "c",
    "n_clusters": "clusters",
    "n_estimators": "trees",
    "max_depth": "depth",
}


def fit_to_json(
    estimator: Any, text: Any, *, target: str | None, spend: Guarantee | None
) -> dict[str, Any]:
    """A request to fit; refused here where the service has no word for the estimator."""
    if isinstance(estimator, type) or not isinstance(estimator, FitsMoments | FitsRows):
        raise not_from_moments(estimator)
    form = loaded.model_tags().FORMS.get(type(estimator))
    if form is None:
        raise not_offered(
            expectation="an estimator of dp.learn itself",
            received=type(estimator).__name__,
            remedy="Use one of them; classes of one's own stay with a curator of one's own.",
        )
    parameters = loaded.saved_models().parameters_of(estimator)
    parts = {_RENAMED.get(name, name): _unwrap_arrays(each) for name, each in parameters.items()}
    if "centring" in parts and parts["centring"] is None:
        parts["centring"] = 0  # what is left out would be the usual share
    return {
        "kind": "fit",
        "model": _WORDS[form.tag],
        "sql": text_of(text),
        **drop_none_values(target=target, **parts),
        **spend_to_json(spend),
    }


def fitted(estimator: Any, plain: Mapping[str, Any]) -> Any:
    """The estimator itself, which is now the model that the service fitted."""
    model_of(plain)  # refuses what is no model
    loaded.saved_models().restore(estimator, plain["model"])
    return estimator


def model_of(plain: Mapping[str, Any]) -> Any:
    """A fitted model of whatever kind."""
    return loaded.load_models().model_from_json(json.dumps(plain["model"]))


def fit_preview_of(plain: Mapping[str, Any], unit: PrivacyUnit) -> Any:
    """What a fit would take, and its price."""
    types = loaded.fit_previews()
    return types.FitPreview(
        query=plain["question"],
        features={name: (low, high) for name, low, high in plain["features"]},
        groups=tuple(types.NoisySums(sums, noise) for sums, noise in plain["groups"]),
        event=event_from_json(json.dumps(plain["event"])),
        price=guarantee_of(plain["price"], unit),
        affordable=plain["affordable"],
        warnings=tuple(plain["warnings"]),
        known_ahead=plain.get("known_ahead", {}),
        target_bounds=None if (ends := plain.get("target_bounds")) is None else (ends[0], ends[1]),
        classes=tuple(plain.get("classes", ())),
    )


def _unwrap_arrays(value: Any) -> Any:
    """Arrays, which models are saved with, as lists."""
    match value:
        case {"array": values}:
            return values
        case list():
            return [_unwrap_arrays(each) for each in value]
    return value
