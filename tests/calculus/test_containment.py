"""A user's function that trips over one record says nothing about that record (004d:F20)."""

from __future__ import annotations

import asyncio
import logging
import sys
import warnings
from typing import Any

import numpy as np
import pytest

from discreet import calculus as t
from discreet.core.domain import Integers
from discreet.core.metric import Hamming
from tests.calculus.stability import Anything, under_add_remove

ROWS = under_add_remove()


class Unspeakable:
    """A value whose every operation raises."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError

    def __bool__(self) -> bool:
        raise RuntimeError

    def __hash__(self) -> int:
        raise RuntimeError


def raising(row: Any) -> Any:
    errors = (ValueError("secret"), SystemExit(3), GeneratorExit(), asyncio.CancelledError())
    if isinstance(row, int) and row < len(errors):
        raise errors[row]
    if row == "recursion":
        return raising(row)
    return Unspeakable() if row == "unspeakable" else row


def talking(row: Any) -> Any:
    print(f"seen {row}")  # noqa: T201
    print(f"seen {row}", file=sys.stderr)  # noqa: T201
    warnings.warn(f"seen {row}", stacklevel=1)
    logging.getLogger("talk").critical("seen %s", row)
    return np.float64(1) / np.float64(row)


TROUBLE: tuple[Any, ...] = (0, 1, 2, 3, "recursion", "unspeakable", 7)


def test_a_row_on_which_the_function_raises_becomes_null() -> None:
    assert t.map_rows(ROWS, raising, Integers())(TROUBLE) == (*[None] * 6, 7)


def test_a_predicate_or_key_that_raises_leaves_the_row_out() -> None:
    assert t.filter_rows(ROWS, raising)(TROUBLE) == (7,)
    assert t.histogram(ROWS, (7, 1), key=raising)(TROUBLE) == (1, 0)
    assert t.partition(ROWS, (7,), raising)(TROUBLE) == {7: (7,)}


def test_a_generator_that_raises_midway_gives_nothing() -> None:
    def several(row: Any) -> Any:
        yield 1
        yield raising(row)

    assert t.flat_map_rows(ROWS, several, Integers(), at_most=2)((0, 7)) == (1, 7)
    assert t.flat_map_rows(ROWS, several, Integers(), at_most=1)((0, 7)) == (1, 1)


def test_an_endless_generator_is_cut() -> None:
    def endless(row: Any) -> Any:
        while True:
            yield row

    assert t.flat_map_rows(ROWS, endless, Integers(), at_most=3)((4,)) == (4, 4, 4)


def test_a_block_on_which_the_function_raises_becomes_null() -> None:
    values = t.sample_and_aggregate(
        ROWS,
        blocks=8,
        block_of=lambda row: row if isinstance(row, int) else raising(row),
        function=lambda rows: raising(rows[0]),
        output=Integers(),
        metric=Hamming(),
    )
    assert values(TROUBLE) == (*[None] * 7, 7)


def test_nothing_is_printed_warned_or_logged(
    capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    mapped = t.map_rows(ROWS, talking, Anything())((2, 0))
    assert mapped[0] == 0.5
    for build in (t.filter_rows, lambda space, f: t.histogram(space, (1,), key=f)):
        build(ROWS, talking)((2, 0))
    t.partition(ROWS, (1,), talking)((2, 0))
    assert capfd.readouterr() == ("", "")
    assert caplog.records == []


def test_the_result_does_not_depend_on_the_warning_filter() -> None:
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        relaxed = t.map_rows(ROWS, talking, Anything())((2, 0, 5))
    assert t.map_rows(ROWS, talking, Anything())((2, 0, 5)) == relaxed


def test_logging_and_output_are_restored() -> None:
    before = (sys.stdout, sys.stderr, logging.root.manager.disable, list(warnings.filters))
    t.map_rows(ROWS, raising, Integers())(TROUBLE)
    assert (sys.stdout, sys.stderr, logging.root.manager.disable, warnings.filters) == before


def test_the_callers_own_interrupt_passes() -> None:
    def interrupted(row: Any) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        t.map_rows(ROWS, interrupted, Integers())((1,))


def test_values_outside_the_declared_records_become_null() -> None:
    assert t.map_rows(ROWS, lambda row: row, Integers(0, 5))((3, 9, 2.5, "a", True)) == (
        3,
        None,
        None,
        None,
        None,
    )
