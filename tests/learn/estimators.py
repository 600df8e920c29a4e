"""One instance of each estimator, with privacy given, and which checks noise breaks."""

from __future__ import annotations

from typing import Any

import discreet as dp
from discreet import learn

GIVEN: dict[str, Any] = {"spend": dp.PureDP(epsilon=1), "unit": dp.Row(), "bounds": (-10, 10)}

ESTIMATORS: tuple[Any, ...] = (
    learn.Ridge(**GIVEN, target_bounds=(-10, 10)),
    learn.LinearRegression(**GIVEN, target_bounds=(-100, 100)),
    learn.GaussianNB(**GIVEN, classes=[0, 1, 2]),
    learn.PCA(n_components=1, **GIVEN),
    learn.StandardScaler(**GIVEN),
    learn.SimpleImputer(**GIVEN),
    learn.LogisticRegression(**GIVEN, classes=[0, 1, 2]),
    learn.SoftmaxRegression(
        **{**GIVEN, "spend": dp.ApproxDP(epsilon=1, delta=1e-6)}, classes=[0, 1, 2]
    ),
    learn.LinearSVC(**GIVEN, classes=[0, 1, 2]),
    learn.Lasso(**GIVEN, target_bounds=(-10, 10)),
    learn.KMeans(n_clusters=3, **GIVEN),
    learn.RandomForestClassifier(n_estimators=3, **GIVEN, classes=[0, 1, 2]),
    learn.DecisionTreeClassifier(**GIVEN, classes=[0, 1, 2]),
)

NOISE = "noise differs between two fits"
RULE = "bad values follow a fixed rule per row and never raise or warn"
DECLARED = "classes and bounds are declared, not read from the data"
EXPECTED = {
    "check_dtype_object": RULE,
    "check_supervised_y_no_nan": RULE,
    "check_estimators_empty_data_messages": "no rows are answered like any number of them",
    "check_supervised_y_2d": RULE,
    "check_classifiers_regression_target": RULE,
    "check_regressors_train": NOISE,
    "check_regressor_data_not_an_array": NOISE,
    "check_regressors_int": NOISE,
    "check_classifier_data_not_an_array": NOISE,
    "check_fit_idempotent": NOISE,
    "check_classifiers_train": NOISE,
    "check_clustering": NOISE,
    "check_classifiers_classes": DECLARED,
    "check_classifiers_one_label": DECLARED,
    "check_decision_proba_consistency": DECLARED,
    "check_estimator_sparse_array": "sparse matrices are refused",
    "check_estimator_sparse_matrix": "sparse matrices are refused",
}

FITTED = {
    "guarantee_",
    "event_",
    "facts_",
    "features_",
    "equations_",
    "n_features_in_",
    "feature_names_in_",
    "bounds_",
    "coef_",
    "intercept_",
    "classes_",
    "class_prior_",
    "theta_",
    "var_",
    "mean_",
    "scale_",
    "statistics_",
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "n_components_",
    "cluster_centers_",
    "leaf_counts_",
    "splits_",
    "blur_",
}
"""Fitted attributes: public, or functions of what was released."""
