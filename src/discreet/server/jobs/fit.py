"""Models: fitted in the engine and paid for once; whoever has one predicts by oneself."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from typing import Annotated, Any, Literal

from pydantic import Field

from discreet.curator.context import tables_read
from discreet.curator.fit import FitRequest
from discreet.server.jobs.batch import required
from discreet.server.jobs.kind import JobKind, JobProduct, Task
from discreet.server.jobs.models import Before, Finite, PricedRequest, Sql, paid_before

ModelWord = Literal["linear", "ridge", "naive-bayes", "pca", "scaler", "imputer"]


class FitModelRequest(PricedRequest):
    """A SELECT, the kind of model that is fitted to its rows, and the column to be predicted."""

    kind: Literal["fit"] = "fit"
    sql: Sql
    model: ModelWord
    target: str | None = None
    alpha: Annotated[Finite, Field(ge=0)] | None = None
    components: Annotated[int, Field(ge=1)] | None = None
    paid_before: Before | None = None

    def estimator(self) -> Any:
        """The estimator without privacy parameters."""
        from discreet import learn

        made: dict[str, Callable[[], Any]] = {
            "linear": learn.LinearRegression,
            "ridge": lambda: learn.Ridge(alpha=1.0 if self.alpha is None else self.alpha),
            "naive-bayes": learn.GaussianNB,
            "pca": lambda: learn.PCA(self.components),
            "scaler": learn.StandardScaler,
            "imputer": learn.SimpleImputer,
        }
        return made[self.model]()


class FitKind(JobKind[FitModelRequest]):
    """Answers with the whole of the fitted model, as ``dp.learn.load`` reads it."""

    name = "fit"
    request = FitModelRequest

    def tables(self, task: Task, request: FitModelRequest) -> Collection[str]:
        context = task.session.context
        asked = FitRequest.of(context, request.estimator(), request.sql, request.target)
        return tables_read(asked.source.query)

    def run(self, task: Task, request: FitModelRequest) -> JobProduct:
        spend = required(request.spend())
        task.require_agreed(spend)
        made = task.session.fit(
            request.estimator(),
            request.sql,
            target=request.target,
            spend=spend,
            analyst=task.analyst,
            purpose=task.purpose,
            paid_before=paid_before(request.paid_before),
        )
        result = {"model": json.loads(made.to_json()), "statement": str(made.statement)}
        return JobProduct(result=result, question=str(made.facts_["question"]))
