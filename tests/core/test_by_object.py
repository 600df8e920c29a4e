"""What was made of an object is kept for that very object, and for so many."""

from __future__ import annotations

import gc

from discreet.core.by_object import MANY, ByObject


def test_the_same_object_is_worked_on_once() -> None:
    made, asked = ByObject[list[object]](4), [1, 2]
    first = made.of(asked, list)
    assert made.of(asked, list) is first


def test_equal_objects_are_told_apart() -> None:
    texts, whole, truth = ByObject[str](4), (1,), (True,)
    assert whole == truth
    assert [texts.of(each, repr) for each in (whole, truth)] == ["(1,)", "(True,)"]


def test_no_other_object_takes_the_place_of_one_that_is_known() -> None:
    lengths = ByObject[int](100_000)
    for number in range(2_000):
        assert lengths.of([0] * (number % 7), len) == number % 7
        gc.collect(0)


def test_no_more_than_so_many_are_kept() -> None:
    lengths = ByObject[int](3)
    for number in range(10):
        lengths.of([number], len)
        assert 1 <= len(lengths) <= 3


def test_short_lists_are_not_kept() -> None:
    lengths = ByObject[int](3)
    assert lengths.of_long([0] * (MANY - 1), len) == MANY - 1
    assert len(lengths) == 0
    assert lengths.of_long([0] * MANY, len) == MANY
    assert len(lengths) == 1
