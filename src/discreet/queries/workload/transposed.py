"""From weights on queries to weights on cells: the transpose of a workload, and its columns.

Source: 004b:A1.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from discreet.queries.workload.families import All, Each, Family, Prefixes, Ranges
from discreet.queries.workload.workload import Workload, apply_each

Floats = NDArray[np.float64]


def cell_weights(workload: Workload, weights: Floats) -> Floats:
    """Wᵀ times one weight for each query: a number for each cell of an explicit universe."""
    total = np.zeros(workload.universe.shape)
    start = 0
    for product in workload.products:
        end = start + product.queries
        table = weights[start:end].reshape([family.queries for family in product.families])
        total += apply_each([partial(_back, family) for family in product.families], table)
        start = end
    return total.ravel()


def column(workload: Workload, cell: int) -> Floats:
    """The answers of all queries on one record in one cell."""
    places = np.unravel_index(cell, workload.universe.shape)
    found = []
    for product in workload.products:
        answer: Floats = np.ones(1)
        for family, place in zip(product.families, places, strict=True):
            record = np.zeros(family.size)
            record[place] = 1
            answer = np.outer(answer, family.apply(record)).ravel()
        found.append(answer)
    return np.concatenate(found)


def _back(family: Family, table: Floats) -> Floats:
    """The transpose along the first axis."""
    match family:
        case Each():
            return table
        case All():
            return np.repeat(table, family.size, axis=0)
        case Prefixes():
            return np.asarray(np.cumsum(table[::-1], axis=0)[::-1])
        case Ranges():
            first, last = np.triu_indices(family.size)
            edges = np.zeros((family.size + 1, *table.shape[1:]))
            np.add.at(edges, first, table)
            np.subtract.at(edges, last + 1, table)
            return np.asarray(np.cumsum(edges[:-1], axis=0))
        case _:
            return np.asarray(np.tensordot(family.dense().T, table, 1))
