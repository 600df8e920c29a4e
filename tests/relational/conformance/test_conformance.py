"""The same question means the same on every engine: exact numbers are equal, noise aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

import discreet as dp
from discreet.relational.bounding.hashing import NATIVE, PORTABLE, Hashing
from tests.relational.conformance.engines import DUCKDB, Maker, others
from tests.relational.conformance.questions import CASES, GEOMETRIC, UNCUT
from tests.relational.conformance.rows import people, visits
from tests.relational.neighbours.worlds import Setting, Stand


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize("name", CASES)
def test_exact_numbers_are_equal_on_every_engine(name: str, maker: Maker) -> None:
    """With the portable hash, which keeps the same rows wherever bounding cuts."""
    assert list(differences(*CASES[name], maker, PORTABLE)) == []


@pytest.mark.parametrize("maker", others())
@pytest.mark.parametrize("name", UNCUT)
def test_native_hashes_agree_where_nothing_is_cut(name: str, maker: Maker) -> None:
    assert list(differences(*UNCUT[name], maker, NATIVE)) == []


@pytest.mark.parametrize("maker", others())
def test_a_difference_is_seen(maker: Maker) -> None:
    """Native hashes keep different rows where bounding cuts, and the comparison notices."""
    questions = ["SELECT w, MEDIAN(x) AS m, COUNT(DISTINCT x) AS d FROM t GROUP BY w"]
    unit = dp.Person("pid", max_rows=2, max_groups=1)
    assert list(differences(lambda: people(unit), questions, maker, NATIVE)) != []


@pytest.mark.parametrize("maker", others())
def test_geometric_means_are_equal_but_for_the_last_place_of_logarithms(maker: Maker) -> None:
    assert list(farther_apart(maker)) == []


def test_there_are_enough_questions() -> None:
    every = {query for _, questions in CASES.values() for query in questions}
    assert len(every) >= 150


def differences(
    setting: Callable[[], Setting], questions: Sequence[str], maker: Maker, hashing: Hashing
) -> Iterator[str]:
    """The questions to which an engine has other exact numbers than DuckDB."""
    home = maker.home(hashing)
    stands = [Stand(setting(), DUCKDB.home(hashing)), Stand(setting(), home)]
    try:
        for query in questions:
            first, second = (stand.exact(stand.planned(query)) for stand in stands)
            if not first.same(second):
                yield f"{query}: {first}, not {second}"
    finally:
        for stand in stands:
            stand.close()
        home.close()


def farther_apart(maker: Maker) -> Iterator[str]:
    """The geometric means whose sums of logarithms differ by more than a step for each row.

    Logarithms come from each engine's own library, whose last place may differ.
    """
    home = maker.home(PORTABLE)
    stands = [Stand(visits(dp.Row()), DUCKDB.home(PORTABLE)), Stand(visits(dp.Row()), home)]
    try:
        for query in GEOMETRIC:
            (count, one), (same, two) = (
                stand.exact(stand.planned(query)).linear for stand in stands
            )
            near = np.all(np.abs(one - two) <= count)
            if not (near and np.any(one != 0) and np.array_equal(count, same)):
                yield f"{query}: {one}, not {two}"
    finally:
        for stand in stands:
            stand.close()
        home.close()
