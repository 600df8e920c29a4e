"""Simulation: the query as it would run, on rows invented from the schema, for nothing.

No private row is read, nothing is charged, and the release says that its rows were invented.

Source: 004d:D20.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.curator.context import Context, open_context
from discreet.curator.left_out import require_left_out
from discreet.curator.sql import answer_sql, planned_at
from discreet.ledger import Memory
from discreet.relational.execute.invented_rows import invented
from discreet.relational.plan.left_out import LeftOut
from discreet.release import Release

MARK = "simulation: the rows were invented from the schema; this says nothing about the data"


def simulate(
    context: Context,
    text: str,
    *,
    spend: Guarantee,
    rows: int,
    confidence: float,
    left_out: LeftOut | None = None,
) -> Release:
    """Ask about invented rows, from a budget that is the spend."""
    query = context.question(text)
    require_left_out(left_out)
    planned = planned_at(context, query, spend, left_out=left_out)
    context.policies.require_askable(query, planned.price)
    with tempfile.TemporaryDirectory(prefix="simulation-") as folder:
        tables = invented(context.database, count("rows", rows), Path(folder))
        stage = open_context(tables, budget=spend, ledger=Memory()).limited(context.max_rows_per)
        try:
            release = answer_sql(
                stage,
                text,
                spend=spend,
                confidence=confidence,
                analyst="simulation",
                purpose=None,
                left_out=left_out,
            )
        finally:
            stage.database.close()
    marked = {**release.statement, "invented": True}
    return replace(release, warnings=(MARK, *release.warnings), statement=marked)
