"""Private learning: optimisers as reusable objects, and estimators in scikit-learn's manner.

Estimators need the extra ``learn``; everything else here does not.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.errors import InvalidParameter
from discreet.core.lazy import loader

if TYPE_CHECKING:
    from discreet.learn.estimators.kmeans import KMeans
    from discreet.learn.estimators.lasso import Lasso
    from discreet.learn.estimators.linear import LinearRegression, Ridge
    from discreet.learn.estimators.linear_classifiers import LinearSVC, LogisticRegression
    from discreet.learn.estimators.naive_bayes import GaussianNB
    from discreet.learn.estimators.pca import PCA
    from discreet.learn.estimators.scaling import SimpleImputer, StandardScaler
    from discreet.learn.estimators.softmax import SoftmaxRegression
    from discreet.learn.estimators.trees import DecisionTreeClassifier, RandomForestClassifier
    from discreet.learn.hedge import DoublingHedge, Hedge, LinearLearner
    from discreet.learn.load_models import load
    from discreet.learn.losses import AbsoluteLoss, HuberLoss, LogisticLoss, SmoothHingeLoss
    from discreet.learn.optimisers.exponential_erm import ExponentialERM
    from discreet.learn.optimisers.exponential_line import ExponentialLine
    from discreet.learn.optimisers.follow_the_leader import FollowTheLeader
    from discreet.learn.optimisers.frank_wolfe import FrankWolfe
    from discreet.learn.optimisers.gradient_descent import (
        EuclideanBall,
        GradientDescent,
        ProbabilitySimplex,
    )
    from discreet.learn.optimisers.objective_perturbation import ObjectivePerturbation
    from discreet.learn.optimisers.output_perturbation import OutputPerturbation
    from discreet.learn.optimisers.prefix_sums import (
        BandedFactorisation,
        Epochs,
        TreeAggregation,
    )
    from discreet.learn.optimisers.row_sets import Ball, Cube
    from discreet.learn.optimisers.softmax_descent import SoftmaxDescent
    from discreet.learn.optimisers.support_selection import SupportSelection
    from discreet.learn.privacy import Privacy
    from discreet.learn.selection.cross_validation import cross_val_score, train_test_split
    from discreet.learn.selection.folds import Holdout, KFold
    from discreet.learn.selection.grid_search import GridSearch
    from discreet.learn.selection.runs import chance_of_trying, stopping_law
    from discreet.learn.statistical_queries import AgnosticLearner, StatisticalQueries

__all__ = [
    "PCA",
    "AbsoluteLoss",
    "AgnosticLearner",
    "Ball",
    "BandedFactorisation",
    "Cube",
    "DecisionTreeClassifier",
    "DoublingHedge",
    "Epochs",
    "EuclideanBall",
    "ExponentialERM",
    "ExponentialLine",
    "FollowTheLeader",
    "FrankWolfe",
    "GaussianNB",
    "GradientDescent",
    "GridSearch",
    "Hedge",
    "Holdout",
    "HuberLoss",
    "KFold",
    "KMeans",
    "Lasso",
    "LinearLearner",
    "LinearRegression",
    "LinearSVC",
    "LogisticLoss",
    "LogisticRegression",
    "ObjectivePerturbation",
    "OutputPerturbation",
    "Privacy",
    "ProbabilitySimplex",
    "RandomForestClassifier",
    "Ridge",
    "SimpleImputer",
    "SmoothHingeLoss",
    "SoftmaxDescent",
    "SoftmaxRegression",
    "StandardScaler",
    "StatisticalQueries",
    "SupportSelection",
    "TreeAggregation",
    "chance_of_trying",
    "cross_val_score",
    "load",
    "stopping_law",
    "train_test_split",
]

_NAMES = {
    "estimators.kmeans": ("KMeans",),
    "estimators.lasso": ("Lasso",),
    "estimators.linear": ("LinearRegression", "Ridge"),
    "estimators.linear_classifiers": ("LinearSVC", "LogisticRegression"),
    "estimators.naive_bayes": ("GaussianNB",),
    "estimators.pca": ("PCA",),
    "estimators.scaling": ("SimpleImputer", "StandardScaler"),
    "estimators.softmax": ("SoftmaxRegression",),
    "estimators.trees": ("DecisionTreeClassifier", "RandomForestClassifier"),
    "hedge": ("DoublingHedge", "Hedge", "LinearLearner"),
    "losses": ("AbsoluteLoss", "HuberLoss", "LogisticLoss", "SmoothHingeLoss"),
    "optimisers.exponential_erm": ("ExponentialERM",),
    "optimisers.exponential_line": ("ExponentialLine",),
    "optimisers.follow_the_leader": ("FollowTheLeader",),
    "optimisers.frank_wolfe": ("FrankWolfe",),
    "optimisers.gradient_descent": ("EuclideanBall", "GradientDescent", "ProbabilitySimplex"),
    "optimisers.objective_perturbation": ("ObjectivePerturbation",),
    "optimisers.output_perturbation": ("OutputPerturbation",),
    "optimisers.prefix_sums": ("BandedFactorisation", "Epochs", "TreeAggregation"),
    "optimisers.row_sets": ("Ball", "Cube"),
    "optimisers.softmax_descent": ("SoftmaxDescent",),
    "optimisers.support_selection": ("SupportSelection",),
    "privacy": ("Privacy",),
    "load_models": ("load",),
    "selection.cross_validation": ("cross_val_score", "train_test_split"),
    "selection.folds": ("Holdout", "KFold"),
    "selection.grid_search": ("GridSearch",),
    "selection.runs": ("chance_of_trying", "stopping_law"),
    "statistical_queries": ("AgnosticLearner", "StatisticalQueries"),
}

if not TYPE_CHECKING:  # so that type checkers still see a misspelt name
    _load = loader(__name__, _NAMES)

    def __getattr__(name: str) -> object:
        """Load a public name on first use; say what to install where scikit-learn is missing."""
        try:
            return _load(name)
        except ModuleNotFoundError as missing:
            if missing.name != "sklearn":
                raise
            raise InvalidParameter(
                code="missing_scikit_learn",
                expectation="scikit-learn, on which estimators are built",
                received=name,
                remedy="pip install 'discreet[learn]'.",
            ) from None


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
