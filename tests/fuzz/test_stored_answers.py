"""Whatever is found in the ledger is read as it was drawn: no answer is far from the truth.

False alarms: an interval misses the truth by noise alone once in 10**9; the fast share has about
200 of them, the long one 20 000.
"""

from __future__ import annotations

import pytest

from tests.fuzz.stored_answers import BUDGETS, asked_at_random

FIXED, EACH = 60, 200
AUDITED = 30
WAYS = {
    f"{way}: {end}" for way in ("accuracy", "spend", "its own price") for end in ("free", "paid")
}


@pytest.mark.parametrize("seed", [0, 2], ids=["epsilon and delta", "Renyi"])
def test_answers_that_are_found_again_are_true(seed: int) -> None:
    told = asked_at_random(seed, FIXED)
    assert told.faults == []
    assert told.ways.total() == FIXED
    assert WAYS - {"its own price: paid"} <= set(told.ways)


@pytest.mark.audit
@pytest.mark.parametrize("seed", range(100, 100 + AUDITED))
def test_many_answers_that_are_found_again_are_true(seed: int) -> None:
    told = asked_at_random(seed, EACH if seed % len(BUDGETS) != 1 else EACH // 4)
    assert told.faults == []
