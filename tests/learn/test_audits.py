"""Every estimator, optimiser and learner keeps its claim; the twin of each is refuted.

A sound claim is refuted with probability at most 1e-6 in each audit. Each twin is missed with
probability at most .01, computed from its own audit (`Attacked.chance_of_a_miss`).
``DISCREET_AUDIT_TABLE=audits.md pytest tests/learn/test_audits.py -m audit`` writes the
table of docs/learn.md.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from discreet import learn

from .audits.attack import Attack
from .audits.table import AUDITS, HEADINGS, NOTHING_TO_AUDIT, line

DOCUMENT = Path(__file__).parents[2] / "docs" / "learn.md"
READS_ROWS = ("fit", "minimise", "choose", "answer", "select")


@pytest.fixture(scope="module")
def lines() -> Iterator[list[str]]:
    """The table, written where the environment says once all audits are done."""
    found = ["| " + " | ".join(HEADINGS) + " |", "|---" * len(HEADINGS) + "|"]
    yield found
    if path := os.environ.get("DISCREET_AUDIT_TABLE"):
        Path(path).write_text("\n".join(found) + "\n", encoding="utf-8")


@pytest.mark.audit
@pytest.mark.parametrize("audit", AUDITS, ids=lambda audit: audit.name)
def test_the_claim_stands_and_that_of_the_twin_does_not(audit: Attack, lines: list[str]) -> None:
    sound, twin = audit.of_sound(), audit.of_twin()
    could, caught = sound.finding.lower_bound, twin.finding.lower_bound
    missed = twin.chance_of_a_miss
    lines.append(line(audit, could, caught, missed))
    assert sound.finding.passes
    assert could >= audit.refutes
    assert not twin.finding.passes
    assert missed < 0.01


def test_every_name_that_reads_rows_is_audited() -> None:
    covered = {name for audit in AUDITS for name in audit.covers}
    assert covered | set(NOTHING_TO_AUDIT) == set(learn.__all__)
    assert not covered & set(NOTHING_TO_AUDIT)
    reading = {
        name
        for name in learn.__all__
        if inspect.isclass(kind := getattr(learn, name))
        and any(hasattr(kind, method) for method in READS_ROWS)
    }
    assert reading <= covered
    assert len({audit.name for audit in AUDITS}) == len(AUDITS)


def test_every_audit_stands_in_the_document_with_its_claim() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for audit in AUDITS:
        start = " | ".join(line(audit, 0, 0, 0).split(" | ")[:3]) + " | "
        shown = next((each for each in text.splitlines() if each.startswith(start)), None)
        assert shown is not None, start
        cells = shown.split(" | ")
        assert cells[4] == audit.mistake
        assert audit.refutes <= float(cells[3]) <= audit.epsilon
