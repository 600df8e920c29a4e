"""Long batteries: about one case in three of a parametrised test is fast, the others are slow.

Which ones goes by a checksum of their names and of the commit, so that over time all of them run,
and no value of a parameter is left out by its place in a list; the first of a test is always among
them. The report says which commit; ``DISCREET_SAMPLE=<commit>`` draws the cases of another one
again. Those left out run in ``make test-slow``; a case that is named runs whatever it is marked.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from zlib import crc32

import pytest

ONE_IN = 3
SAMPLE = "DISCREET_SAMPLE"
"""The variable by which all processes of a run draw the same cases."""

SAMPLED = {
    f"tests/{name}.py"
    for name in (
        *("relational/conformance/test_left_out", "relational/conformance/test_last_bounds"),
        *("relational/conformance/test_spark", "relational/conformance/test_joins_and_features"),
        *("relational/bounding/test_row_column", "curator/sub_budgets/test_partitions"),
        *("curator/test_round", "curator/test_same_question", "curator/test_every_verb"),
        *("relational/expressions/test_engine_agrees", "relational/sql/test_public_rows"),
        *("curator/test_extreme_spends", "curator/test_purchase", "learn/test_minimisers"),
        *("relational/conformance/test_conformance", "relational/adversarial/test_lines"),
        *("local/test_channels", "local/test_hostile_schemas", "learn/test_odd_cells"),
        *("learn/test_few_rows", "synthetic/test_few_rows"),
        *("curator/test_stated_delta", "curator/test_bounded_people"),
    )
}
SAMPLED_FOLDERS = tuple(
    f"tests/{name}/"
    for name in (
        *("relational/neighbours", "noise", "mechanisms", "accounting", "queries"),
        *("release/intervals", "core", "calculus", "theory"),
    )
)


def choose_sample() -> str:
    """By which word this run draws its cases: the commit, unless another is asked for."""
    if SAMPLE not in os.environ:
        asked = ("git", "-C", str(Path(__file__).parent), "rev-parse", "--short=12", "HEAD")
        try:
            said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        except OSError:  # without git the same cases are drawn every time
            said = ""
        os.environ[SAMPLE] = said.strip()
    return os.environ[SAMPLE]


def mark_most_as_slow(items: list[pytest.Item], sample: str) -> None:
    """Mark the cases that are left to the slow tests."""
    seen: set[str] = set()
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            whole, _, case = item.nodeid.partition("[")
            file = whole.partition("::")[0]
            if file in SAMPLED or file.startswith(SAMPLED_FOLDERS):
                if whole in seen and crc32(f"{sample} {case}".encode()) % ONE_IN:
                    item.add_marker(pytest.mark.slow)
                seen.add(whole)
