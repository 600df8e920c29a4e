"""A rehearsal: the question as it would run, on rows invented from the schema, for nothing.

No private row is read, nothing is charged, and the release says that it is a rehearsal.

Source: 004d:D20.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from discreet.core.guarantee import Guarantee
from discreet.core.parameters import count
from discreet.relational.database import Database
from discreet.relational.execute.invented_rows import invented
from discreet.release import Release

MARK = "rehearsal: the rows were invented from the schema; this says nothing about the data"


def rehearse(
    text: str, database: Database, *, spend: Guarantee, rows: int, confidence: float
) -> Release:
    """Ask a curator of invented rows, whose whole budget is the spend."""
    from discreet.curator.curator import Curator
    from discreet.ledger import Memory

    with tempfile.TemporaryDirectory(prefix="rehearsal-") as folder:
        tables: dict[str, Any] = {**invented(database, count("rows", rows), Path(folder))}
        with Curator(budget=spend, ledger=Memory(), **tables) as stage:
            release = stage.sql(text, spend=spend, confidence=confidence, asker="rehearsal")
    marked = {**release.statement, "invented": True}
    return replace(release, warnings=(MARK, *release.warnings), statement=marked)
