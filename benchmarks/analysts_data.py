"""The reference distribution of the analyst benchmarks, and tables of real people in twelve bits.

Twelve bits: some independent ones, a chain in which each bit mostly repeats the one before, and
one that is mostly the exclusive or of two others, which no two-way marginal shows. With more bits
the chain is longer.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray
from peers import ROOT

from discreet.queries.workload.universe import Universe

sys.path.append(str(ROOT / "examples"))

BITS = 12
Counts = NDArray[np.int64]


def reference_universe(bits: int = BITS) -> Universe:
    """So many bits."""
    return Universe.of(**{f"b{place}": range(2) for place in range(bits)})


def reference_law(bits: int = BITS) -> NDArray[np.float64]:
    """The probability of each cell, 4096 of them for twelve bits."""
    cells = np.indices((2,) * bits).reshape(bits, -1)
    ones = (0.5, 0.3, 0.2, 0.4)
    law = np.ones(cells.shape[1])
    for place, share in enumerate(ones):
        law *= np.where(cells[place], share, 1 - share)
    for place in range(len(ones), bits - 1):
        law *= np.where(cells[place] == cells[place - 1], 0.8, 0.2)
    law *= np.where(cells[bits - 1] == cells[0] ^ cells[7], 0.9, 0.1)
    return np.asarray(law / law.sum())


def reference_counts(records: int, seed: int = 0, bits: int = BITS) -> Counts:
    """Records drawn from the law."""
    return np.random.default_rng(seed).multinomial(records, reference_law(bits))


def conjunctions(
    many: int, seed: int = 1, bits: int = BITS
) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Random three-way conjunctions: places and values of each."""
    numbers = np.random.default_rng(seed)
    places = np.sort(np.argsort(numbers.random((many, bits)), axis=1)[:, :3], axis=1)
    return places, numbers.integers(0, 2, (many, 3)).astype(np.uint8)


def query_rows(places: NDArray[np.int64], values: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A row of zeros and ones over the cells for each conjunction."""
    cells = np.indices((2,) * BITS).reshape(BITS, -1).astype(np.uint8)
    kinds, where = np.unique(np.hstack([places, values]), axis=0, return_inverse=True)
    ways = places.shape[1]
    distinct = [(cells[kind[:ways]] == kind[ways:, None]).all(axis=0) for kind in kinds]
    return np.array(distinct, dtype=np.uint8)[where.ravel()]


def conjunction_answers(
    table: NDArray[np.float64], places: NDArray[np.int64], values: NDArray[np.uint8]
) -> NDArray[np.float64]:
    """The share of a table of counts in each conjunction."""
    bits = table.size.bit_length() - 1
    cube = np.asarray(table, dtype=np.float64).reshape((2,) * bits)
    total = float(cube.sum())
    found = np.empty(len(places))
    kinds, where = np.unique(places, axis=0, return_inverse=True)
    for kind, kept in enumerate(kinds):
        others = tuple(place for place in range(bits) if place not in kept)
        marginal = cube.sum(axis=others) / total
        asked = np.flatnonzero(where.ravel() == kind)
        found[asked] = marginal[tuple(values[asked].T)]
    return found


def adult_bits() -> Counts:
    """The Adult table in twelve bits: 32 561 people."""
    import adult as source

    data = source.load()
    married = [status.startswith("Married") for status in data.marital_status]
    columns = (
        [age >= 38 for age in data.age],
        [age >= 55 for age in data.age],
        [years >= 10 for years in data.education_years],
        [years >= 13 for years in data.education_years],
        married,
        [relationship == "Own-child" for relationship in data.relationship],
        [race == "White" for race in data.race],
        [sex == "Male" for sex in data.sex],
        [hours > 40 for hours in data.hours_per_week],
        [gain > 0 for gain in data.capital_gain],
        [workclass == "Private" for workclass in data.workclass],
        [income == ">50K" for income in data.income],
    )
    cell = np.zeros(len(data), dtype=np.int64)
    for column in columns:
        cell = 2 * cell + np.array(column, dtype=np.int64)
    return np.bincount(cell, minlength=1 << BITS).astype(np.int64)
