"""Rows per key and per person: the same numbers on every engine."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet.relational.bounding.hashing import PORTABLE
from tests.relational.conformance.engines import DUCKDB, Maker
from tests.relational.conformance.test_last_bounds import AT_LENGTH
from tests.relational.neighbours.tables import visits
from tests.relational.neighbours.test_hard_plans import ONE_OF_EACH
from tests.relational.neighbours.test_learnt_limits import planned, questions
from tests.relational.neighbours.worlds import Stand

PERSON = dp.Person("pid", max_rows=2)


def numbers(maker: Maker) -> list[list[int]]:
    home = maker.home(PORTABLE)
    try:
        stand = Stand(visits(ONE_OF_EACH * 2, PERSON), home)
        made = [planned(stand, asked) for asked in questions(PERSON)]
        return [[int(n) for n in stand.exact(each).linear[0]] for each in made]
    finally:
        home.close()


@pytest.mark.parametrize("maker", AT_LENGTH)
def test_counts_over_a_ladder_are_equal_on_every_engine(maker: Maker) -> None:
    found = numbers(maker)
    assert found == numbers(DUCKDB)
    assert all(sum(counts) > 0 for counts in found)
