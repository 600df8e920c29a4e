"""No text takes more processor time to plan than the documents allow for its length."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.fuzz.long_texts import EACH, FIXED, PER_LETTER, SHAPES, plan_texts

AUDITED = 200
"""Seeds, of five hundred texts each: a hundred thousand texts."""


def test_texts_of_every_shape_are_planned_in_time() -> None:
    found = plan_texts(0, len(SHAPES))
    assert found.faults == []
    assert found.asked == len(SHAPES)
    assert found.accepted > len(SHAPES) / 3


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(1, 1 + AUDITED))
def test_many_texts_are_planned_in_time(seed: int) -> None:
    found = plan_texts(seed, EACH)
    assert found.faults == []
    assert found.accepted > EACH / 3
    assert {"expression_too_large", "public_join_too_large", "unsupported_sql"} <= set(
        found.refused
    )


def test_the_documents_state_the_limit() -> None:
    text = (Path(__file__).parents[2] / "docs/limits.md").read_text(encoding="utf-8")
    stated = re.search(r"(\d+) s and ([\d.]+) ms for each letter", text)
    assert stated is not None
    assert (float(stated[1]), float(stated[2]) / 1000) == (FIXED, PER_LETTER)
