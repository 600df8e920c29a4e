import math
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.errors import NoSuchExample
from hypothesis.strategies import SearchStrategy

from discreet.audit.testers import (
    add_remove_pairs,
    awkward_numbers,
    awkward_values,
    replace_pairs,
)
from discreet.core.errors import DiscreetError

Pair = tuple[list[Any], list[Any]]


def identities(rows: list[Any]) -> Counter[str]:
    """NaN equals nothing, so rows are compared by how they are written."""
    return Counter(map(repr, rows))


@given(add_remove_pairs(awkward_values(), max_rows=6))
def test_add_remove_pairs_differ_by_one_row(pair: Pair) -> None:
    here, there = map(identities, pair)
    assert (here - there).total() + (there - here).total() == 1
    assert min(map(len, pair)) <= 6


@given(replace_pairs(awkward_values(), max_rows=6))
def test_replace_pairs_have_equal_size_and_differ_in_at_most_one_row(pair: Pair) -> None:
    here, there = map(identities, pair)
    assert len(pair[0]) == len(pair[1]) >= 1
    assert (here - there).total() <= 1


def is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)


AWKWARD = {
    "NaN": lambda pair: any(map(is_nan, pair[0])),
    "None": lambda pair: None in pair[0],
    "infinity": lambda pair: math.inf in pair[0],
    "nothing": lambda pair: not pair[0],
    "duplicates": lambda pair: max(identities(pair[0]).values(), default=0) > 2,
    "huge integers": lambda pair: any(type(v) is int and abs(v) > 2**62 for v in pair[0]),
    "a row removed": lambda pair: len(pair[0]) > len(pair[1]),
    "a row added": lambda pair: len(pair[0]) < len(pair[1]),
}


def drawn(pairs: SearchStrategy[Pair], wanted: str) -> bool:
    from hypothesis import find

    try:
        find(pairs, AWKWARD[wanted], settings=settings(max_examples=2000, database=None))
    except NoSuchExample:
        return False
    return True


@pytest.mark.parametrize("wanted", AWKWARD)
def test_awkward_cases_are_drawn(wanted: str) -> None:
    assert drawn(add_remove_pairs(awkward_values(), max_rows=6), wanted)


def test_without_hypothesis_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    with pytest.raises(DiscreetError, match="pip install"):
        awkward_numbers()
