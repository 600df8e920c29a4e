import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from discreet.audit.testers import (
    add_remove_neighbours,
    changed_rows,
    discrete,
    l1,
    l2,
    linf,
    measure,
    replace_neighbours,
    steps,
    symmetric_difference,
    verify,
)
from discreet.audit.testers.sensitivity import data_sets
from discreet.core.errors import InvalidParameter

ABC = ("a", "b", "c")


def histogram(rows: Sequence[Any]) -> list[int]:
    return [Counter(rows)[cell] for cell in ABC]


def test_one_count_has_sensitivity_one() -> None:
    report = verify(
        lambda rows: sum(row == "a" for row in rows),
        declared=1,
        universe=ABC,
        sizes=range(5),
        neighbours=add_remove_neighbours,
        distance=l1,
    )
    assert report.worst == 1
    assert report.witness is not None
    assert symmetric_difference(*report.witness) == 1


@pytest.mark.parametrize("m", [1, 2, 5])
def test_m_overlapping_counts_have_l1_m_and_l2_root_m(m: int) -> None:
    def counts(rows: Sequence[Any]) -> list[int]:
        return [len(rows)] * m

    for distance, declared in ((l1, m), (l2, math.sqrt(m)), (linf, 1)):
        report = verify(
            counts,
            declared=declared,
            universe=ABC,
            sizes=range(3),
            neighbours=add_remove_neighbours,
            distance=distance,
        )
        assert report.worst == pytest.approx(declared)


def test_a_histogram_has_1_under_add_remove_and_2_and_root_2_under_replace() -> None:
    cases = [
        (add_remove_neighbours, l1, 1.0),
        (add_remove_neighbours, l2, 1.0),
        (replace_neighbours, l1, 2.0),
        (replace_neighbours, l2, math.sqrt(2)),
    ]
    for neighbours, distance, declared in cases:
        report = measure(
            histogram, universe=ABC, sizes=range(4), neighbours=neighbours, distance=distance
        )
        assert report.worst == pytest.approx(declared)
        assert report.within(declared)


def test_a_normalised_linear_query_has_one_nth_under_replace() -> None:
    for n in (1, 3, 4):
        report = measure(
            lambda rows: sum(rows) / len(rows),
            universe=(0, 0.5, 1),
            sizes=[n],
            neighbours=replace_neighbours,
            distance=l1,
        )
        assert report.within(1 / n)
        assert report.worst == pytest.approx(1 / n)


def test_the_mean_age_of_n_people_moves_by_a_hundred_over_n() -> None:
    """Ages 0 to 100 and n = 10⁴ give 0.01; here n = 5 gives 20."""
    report = measure(
        lambda rows: sum(rows) / len(rows),
        universe=(0, 37, 100),
        sizes=[5],
        neighbours=replace_neighbours,
        distance=l1,
    )
    assert report.worst == pytest.approx(20)


def test_a_mean_declared_one_nth_is_caught_under_add_remove() -> None:
    """The number of rows is private too, so range/n is false at a single row."""
    with pytest.raises(InvalidParameter, match="sensitivity_too_small"):
        verify(
            lambda rows: sum(rows) / max(1, len(rows)),
            declared=1 / 3,
            universe=(0, 1),
            sizes=range(4),
            neighbours=add_remove_neighbours,
            distance=l1,
        )


def test_a_declared_value_slightly_too_small_is_caught_with_its_witness() -> None:
    with pytest.raises(InvalidParameter, match=r"\('a',\)") as refused:
        verify(
            histogram,
            declared=0.999,
            universe=ABC,
            sizes=range(3),
            neighbours=add_remove_neighbours,
            distance=l1,
        )
    assert refused.value.code == "sensitivity_too_small"


def test_an_empty_check_is_refused_rather_than_passed() -> None:
    with pytest.raises(InvalidParameter, match="no_neighbours"):
        verify(
            len,
            declared=0,
            universe=ABC,
            sizes=[0],
            neighbours=replace_neighbours,
            distance=l1,
        )


def test_a_function_of_row_order_is_exposed() -> None:
    """Keeping the first two rows has stability 1 only if order is fixed by content."""

    def first_two(rows: Sequence[Any]) -> Sequence[Any]:
        return rows[:2]

    report = measure(
        first_two,
        universe=ABC,
        sizes=range(4),
        neighbours=add_remove_neighbours,
        distance=symmetric_difference,
    )
    assert report.worst == 2


def test_nan_and_changing_shapes_are_infinitely_far() -> None:
    nan = math.nan
    assert l1(nan, 1.0) == l2([nan, 0], [0, 0]) == linf([1], [1, 2]) == math.inf
    assert l1([nan, math.inf], [nan, math.inf]) == 0
    assert linf(math.inf, -math.inf) == math.inf
    assert linf([], []) == l2([], []) == 0
    report = measure(
        sum,
        universe=(0.0, nan),
        sizes=[1],
        neighbours=add_remove_neighbours,
        distance=l1,
    )
    assert report.worst == math.inf


def test_a_distance_that_is_nan_counts_as_infinite() -> None:
    report = measure(
        len,
        universe=ABC,
        sizes=[1],
        neighbours=add_remove_neighbours,
        distance=lambda *_: math.nan,
    )
    assert report.worst == math.inf


def test_two_steps_double_a_count_and_join_into_one_replacement() -> None:
    two = steps(add_remove_neighbours, 2)
    assert measure(len, universe=ABC, sizes=range(3), neighbours=two, distance=l1).worst == 2
    replaced = set(replace_neighbours(("a", "b"), ABC))
    assert replaced <= set(two(("a", "b"), ABC))


def test_neighbours_are_exactly_those_at_distance_one() -> None:
    sets = list(data_sets(ABC, range(4)))
    assert len(sets) == 1 + 3 + 6 + 10
    for rows in data_sets(ABC, range(3)):
        near = {tuple(sorted(map(str, other))) for other in add_remove_neighbours(rows, ABC)}
        assert near == {other for other in sets if symmetric_difference(rows, other) == 1}
        swapped = {tuple(sorted(map(str, other))) for other in replace_neighbours(rows, ABC)}
        assert swapped == {other for other in sets if changed_rows(rows, other) == 1}


def test_the_discrete_distance_tells_equal_from_unequal() -> None:
    assert (discrete("a", "a"), discrete("a", "b")) == (0, 1)
