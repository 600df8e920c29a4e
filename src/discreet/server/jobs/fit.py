"""Models: fitted where the rows are and paid for once; whoever has one predicts by oneself."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr

from discreet.core.errors import InvalidParameter
from discreet.curator.context import tables_read
from discreet.curator.fit import FitRequest
from discreet.curator.fit_preview import FitPreview
from discreet.server.jobs.batch import required
from discreet.server.jobs.kind import JobKind, JobProduct, Task
from discreet.server.jobs.models import Before, Finite, PricedRequest, Sql, Whole, paid_before
from discreet.server.spends import spend_to_dict

ModelWord = Literal[
    "linear",
    "ridge",
    "naive-bayes",
    "pca",
    "scaler",
    "imputer",
    "logistic",
    "svc",
    "softmax",
    "lasso",
    "kmeans",
    "tree",
    "forest",
]
Ends = Annotated[list[Finite | Annotated[list[Finite], Field(max_length=500)]], Field(max_length=9)]
"""A lower and an upper end, each a number or one for each feature; the curator counts them."""
Labels = Annotated[list[StrictBool | StrictInt | Finite | StrictStr], Field(max_length=1000)]
Few = Annotated[Whole, Field(ge=1, le=1000)]
"""Rounds, steps, clusters and trees: what a fit may take is bounded before it begins."""
_MODELS: dict[str, tuple[str, tuple[str, ...]]] = {
    "linear": ("LinearRegression", ("target_bounds",)),
    "ridge": ("Ridge", ("target_bounds", "alpha")),
    "naive-bayes": ("GaussianNB", ("classes",)),
    "pca": ("PCA", ("components",)),
    "scaler": ("StandardScaler", ()),
    "imputer": ("SimpleImputer", ()),
    "logistic": ("LogisticRegression", ("classes", "c", "centring")),
    "svc": ("LinearSVC", ("classes", "c", "centring")),
    "softmax": ("SoftmaxRegression", ("classes", "steps", "clip", "centring")),
    "lasso": ("Lasso", ("target_bounds", "radius", "steps")),
    "kmeans": ("KMeans", ("clusters", "rounds")),
    "tree": ("DecisionTreeClassifier", ("classes", "depth")),
    "forest": ("RandomForestClassifier", ("classes", "trees", "depth")),
}
"""Each kind of model, and what it takes beside bounds."""
_CALLED = {
    "components": "n_components",
    "c": "C",
    "clusters": "n_clusters",
    "trees": "n_estimators",
    "depth": "max_depth",
}
"""What estimators call it, where that is another word."""


class FitModelRequest(PricedRequest):
    """A SELECT, the kind of model that is fitted to its rows, and the column to be predicted.

    ``bounds``, ``target_bounds`` and ``classes`` stand in place of what the owner declared. A
    ``centring`` of zero means none.
    """

    kind: Literal["fit"] = "fit"
    sql: Sql
    model: ModelWord
    target: str | None = None
    bounds: Ends | None = None
    target_bounds: Ends | None = None
    classes: Labels | None = None
    alpha: Annotated[Finite, Field(ge=0)] | None = None
    components: Annotated[int, Field(ge=1)] | None = None
    c: Annotated[Finite, Field(gt=0)] | None = None
    steps: Few | None = None
    clip: Annotated[Finite, Field(gt=0)] | None = None
    centring: Annotated[Finite, Field(ge=0, lt=1)] | None = None
    radius: Annotated[Finite, Field(gt=0)] | None = None
    clusters: Few | None = None
    rounds: Few | None = None
    trees: Few | None = None
    depth: Annotated[Whole, Field(ge=1, le=20)] | None = None
    paid_before: Before | None = None

    def estimator(self) -> Any:
        """The estimator without privacy parameters; what is of another kind is refused."""
        from discreet import learn

        kind, own = _MODELS[self.model]
        others = sorted({name for _, names in _MODELS.values() for name in names})
        given = {name: each for name in others if (each := getattr(self, name)) is not None}
        for name in given:
            if name not in own:
                raise InvalidParameter(
                    code="option_of_another_model",
                    expectation=f"{name} only with a model that has it",
                    received=self.model,
                    remedy=f"Leave {name} out.",
                )
        called = {_CALLED.get(name, name): value for name, value in given.items()}
        if self.centring == 0:
            called["centring"] = None
        return getattr(learn, kind)(bounds=self.bounds, **called)


class FitKind(JobKind[FitModelRequest]):
    """Answers with the whole of the fitted model, as ``dp.learn.load`` reads it."""

    name = "fit"
    request = FitModelRequest

    def tables(self, task: Task, request: FitModelRequest) -> Collection[str]:
        context = task.session.context
        asked = FitRequest.of(context, request.estimator(), request.sql, request.target)
        return tables_read(asked.query)

    def run(self, task: Task, request: FitModelRequest) -> JobProduct:
        spend = required(request.spend())
        asked: dict[str, Any] = {"target": request.target, "spend": spend}
        if task.approval is not None:
            task.session.preview_fit(request.estimator(), request.sql, **asked)
            task.require_agreed(spend)
        made = task.session.fit(
            request.estimator(),
            request.sql,
            **asked,
            analyst=task.analyst,
            purpose=task.purpose,
            paid_before=paid_before(request.paid_before),
        )
        result = {"model": json.loads(made.to_json()), "statement": str(made.statement)}
        return JobProduct(result=result, question=str(made.facts_["question"]))


class FitPreviewKind(JobKind[FitModelRequest]):
    """What a fit would take, its noise as far as that is known, and its price. Free."""

    name = "fit_preview"
    request = FitModelRequest
    reads_data = False
    kept = False

    def run(self, task: Task, request: FitModelRequest) -> JobProduct:
        ahead = task.session.preview_fit(
            request.estimator(),
            request.sql,
            target=request.target,
            spend=required(request.spend()),
        )
        return JobProduct(result=_previewed(ahead))


def _previewed(ahead: FitPreview) -> dict[str, Any]:
    return {
        "question": ahead.query,
        "features": [[name, low, high] for name, (low, high) in ahead.features.items()],
        "groups": [[group.sums, group.noise] for group in ahead.groups],
        "event": json.loads(ahead.event.to_json()),
        "price": spend_to_dict(ahead.price),
        "affordable": ahead.affordable,
        "warnings": list(ahead.warnings),
        "known_ahead": dict(ahead.known_ahead),
        "target_bounds": None if ahead.target_bounds is None else [*ahead.target_bounds],
        "classes": [
            each if isinstance(each, bool | int | float | str) else str(each)
            for each in ahead.classes
        ],
        "text": str(ahead),
    }
