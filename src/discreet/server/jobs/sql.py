"""A question in SQL: at a price, or within an accuracy."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Literal

from discreet.curator.accuracy import Within
from discreet.curator.context import tables_read
from discreet.relational.sql.privacy_clause import opened
from discreet.release import Release
from discreet.server.jobs.json_values import plain_rows
from discreet.server.jobs.kind import JobKind, JobProduct, Task
from discreet.server.jobs.models import (
    Before,
    Finite,
    PricedRequest,
    PriceLimit,
    Sql,
    WantedAccuracy,
    WantedReport,
    Whole,
    paid_before,
)


class SqlRequest(PricedRequest):
    """What is asked."""

    kind: Literal["sql"] = "sql"
    sql: Sql
    accuracy: WantedAccuracy | dict[str, WantedAccuracy] | None = None
    at_most: PriceLimit | None = None
    rows_at_least: Whole | None = None
    confidence: Finite = 0.95
    left_out: WantedReport | None = None
    paid_before: Before | None = None

    def terms(self) -> dict[str, Any]:
        """What a preview and a purchase share, as the curator takes it."""
        return {
            "spend": self.spend(),
            "accuracy": _accuracy(self.accuracy),
            "confidence": self.confidence,
            "rows_at_least": self.rows_at_least,
            "at_most": None if self.at_most is None else self.at_most.build_guarantee(),
            "left_out": None if self.left_out is None else self.left_out.build_left_out(),
        }


class SqlKind(JobKind[SqlRequest]):
    """Answers with a release."""

    name = "sql"
    request = SqlRequest

    def tables(self, task: Task, request: SqlRequest) -> Collection[str]:
        plain, _ = opened(request.sql)
        return tables_read(task.session.context.question(plain))

    def run(self, task: Task, request: SqlRequest) -> JobProduct:
        terms = request.terms()
        if task.approval is not None:
            task.require_agreed(task.session.preview(request.sql, **terms).price)
        release = task.session.sql(
            request.sql,
            **terms,
            analyst=task.analyst,
            purpose=task.purpose,
            paid_before=paid_before(request.paid_before),
        )
        return JobProduct(result=released(release), question=request.sql, release=release.id)


def released(release: Release) -> dict[str, Any]:
    """A release for whoever asked: as it is kept, and its rows for those who only want these."""
    return {"release": json.loads(release.to_json()), "rows": plain_rows(release)}


def _accuracy(
    wanted: WantedAccuracy | dict[str, WantedAccuracy] | None,
) -> Within | Mapping[str, Within] | None:
    if wanted is None or isinstance(wanted, WantedAccuracy):
        return None if wanted is None else wanted.build_accuracy()
    return {name: each.build_accuracy() for name, each in wanted.items()}
