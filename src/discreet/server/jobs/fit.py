"""Models: fitted in the engine and paid for once; whoever has one predicts by oneself."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr

from discreet.core.errors import InvalidParameter
from discreet.curator.context import tables_read
from discreet.curator.fit import FitRequest
from discreet.curator.fit_preview import FitPreview
from discreet.server.jobs.batch import required
from discreet.server.jobs.kind import JobKind, JobProduct, Task
from discreet.server.jobs.models import Before, Finite, PricedRequest, Sql, paid_before
from discreet.server.spends import spend_to_dict

ModelWord = Literal["linear", "ridge", "naive-bayes", "pca", "scaler", "imputer"]
Ends = Annotated[list[Finite | Annotated[list[Finite], Field(max_length=500)]], Field(max_length=9)]
"""A lower and an upper end, each a number or one for each feature; the curator counts them."""
Labels = Annotated[list[StrictBool | StrictInt | Finite | StrictStr], Field(max_length=1000)]
_PARTS: dict[str, tuple[str, ...]] = {
    "linear": ("target_bounds",),
    "ridge": ("target_bounds", "alpha"),
    "naive-bayes": ("classes",),
    "pca": ("components",),
    "scaler": (),
    "imputer": (),
}
"""What each kind of model takes beside bounds."""


class FitModelRequest(PricedRequest):
    """A SELECT, the kind of model that is fitted to its rows, and the column to be predicted.

    ``bounds``, ``target_bounds`` and ``classes`` stand in place of what the owner declared.
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
    paid_before: Before | None = None

    def estimator(self) -> Any:
        """The estimator without privacy parameters; what is of another kind is refused."""
        from discreet import learn

        made: dict[str, Callable[..., Any]] = {
            "linear": learn.LinearRegression,
            "ridge": learn.Ridge,
            "naive-bayes": learn.GaussianNB,
            "pca": learn.PCA,
            "scaler": learn.StandardScaler,
            "imputer": learn.SimpleImputer,
        }
        parts = {name: getattr(self, name) for name in sorted({*sum(_PARTS.values(), ())})}
        given = {name: value for name, value in parts.items() if value is not None}
        for name in given:
            if name not in _PARTS[self.model]:
                raise InvalidParameter(
                    code="option_of_another_model",
                    expectation=f"{name} only with a model that has it",
                    received=self.model,
                    remedy=f"Leave {name} out.",
                )
        if "components" in given:
            given["n_components"] = given.pop("components")
        return made[self.model](bounds=self.bounds, **given)


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
    """What a fit would take, how noisy its sums would be, and its price. Free."""

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
        "text": str(ahead),
    }
