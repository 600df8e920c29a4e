"""Models read from files. Every kind of estimator is loaded, since a file may hold any of them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from discreet.core.foreign_text import plain_json, refusing
from discreet.learn.estimators.kmeans import KMeans
from discreet.learn.estimators.lasso import Lasso
from discreet.learn.estimators.linear import LinearRegression, Ridge
from discreet.learn.estimators.linear_classifiers import LinearSVC, LogisticRegression
from discreet.learn.estimators.naive_bayes import GaussianNB
from discreet.learn.estimators.pca import PCA
from discreet.learn.estimators.scaling import SimpleImputer, StandardScaler
from discreet.learn.estimators.softmax import SoftmaxRegression
from discreet.learn.estimators.trees import DecisionTreeClassifier, RandomForestClassifier
from discreet.learn.saved_models import FORM, restore
from discreet.learn.tags import FORMS

_ESTIMATORS: tuple[type, ...] = (
    KMeans,
    Lasso,
    LinearRegression,
    Ridge,
    LinearSVC,
    LogisticRegression,
    GaussianNB,
    PCA,
    SimpleImputer,
    StandardScaler,
    SoftmaxRegression,
    DecisionTreeClassifier,
    RandomForestClassifier,
)
KINDS: dict[str, type] = {FORMS[kind].tag: kind for kind in _ESTIMATORS}


def model_from_json(text: str) -> Any:
    """The model that ``to_json`` wrote."""
    expected = f"a fitted model of form {FORM}, as `save` wrote it"
    with refusing(code="model_not_json", expectation=expected):
        plain = plain_json(text)
        model = KINDS[plain["model"]]()
        restore(model, plain)
    return model


def load(path: str | PathLike[str]) -> Any:
    """The model that ``save`` wrote to a file."""
    return model_from_json(Path(path).read_text(encoding="utf-8", errors="replace"))
