"""Sums over all cells of small universes, and tables of rows that count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.core.domain import Categories, Domain
from discreet.core.unit import PrivacyUnit, Row
from discreet.queries.workload.universe import Universe
from discreet.synthetic.graphical.junction_tree import Places

Floats = NDArray[np.float64]


def joint(sizes: Sequence[int], potentials: Mapping[Places, Floats]) -> tuple[Floats, float]:
    """Write out a model: all probabilities, and the logarithm of their sum before scaling."""
    logs = np.zeros(sizes)
    for places, table in potentials.items():
        logs = logs + table.reshape([size if i in places else 1 for i, size in enumerate(sizes)])
    top = float(logs.max())
    weights = np.exp(logs - top)
    return weights / weights.sum(), top + float(np.log(weights.sum()))


def summed(table: Floats, places: Sequence[int]) -> Floats:
    """Sum a joint table to some attributes, in increasing order."""
    found: Floats = table.sum(axis=tuple(i for i in range(table.ndim) if i not in places))
    return found


def one_ways(universe: Universe) -> list[Places]:
    return [(place,) for place in range(len(universe.shape))]


@dataclass
class RowTable:
    """Rows of codes that count themselves; they remember what they were asked for."""

    universe: Universe
    rows: NDArray[np.int64]
    unit: PrivacyUnit = field(default_factory=Row)
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def domain(self, column: str) -> Domain:
        return Categories(self.universe.attributes[self.universe.place(column)].values)

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        self.asked.append(tuple(columns))
        places = [self.universe.place(name) for name in columns]
        shape = [self.universe.shape[place] for place in places]
        cells = np.ravel_multi_index([self.rows[:, place] for place in places], shape)
        return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def chained_rows(universe: Universe, n: int, seed: int) -> NDArray[np.int64]:
    """Draw rows in which each attribute mostly repeats the one before it."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, len(universe.shape)), dtype=np.int64)
    rows[:, 0] = rng.integers(0, universe.shape[0], n)
    for place in range(1, len(universe.shape)):
        size = universe.shape[place]
        fresh = rng.integers(0, size, n)
        rows[:, place] = np.where(rng.random(n) < 0.8, rows[:, place - 1] % size, fresh)
    return rows
