"""Odd identifiers: who is nobody, who is the same, and that both users of them hold."""

from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.person_key import is_missing, person_key
from discreet.core.unit import Person
from discreet.learn.privacy import Privacy
from discreet.queries.workload.universe import Universe
from discreet.synthetic.bounded_records import bounded_records

NOBODY = [
    *(None, float("nan"), np.float32("nan"), Decimal("NaN"), Decimal("sNaN")),
    *(np.datetime64("NaT"), np.timedelta64("NaT"), complex("nan"), np.array([1, 2])),
]
ODD: list[Any] = [
    *(0, -1, 2**70, True, 1.5, float("inf"), np.int8(3), np.float64(2.0), Decimal("1.10")),
    *("", "a", "\ud800", "x\x00", b"a", np.str_("a"), [1, 2], {"a": 1}, {1, 2}, (1, [2])),
    *(Fraction(1, 3), date(2024, 1, 1), datetime(2024, 1, 1), np.datetime64("2024-01-01")),
]


@pytest.mark.parametrize("value", NOBODY, ids=repr)
def test_what_is_not_equal_to_itself_is_nobody(value: object) -> None:
    assert is_missing(value)


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_anything_else_is_somebody(value: object) -> None:
    assert not is_missing(value)
    assert hash(person_key(value)) == hash(person_key(value))


def test_a_person_is_the_same_in_whatever_type_a_number_is_held() -> None:
    assert len({person_key(each) for each in (7, 7.0, np.int16(7), np.float32(7))}) == 1
    assert (
        len({person_key(each) for each in (7, Decimal("7.0"), Decimal("7.00"), Fraction(7))}) == 1
    )
    assert len({person_key(each) for each in ("7", b"7", 7, Decimal("7.1"))}) == 4


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([*ODD, *NOBODY]), max_size=40), st.integers(1, 3))
def test_nobody_counts_and_everybody_is_bounded_here_and_in_learning(
    people: list[Any], most: int
) -> None:
    unit = Person("id", max_rows=most)
    codes = np.zeros((len(people), 1), dtype=np.int64)
    named = [person_key(each) for each in people if not is_missing(each)]
    expected = sum(min(most, named.count(each)) for each in set(named))
    assert len(bounded_records(Universe.of(a=range(2)), codes, unit, people).codes) == expected
    if people:
        learning = Privacy(None, unit)  # type: ignore[arg-type]
        assert learning.choose_rows_to_keep(len(people), people).sum() == expected


def own(kind: type) -> type:
    """A type derived from another, whose values are equal to nothing but themselves."""
    members = {"__eq__": lambda self, other: self is other, "__hash__": object.__hash__}
    return type(f"Own{kind.__name__}", (kind,), members)


@pytest.mark.parametrize("value", [7, 7.5, "a", b"a"], ids=repr)
def test_a_type_of_one_s_own_is_nobody_else(value: Any) -> None:
    made = own(type(value))
    people = [value, *(made(value) for _ in range(9))]
    assert len({person_key(each) for each in people}) == 1
    assert type(person_key(made(value))[1]) is type(value)
    universe = Universe.of(a=range(2))
    codes = np.zeros((len(people), 1), dtype=np.int64)
    kept = bounded_records(universe, codes, Person("id", max_rows=2), people)
    assert len(kept.codes) == 2
