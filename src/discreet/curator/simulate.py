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
from discreet.curator.sql import answer_sql, planned_at
from discreet.ledger import Memory
from discreet.relational.execute.invented_rows import invented
from discreet.release import Release

MARK = "simulation: the rows were invented from the schema; this says nothing about the data"


def simulate(
    context: Context, text: str, *, spend: Guarantee, rows: int, confidence: float
) -> Release:
    """Ask about invented rows, from a budget that is the spend."""
    query = context.question(text)
    context.policies.require_askable(query, planned_at(context, query, spend).spend)
    with tempfile.TemporaryDirectory(prefix="simulation-") as folder:
        tables = invented(context.database, count("rows", rows), Path(folder))
        stage = open_context(tables, budget=spend, ledger=Memory())
        try:
            release = answer_sql(
                stage,
                text,
                spend=spend,
                confidence=confidence,
                analyst="simulation",
                purpose=None,
            )
        finally:
            stage.database.close()
    marked = {**release.statement, "invented": True}
    return replace(release, warnings=(MARK, *release.warnings), statement=marked)
