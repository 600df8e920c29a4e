"""The brute-force check refutes transformations that claim too little: it could have failed."""

from __future__ import annotations

from typing import Any

import pytest

from discreet import calculus as t
from discreet.audit.testers import BrokenTwin, check_pair
from discreet.calculus.transformation import Transformation, stable
from discreet.core.domain import Integers, Rows, Vector
from discreet.core.metric import L1, AddRemove, ChangeOne, Hamming
from discreet.core.space import Space
from tests.calculus import stability
from tests.calculus.stability import Anything, nullable_reals


class Honest:
    """Whether declared stability covers what brute force finds, reordering included."""

    def __init__(self, transformation: Transformation[Any, Any]) -> None:
        universe = stability.AWKWARD
        self.passes = stability.worst_reordering(transformation, universe) == 0 and all(
            stability.worst(transformation, universe, d).within(transformation.map(d))
            for d in (1, 2)
        )


def declaring(transformation: Transformation[Any, Any], factor: float) -> Transformation[Any, Any]:
    return Transformation(
        transformation.input, transformation.output, transformation.function, stable(factor)
    )


def keep(row: Any) -> bool:
    return bool(row == "a")


ROWS, EXCHANGED = stability.under_add_remove(), stability.under_change_one()
HISTOGRAM = t.histogram(EXCHANGED, ("a", 3))
FLAT = t.flat_map_rows(ROWS, lambda row: [row, row], Anything(), at_most=2)
NULLS = t.sum_rows(stability.under_change_one(nullable_reals()), lower=2, upper=3, grid=1)
FIRST_OF_BLOCK = t.sample_and_aggregate(
    ROWS,
    blocks=2,
    block_of=lambda row: 0 if row == "a" else 1,
    function=lambda rows: rows[0],
    output=Anything(),
    metric=Hamming(),
)


def first_by_position(rows: Any) -> tuple[Any, ...]:
    blocks = [[row for row in rows if keep(row)], [row for row in rows if not keep(row)]]
    return tuple(block[0] if block else None for block in blocks)


def running_state() -> Transformation[Any, Any]:
    """A map whose function remembers having seen one record: not pure, so not 1-stable."""

    def apply(rows: Any) -> tuple[Any, ...]:
        seen = False
        images = []
        for row in rows:
            seen = seen or row == "a"
            images.append(seen)
        return tuple(images)

    return Transformation(ROWS, Space(Rows(Anything()), AddRemove()), apply, stable(1))


TWINS: list[BrokenTwin[Transformation[Any, Any]]] = [
    BrokenTwin(
        "filter under change-one",
        t.filter_rows(EXCHANGED, keep),
        Transformation(
            EXCHANGED,
            EXCHANGED,
            t.filter_rows(EXCHANGED, keep).function,
            stable(1),
        ),
        "the number of rows that remain is not public",
    ),
    BrokenTwin(
        "histogram under change-one", HISTOGRAM, declaring(HISTOGRAM, 1), "an exchange moves two"
    ),
    BrokenTwin("flat map", FLAT, declaring(FLAT, 1), "one row gives two"),
    BrokenTwin("sum with nulls", NULLS, declaring(NULLS, 1), "a null counts 0, outside the bounds"),
    BrokenTwin(
        "blocks into symmetric difference",
        t.sample_and_aggregate(
            ROWS,
            blocks=2,
            block_of=lambda row: 0 if row == "a" else 1,
            function=len,
            output=Integers(),
            metric=AddRemove(),
        ),
        Transformation(
            ROWS,
            Space(Rows(Integers()), AddRemove()),
            lambda rows: (sum(map(keep, rows)), sum(not keep(row) for row in rows)),
            stable(1),
        ),
        "one value changed is one removed and one added",
    ),
    BrokenTwin(
        "order within a block",
        FIRST_OF_BLOCK,
        Transformation(ROWS, FIRST_OF_BLOCK.output, first_by_position, stable(1)),
        "the first row by position depends on the order",
    ),
    BrokenTwin(
        "a function with a memory",
        t.map_rows(ROWS, keep, Anything()),
        running_state(),
        "one row changes the images of those after it",
    ),
    BrokenTwin(
        "cells by position",
        t.histogram(ROWS, ("a",)),
        Transformation(
            ROWS,
            Space(Vector(Integers(), 2), L1()),
            lambda rows: (sum(map(keep, rows[::2])), sum(map(keep, rows[1::2]))),
            stable(1),
        ),
        "a row removed moves all later rows to the other cell",
    ),
]


@pytest.mark.parametrize("twin", TWINS, ids=lambda twin: twin.name)
def test_the_broken_twin_is_caught(twin: BrokenTwin[Transformation[Any, Any]]) -> None:
    check_pair(twin, Honest)


def test_a_filter_that_keeps_change_one_is_infinitely_unstable() -> None:
    broken = TWINS[0].broken
    assert broken.output.metric == ChangeOne()
    assert stability.worst(broken, stability.AWKWARD, 1).worst == float("inf")
