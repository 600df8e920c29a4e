"""What a small question costs, told by what does not depend on the machine: calls of functions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType

import numpy as np
import pytest

import discreet as dp

MOST_CALLS = 6_000
"""Of functions written in Python, ours and the parser's, for one count by a listed key."""


@pytest.fixture
def curator() -> Iterator[dp.Curator]:
    random = np.random.default_rng(1)
    rows = {"ward": random.choice(["A", "B", "C"], 900), "age": random.integers(0, 100, 900)}
    table = dp.table(
        rows,
        unit=dp.Row(),
        columns={"ward": dp.Category(["A", "B", "C"]), "age": dp.Number(0, 110)},
        snapshot="1",
    )
    with dp.Curator(t=table, budget=dp.PureDP(epsilon=100), ledger=dp.ledger.Memory()) as source:
        yield source


def asked(curator: dp.Curator, number: int) -> None:
    """A question in words that were never asked before, at a price of its own."""
    text = f"SELECT ward, COUNT(*) AS n{number} FROM t WHERE age >= {number} GROUP BY ward"
    curator.sql(text, spend=dp.PureDP(epsilon=0.5 + number * 1e-6))


def calls(curator: dp.Curator, number: int) -> int:
    count = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        asked(curator, number)
    finally:
        sys.setprofile(before)
    return count


def test_a_small_question_passes_no_more_functions_than_it_has_to(curator: dp.Curator) -> None:
    """Time on a busy machine says little; a step that is taken twice shows here at once."""
    for number in range(3):
        asked(curator, number)
    assert min(calls(curator, number) for number in range(3, 6)) <= MOST_CALLS
