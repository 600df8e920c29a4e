"""Intervals that an engine holds for equal, and that move a day to different days.

A month is thirty days to DuckDB when it compares constants, so it computed ``d + INTERVAL 30 DAY``
where a month had been asked for in the same statement, or the other way about.
"""

from __future__ import annotations

import pytest

from tests.relational.expressions.engine import computed, reference, translated
from tests.relational.expressions.rows import awkward_rows

EQUAL = [
    ("d + interval 1 month", "d + interval 30 day"),
    ("d - interval 30 day", "d - interval 1 month"),
    ("d + interval 1 year", "d + interval 360 day"),
    ("m + interval 1 month", "m + interval 720 hour"),
    ("m - interval 2 month", "m - interval 60 day"),
    ("m + interval 1 day", "m + interval 24 hour"),
]


@pytest.mark.parametrize("texts", EQUAL, ids=str)
def test_each_is_computed_by_itself(texts: tuple[str, str]) -> None:
    expressions, rows = [translated(text) for text in texts], awkward_rows(300)
    assert computed(expressions, rows) == reference(expressions, rows)
