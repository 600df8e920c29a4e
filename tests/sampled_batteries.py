"""Long batteries: every second case of a parametrised test is fast, the others are slow.

All cases run in ``make test-slow``; a case that is named runs whatever it is marked.
"""

from __future__ import annotations

from collections import Counter

import pytest

SAMPLED = {
    f"tests/{name}.py"
    for name in (
        *("relational/neighbours/test_left_out", "relational/neighbours/test_person_statistics"),
        *("relational/neighbours/test_hard_plans", "relational/neighbours/test_limits"),
        *("relational/neighbours/test_public_rows", "relational/neighbours/test_person_windows"),
        *("relational/neighbours/test_key_joins", "relational/expressions/test_engine_agrees"),
        *("queries/test_records_per_person", "queries/planning/test_more_budget"),
        *("curator/test_extreme_spends", "release/intervals/test_ratio"),
        *("noise/test_few", "noise/test_table", "noise/test_shares"),
    )
}


def mark_every_second(items: list[pytest.Item]) -> None:
    """Mark cases as slow, in the order in which they are collected."""
    seen: Counter[str] = Counter()
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            place = item.nodeid.partition("::")[0]
            whole = item.nodeid.partition("[")[0]
            if place in SAMPLED:
                seen[whole] += 1
                if seen[whole] % 2 == 0:
                    item.add_marker(pytest.mark.slow)
