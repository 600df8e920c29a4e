"""Synthetic tables: made once and paid for; rows are drawn from the model by whoever has it."""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Annotated, Any, Literal

from pydantic import Field

from discreet.server.jobs.batch import required
from discreet.server.jobs.kind import JobKind, JobProduct, Task
from discreet.server.jobs.models import Before, PricedRequest, paid_before
from discreet.server.jobs.sql import released
from discreet.synthetic.encoding.number_column import PrivateBins
from discreet.synthetic.mechanism_words import MechanismWord, mechanism_of


class SynthesizeRequest(PricedRequest):
    """A private table, and what of it is to be synthesised.

    ``private_bins`` asks for so many bins of about equal counts, in place of ``bins`` of equal
    width.
    """

    kind: Literal["synthesize"] = "synthesize"
    table: str
    columns: Annotated[list[str], Field(min_length=1, max_length=500)] | None = None
    bins: Annotated[int, Field(ge=1, le=1000)] = 32
    private_bins: Annotated[int, Field(ge=2, le=1000)] | None = None
    ways: Annotated[int, Field(ge=1, le=8)] | None = None
    target: str | None = None
    mechanism: MechanismWord = MechanismWord.AIM
    never_missing: Annotated[tuple[str, ...], Field(max_length=500)] = ()
    paid_before: Before | None = None

    def choices(self) -> dict[str, Any]:
        """What the curator takes."""
        bins: int | PrivateBins = self.bins
        if self.private_bins is not None:
            bins = PrivateBins.with_cells(self.private_bins)
        return {
            "columns": self.columns,
            "bins": bins,
            "ways": self.ways,
            "target": self.target,
            "mechanism": mechanism_of(self.mechanism),
            "never_missing": self.never_missing,
        }


class SynthesizeKind(JobKind[SynthesizeRequest]):
    """Answers with all of the model, and the counts of its first column."""

    name = "synthesize"
    request = SynthesizeRequest

    def tables(self, task: Task, request: SynthesizeRequest) -> Collection[str]:
        return (request.table,)

    def run(self, task: Task, request: SynthesizeRequest) -> JobProduct:
        spend = required(request.spend())
        task.require_agreed(spend)
        made = task.session.synthesize(
            request.table,
            **request.choices(),
            spend=spend,
            analyst=task.analyst,
            purpose=task.purpose,
            paid_before=paid_before(request.paid_before),
        )
        first = next(name for name, each in made.encoding.columns.items() if each.size)
        result = {"synthetic": json.loads(made.to_json()), **released(made.table(first))}
        return JobProduct(result=result, question=made.query, release=made.id)
