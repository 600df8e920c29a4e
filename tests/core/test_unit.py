"""Units: the contract's formula for group counts is the truth over all allocations."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from discreet.core.domain import Graph
from discreet.core.errors import InvalidParameter, Mismatch
from discreet.core.unit import Edge, Node, Person, Replace, Row, across_silos

SMALL = [
    (rows, groups, most)
    for rows in range(1, 7)
    for groups in (None, 1, 2, 3)
    for most in (None, 1, 2, 3, 7)
]


def allocations(rows: int, groups: int | None, most: int | None) -> list[tuple[int, ...]]:
    """Every way to put at most ``rows`` rows into groups, within the bounds."""
    cells = min(groups or rows, rows)
    each = range(min(most or rows, rows) + 1)
    return [a for a in itertools.product(each, repeat=cells) if sum(a) <= rows]


@pytest.mark.parametrize(("rows", "groups", "most"), SMALL)
def test_group_counts_are_as_sensitive_as_the_worst_person(
    rows: int, groups: int | None, most: int | None
) -> None:
    unit = Person("id", max_rows=rows, max_groups=groups, max_rows_per_group=most)
    stated = unit.group_counts()
    every = allocations(rows, groups, most)
    assert stated.l1 == max(sum(a) for a in every)
    assert stated.linf == max(max(a) for a in every)
    squares = max(sum(n * n for n in a) for a in every)
    assert stated.l2 == pytest.approx(math.sqrt(squares))
    assert Fraction(stated.l2) ** 2 >= squares, "sensitivities round upward"


def test_the_formula_of_the_contract() -> None:
    counts = Person("id", max_rows=20, max_groups=5, max_rows_per_group=6).group_counts()
    assert (counts.l1, counts.linf) == (20, 6)
    assert counts.l2 == pytest.approx(math.sqrt(3 * 36 + 4))
    whole = Person("id", max_rows=20, max_groups=2, max_rows_per_group=6).group_counts()
    assert (whole.l1, whole.linf) == (12, 6)


def test_without_a_bound_nothing_is_bounded() -> None:
    with pytest.raises(InvalidParameter, match="unbounded_person"):
        Person("id", max_groups=3).group_counts()


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "3", math.nan])
def test_bounds_are_whole_and_positive(bad: Any) -> None:
    for name in ("max_rows", "max_groups", "max_rows_per_group"):
        with pytest.raises(InvalidParameter):
            Person("id", **{name: bad})


@pytest.mark.parametrize("bad", ["", None, 3])
def test_a_person_needs_an_identifier(bad: Any) -> None:
    with pytest.raises(InvalidParameter, match="unit_without_identifier"):
        Person(bad)


def test_bounds_of_silos_add_up() -> None:
    east = Person("id", max_rows=2, max_groups=1)
    west = Person("id", max_rows=3, max_groups=2, max_rows_per_group=2)
    together = across_silos(east, west)
    assert together == Person("id", max_rows=5, max_groups=3, max_rows_per_group=4)
    worst = max(
        sum((a + b) ** 2 for a, b in zip(e, w, strict=True))
        for e in ((2, 0, 0), (1, 0, 0))
        for w in itertools.product(range(3), repeat=3)
        if sum(w) <= 3 and sum(map(bool, w)) <= 2
    )
    assert together.group_counts().l2 ** 2 >= worst


@pytest.mark.parametrize(
    "units",
    [
        (),
        (Row(), Row()),
        (Person("id", max_rows=1), Row()),
        (Person("id", max_rows=1), Person("name", max_rows=1)),
        (Replace(Row()), Person("id", max_rows=1)),
    ],
)
def test_silos_without_a_common_person_are_refused(units: Any) -> None:
    with pytest.raises(Mismatch, match="silos_without_common_person"):
        across_silos(*units)


def test_replace_is_another_unit() -> None:
    units: list[Any] = [Row(), Person("id"), Edge(), Node()]
    replaced = [Replace(unit) for unit in units]
    assert len({*units, *replaced}) == 8
    wrong: list[Any] = [Replace(Row()), "row", None]
    for bad in wrong:
        with pytest.raises(InvalidParameter, match="not_a_unit"):
            Replace(bad)


@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_node_of_a_complete_graph_is_n_minus_one_edges(n: int) -> None:
    graph = Graph.of(range(n), list(itertools.combinations(range(n), 2)))
    assert len(graph.edges) - len(graph.without(0).edges) == n - 1
