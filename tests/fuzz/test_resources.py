"""No row makes a question costly: rows, bytes and memory stay within limits, and nothing spills.

The engine's own account of each statement is compared with the limits of ``resources``.
"""

from __future__ import annotations

import pytest

from tests.fuzz.resources import UNITS, profiled

FIXED, EACH = 8, 24
"""Questions under each unit, of which every second one multiplies what Bob has."""
AUDITED = 24


@pytest.mark.parametrize("seed", range(len(UNITS)))
def test_questions_stay_within_public_limits(seed: int) -> None:
    assert profiled(seed, FIXED).faults == []


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(100, 100 + AUDITED))
def test_many_questions_stay_within_public_limits(seed: int) -> None:
    found = profiled(seed, EACH)
    assert found.faults == []
    assert found.asked > 0
