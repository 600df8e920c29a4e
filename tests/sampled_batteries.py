"""Long batteries: about one case in three of a parametrised test is fast, the others are slow.

Which ones goes by a checksum of their names, so that no value of a parameter is left out by its
place in a list; the first of a test is always among them. All cases run in ``make test-slow``; a
case that is named runs whatever it is marked.
"""

from __future__ import annotations

from zlib import crc32

import pytest

ONE_IN = 3

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


def mark_most_as_slow(items: list[pytest.Item]) -> None:
    """Mark the cases that are left to the slow tests."""
    seen: set[str] = set()
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            whole, _, case = item.nodeid.partition("[")
            file = whole.partition("::")[0]
            if file in SAMPLED or file.startswith(SAMPLED_FOLDERS):
                if whole in seen and crc32(case.encode()) % ONE_IN:
                    item.add_marker(pytest.mark.slow)
                seen.add(whole)
