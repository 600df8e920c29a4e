"""What an answer would look like, and cost: errors, price, how many such are left. Free."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

from discreet.release.preview import Expected, Preview
from discreet.server.jobs.json_values import plain_value
from discreet.server.jobs.kind import JobKind, JobProduct, Task
from discreet.server.jobs.sql import SqlRequest
from discreet.server.spends import spend_to_dict


class PreviewRequest(SqlRequest):
    """The question; with an accuracy instead of a price, the price is what is asked for."""

    kind: Literal["sql"] = "sql"


class PreviewKind(JobKind[PreviewRequest]):
    """Reads no private row, so it leaves at once."""

    name = "preview"
    request = PreviewRequest
    reads_data = False
    kept = False

    def run(self, task: Task, request: PreviewRequest) -> JobProduct:
        found = task.session.preview(request.sql, **request.terms())
        return JobProduct(result=previewed(found))


def previewed(preview: Preview) -> dict[str, Any]:
    """A preview for JSON, with its words; what another budget would allow is the owner's affair."""
    preview = replace(preview, affordable_by_zcdp=None)
    return {
        "columns": [_expected(each) for each in preview.columns],
        "left_out": [_expected(each) for each in preview.left_out],
        "confidence": preview.confidence,
        "cells": preview.cells,
        "keys": preview.keys,
        "price": spend_to_dict(preview.price),
        "affordable": preview.affordable,
        "affordable_by_zcdp": preview.affordable_by_zcdp,
        "free": preview.is_free,
        "text": str(preview),
    }


def _expected(column: Expected) -> dict[str, Any]:
    return {
        "name": column.name,
        "half_width": plain_value(column.half_width),
        "by_size": [[size, plain_value(width)] for size, width in column.by_size],
        "typical": [[size, plain_value(width)] for size, width in column.typical],
        "note": column.note,
    }
