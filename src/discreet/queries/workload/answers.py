"""A workload as a linear map: all answers from one table, and from weights on queries to cells.

Attributes are taken in order. Products that ask the same of the first attributes share the table
that is left, so all k-way marginals cost about k passes over the universe in place of one each.

Source: 004b:A1, A15 (O(T |Q| |D|) as printed; this is what makes a round cheap).
"""

from __future__ import annotations

import math

import numpy as np

from discreet.core.arrays import Floats
from discreet.queries.workload.families import All, Each, QueryFamily
from discreet.queries.workload.workload import Workload, apply_each

_NARROW = 16


def shared_answers(workload: Workload, table: Floats) -> Floats:
    """The same as ``workload.answers``, faster where products overlap."""
    return np.concatenate(product_answers(workload, table))


def product_answers(workload: Workload, table: Floats) -> list[Floats]:
    """The answers of each product by itself, flat."""
    found: list[Floats] = [np.empty(0)] * len(workload.products)
    shape = workload.universe.shape
    whole = np.asarray(table, dtype=np.float64).reshape(shape)
    _descend(whole, 1, 0, list(range(len(found))), workload=workload, found=found)
    return found


def marginal(table: Floats, shape: tuple[int, ...], kept: tuple[int, ...]) -> Floats:
    """Sums over all attributes that are not kept, whose axes stay with length one."""
    part, before = np.asarray(table), 1
    for axis, size in enumerate(shape):
        if axis in kept:
            before *= size
        else:
            part = _summed(part.reshape(before, size, math.prod(shape[axis + 1 :])))
    return part.reshape([size if axis in kept else 1 for axis, size in enumerate(shape)])


def cell_weights(workload: Workload, weights: Floats) -> Floats:
    """Wᵀ times one weight for each query: a number for each cell of an explicit universe."""
    total = np.zeros(workload.universe.shape)
    start = 0
    for product in workload.products:
        end = start + product.queries
        table = weights[start:end].reshape([family.queries for family in product.families])
        total += apply_each([family.transposed for family in product.families], table)
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


def _descend(
    table: Floats,
    before: int,
    axis: int,
    wanted: list[int],
    *,
    workload: Workload,
    found: list[Floats],
) -> None:
    """Answer products that agree on the attributes before ``axis``, which ``before`` counts."""
    shape = workload.universe.shape
    if axis == len(shape):
        for place in wanted:
            found[place] = table.ravel()
        return
    groups: dict[QueryFamily, list[int]] = {}
    for place in wanted:
        groups.setdefault(workload.products[place].families[axis], []).append(place)
    cube = table.reshape(before, shape[axis], math.prod(shape[axis + 1 :]))
    for family, places in groups.items():
        match family:
            case All():
                part, rows = _summed(cube), 1
            case Each():
                part, rows = cube, family.size
            case _:
                moved = family.apply(np.ascontiguousarray(np.moveaxis(cube, 1, 0)))
                part, rows = np.ascontiguousarray(np.moveaxis(moved, 0, 1)), family.queries
        _descend(part, before * rows, axis + 1, places, workload=workload, found=found)


def _summed(cube: Floats) -> Floats:
    """Sums over the middle axis; where the last one is short, a matrix product is faster."""
    before, size, after = cube.shape
    if after >= _NARROW:
        return np.asarray(cube.sum(axis=1))
    return np.asarray(cube.reshape(before, size * after) @ np.tile(np.eye(after), (size, 1)))
