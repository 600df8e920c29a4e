"""Elastic sensitivity is never below what one row can do, and smooth sensitivity is smooth."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import pytest

from discreet.theory import elastic_join, elastic_self_join, smooth_linear

Table = tuple[int, ...]
"""How many rows each key has."""
Tables = tuple[Table, ...]
KEYS, MOST = 2, 3


def joined(data: Tables) -> int:
    left, right = data
    return sum(a * b for a, b in zip(left, right, strict=True))


def squared(data: Tables) -> int:
    return sum(a * a for a in data[0])


def neighbours(data: Tables) -> Iterator[Tables]:
    """One row more or one fewer, of any table and key."""
    for place, table in enumerate(data):
        for key in range(len(table)):
            for change in (1, -1):
                if table[key] + change >= 0:
                    other = (*table[:key], table[key] + change, *table[key + 1 :])
                    yield (*data[:place], other, *data[place + 1 :])


def local(count: Callable[[Tables], int], data: Tables) -> int:
    return max(abs(count(data) - count(other)) for other in neighbours(data))


def most(table: Table) -> int:
    return max(table)


CASES: dict[str, tuple[int, Callable[[Tables], int], Callable[[Tables, int], int]]] = {
    "two tables": (
        2,
        joined,
        lambda data, k: elastic_join(left=most(data[0]), right=most(data[1]), distance=k),
    ),
    "itself": (1, squared, lambda data, k: elastic_self_join(most=most(data[0]), distance=k)),
}


@pytest.mark.parametrize("name", CASES)
def test_it_bounds_the_local_sensitivity_of_all_small_tables_and_their_surroundings(
    name: str,
) -> None:
    tables, counted, elastic = CASES[name]
    table = list(product(range(MOST + 1), repeat=KEYS))
    attained = 0
    for data in product(table, repeat=tables):
        near = {data}
        for distance in range(3):
            largest = max(local(counted, other) for other in near)
            assert largest <= elastic(data, distance)
            attained += largest == elastic(data, distance)
            near |= {other for each in near for other in neighbours(each)}
    assert attained > 0.9 * 3 * len(table) ** tables  # and no smaller one would do


@pytest.mark.parametrize("beta", [0.01, 0.2, 1.5])
@pytest.mark.parametrize("name", CASES)
def test_smooth_sensitivity_changes_by_exp_beta_at_most(name: str, beta: float) -> None:
    tables, counted, elastic = CASES[name]
    numbers = np.random.default_rng(5)

    def smooth(data: Tables) -> float:
        slope = elastic(data, 1) - elastic(data, 0)
        return smooth_linear(start=max(elastic(data, 0), 1), slope=slope, beta=beta)

    for _ in range(60):
        data = tuple(tuple(numbers.integers(0, 40, 3).tolist()) for _ in range(tables))
        for other in neighbours(data):
            assert smooth(data) <= math.exp(beta) * smooth(other) * (1 + 1e-12)
        assert smooth(data) >= local(counted, data)


def test_the_greatest_frequency_alone_is_not_smooth() -> None:
    """The twin: noise scaled to local sensitivity, which may double from neighbour to neighbour."""
    one, two = (((1,), (1,)), ((2,), (1,)))
    assert local(joined, two) > math.exp(0.2) * local(joined, one)


@pytest.mark.parametrize(("start", "slope", "beta"), [(1, 1, 0.01), (11, 2, 0.0345), (500, 1, 0.5)])
def test_the_largest_product_is_found(start: int, slope: int, beta: float) -> None:
    every = np.arange(5000)
    wanted = ((start + slope * every) * np.exp(-beta * every)).max()
    assert smooth_linear(start=start, slope=slope, beta=beta) == pytest.approx(wanted, rel=1e-12)
