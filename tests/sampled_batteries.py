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
        *("relational/neighbours/test_left_out", "relational/neighbours/test_person_statistics"),
        *("relational/neighbours/test_hard_plans", "relational/neighbours/test_limits"),
        *("relational/neighbours/test_public_rows", "relational/neighbours/test_person_windows"),
        *("relational/neighbours/test_key_joins", "relational/neighbours/test_last_bounds"),
        *("relational/neighbours/test_twins", "relational/neighbours/test_weight_twins"),
        *("relational/conformance/test_left_out", "relational/conformance/test_last_bounds"),
        *("relational/conformance/test_spark", "relational/conformance/test_joins_and_features"),
        *("relational/bounding/test_row_column", "accounting/test_composition"),
        *("accounting/adaptive/test_filter_adversary", "curator/sub_budgets/test_partitions"),
        *("curator/test_round", "curator/test_same_question"),
        *("relational/expressions/test_engine_agrees", "relational/sql/test_public_rows"),
        *("queries/test_records_per_person", "queries/planning/test_more_budget"),
        *("curator/test_extreme_spends", "curator/test_purchase", "release/intervals/test_ratio"),
        *("noise/test_few", "noise/test_table", "noise/test_shares", "noise/test_laplace"),
        *("noise/test_norm", "mechanisms/robust/test_smooth_sensitivity"),
    )
}


def mark_most_as_slow(items: list[pytest.Item]) -> None:
    """Mark the cases that are left to the slow tests."""
    seen: set[str] = set()
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            whole, _, case = item.nodeid.partition("[")
            if whole.partition("::")[0] in SAMPLED:
                if whole in seen and crc32(case.encode()) % ONE_IN:
                    item.add_marker(pytest.mark.slow)
                seen.add(whole)
