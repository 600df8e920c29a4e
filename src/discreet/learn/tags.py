"""The names under which models are written down, for ever, and what is written of each.

As in :mod:`discreet.mechanisms.tags`: parameters that decide what a model is, and fitted
attributes. Spend and unit stand in its guarantee; randomness is not kept.
"""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.written import Form
from discreet.learn.estimators.kmeans import KMeans
from discreet.learn.estimators.lasso import Lasso
from discreet.learn.estimators.linear import LinearRegression, Ridge
from discreet.learn.estimators.linear_classifiers import LinearSVC, LogisticRegression
from discreet.learn.estimators.naive_bayes import GaussianNB
from discreet.learn.estimators.pca import PCA
from discreet.learn.estimators.scaling import SimpleImputer, StandardScaler
from discreet.learn.estimators.softmax import SoftmaxRegression
from discreet.learn.estimators.trees import DecisionTreeClassifier, RandomForestClassifier


@dataclass(frozen=True)
class ModelForm:
    """The form of parameters, whose tag is that of the model, and that of fitted attributes."""

    parameters: Form
    fitted: Form

    @property
    def tag(self) -> str:
        """The name of the kind of model."""
        return self.parameters.tag


def _form(tag: str, parameters: str, fitted: str) -> ModelForm:
    return ModelForm(
        Form(tag, f"bounds {parameters}"),
        Form(tag, fitted, later="features_"),
    )


_SLOPES = "coef_ intercept_ equations_"
_FOREST = "classes_ splits_ leaf_counts_ blur_"
_COMPONENTS = "components_ mean_ explained_variance_ explained_variance_ratio_ n_components_"

FORMS: dict[type, ModelForm] = {
    LinearRegression: _form("learn.LinearRegression", "target_bounds", _SLOPES),
    Ridge: _form("learn.Ridge", "target_bounds alpha", _SLOPES),
    Lasso: _form("learn.Lasso", "target_bounds radius steps", "coef_ intercept_"),
    LogisticRegression: _form("learn.LogisticRegression", "classes C", "classes_ coef_ intercept_"),
    SoftmaxRegression: _form(
        "learn.SoftmaxRegression", "classes steps clip", "classes_ coef_ intercept_"
    ),
    LinearSVC: _form("learn.LinearSVC", "classes C", "classes_ coef_ intercept_"),
    GaussianNB: _form("learn.GaussianNB", "classes", "classes_ class_prior_ theta_ var_"),
    PCA: _form("learn.PCA", "n_components", _COMPONENTS),
    KMeans: _form("learn.KMeans", "n_clusters rounds", "cluster_centers_"),
    StandardScaler: _form("learn.StandardScaler", "", "mean_ var_ scale_"),
    SimpleImputer: _form("learn.SimpleImputer", "", "statistics_"),
    RandomForestClassifier: _form(
        "learn.RandomForestClassifier", "classes n_estimators max_depth", _FOREST
    ),
    DecisionTreeClassifier: _form("learn.DecisionTreeClassifier", "classes max_depth", _FOREST),
}
KINDS: dict[str, type] = {form.tag: kind for kind, form in FORMS.items()}
