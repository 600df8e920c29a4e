"""Several synthetic tables: people and their rows, made and paid for once; previews are free."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Field

from discreet.curator.synthetic.preview_tables import OneTablePreview, TablesPreview
from discreet.server.jobs.batch import required
from discreet.server.jobs.kind import JobKind, JobProduct, Task
from discreet.server.jobs.models import Before, PricedRequest, paid_before
from discreet.server.jobs.sql import released
from discreet.server.spends import spend_to_dict
from discreet.synthetic.encoding.number_column import PrivateBins


class TablesJobRequest(PricedRequest):
    """The table of people, those of their rows, and what of them is to be synthesised.

    ``private_bins`` asks for so many bins of about equal counts, in place of ``bins`` of equal
    width.
    """

    kind: Literal["synthesize_tables"] = "synthesize_tables"
    parent: str
    children: Annotated[list[str], Field(min_length=1, max_length=20)]
    columns: (
        Annotated[
            dict[str, Annotated[list[str], Field(min_length=1, max_length=500)]],
            Field(max_length=21),
        ]
        | None
    ) = None
    bins: Annotated[int, Field(ge=1, le=1000)] = 32
    private_bins: Annotated[int, Field(ge=2, le=1000)] | None = None
    paid_before: Before | None = None

    def choices(self) -> dict[str, Any]:
        """What the curator takes."""
        bins: int | PrivateBins = self.bins
        if self.private_bins is not None:
            bins = PrivateBins.with_cells(self.private_bins)
        return {"columns": self.columns, "bins": bins}


class TablesKind(JobKind[TablesJobRequest]):
    """Answers with all of the models, and the counts of people by their first column."""

    name = "synthesize_tables"
    request = TablesJobRequest

    def tables(self, task: Task, request: TablesJobRequest) -> Collection[str]:
        return (request.parent, *request.children)

    def run(self, task: Task, request: TablesJobRequest) -> JobProduct:
        spend = required(request.spend())
        task.require_agreed(spend)
        made = task.session.synthesize_tables(
            request.parent,
            request.children,
            **request.choices(),
            spend=spend,
            analyst=task.analyst,
            purpose=task.purpose,
            paid_before=paid_before(request.paid_before),
        )
        columns = made.encodings[made.parent].columns
        first = next(name for name, each in columns.items() if each.size)
        result = {"tables": json.loads(made.to_json()), **released(made.people(first))}
        return JobProduct(result=result, question=made.query, release=made.id)


class TablesPreviewKind(JobKind[TablesJobRequest]):
    """Reads no private row, so it leaves at once."""

    name = "synthesize_tables_preview"
    request = TablesJobRequest
    reads_data = False
    kept = False

    def run(self, task: Task, request: TablesJobRequest) -> JobProduct:
        found = task.session.preview_tables(
            request.parent,
            request.children,
            spend=required(request.spend()),
            **request.choices(),
        )
        return JobProduct(result=_previewed(found))


def _previewed(preview: TablesPreview) -> dict[str, Any]:
    return {
        "query": preview.query,
        "tables": [_one(each) for each in preview.tables],
        "price": spend_to_dict(preview.price),
        "affordable": preview.affordable,
        "warnings": list(preview.warnings),
        "text": str(preview),
    }


def _one(table: OneTablePreview) -> dict[str, Any]:
    return {
        "name": table.name,
        "attributes": dict(table.attributes),
        "limit": table.limit,
        "budget_split": dict(table.budget_split),
        "noise": table.noise,
    }
