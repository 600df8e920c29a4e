"""A model of public rows, from which a synthesiser starts instead of from uniform columns.

The rows are public, so nothing here costs anything: the tree of pairs with the largest mutual
information is taken as it is. What is measured afterwards corrects it; what is never measured
stays as the public rows have it.

Source: modern-data:A1 (public data as a start); 004b:A14.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.queries.workload.universe import Universe
from discreet.synthetic.graphical.junction_tree import JunctionTree, Places

_UNSEEN = 0.5
"""Added to every count, so that what public rows have not is still possible."""


def public_potentials(
    rows: NDArray[np.integer] | None, universe: Universe, max_size: int
) -> dict[Places, Floats]:
    """Log-potentials of a tree model of public rows; none without rows."""
    if rows is None:
        return {}
    codes = _checked(np.asarray(rows), universe)
    shape = universe.shape
    columns = [_shares(codes, (place,), shape) for place in range(len(shape))]
    found: dict[Places, Floats] = {(p,): np.log(column) for p, column in enumerate(columns)}
    information = {}
    for a, b in combinations(range(len(shape)), 2):
        joint = _shares(codes, (a, b), shape)
        information[a, b] = float((joint * _ratio(joint)).sum())
    component = list(range(len(shape)))
    for a, b in sorted(information, key=lambda pair: -information[pair]):
        if component[a] != component[b]:
            found[a, b] = _ratio(_shares(codes, (a, b), shape))
            old, new = component[b], component[a]
            component = [new if each == old else each for each in component]
    JunctionTree.of(shape, found).require_within(max_size, universe.names)
    return found


def _ratio(joint: Floats) -> Floats:
    """The logarithm of a pair's shares over those of independent columns."""
    ratio: Floats = np.log(joint) - np.log(np.outer(joint.sum(axis=1), joint.sum(axis=0)))
    return ratio


def _shares(codes: NDArray[np.int64], places: Places, shape: tuple[int, ...]) -> Floats:
    sizes = [shape[place] for place in places]
    cells = np.ravel_multi_index([codes[:, place] for place in places], sizes)
    counts = np.bincount(cells, minlength=int(np.prod(sizes))) + _UNSEEN
    shares: Floats = (counts / counts.sum()).reshape(sizes)
    return shares


def _checked(codes: NDArray[np.generic], universe: Universe) -> NDArray[np.int64]:
    width = len(universe.shape)
    found = np.zeros((0, 0), dtype=np.int64)
    if codes.ndim == 2 and np.issubdtype(codes.dtype, np.integer):
        found = codes.astype(np.int64)
    fits = found.shape[1] == width and len(found) > 0
    if not fits or not ((found >= 0) & (found < np.array(universe.shape))).all():
        raise InvalidParameter(
            code="public_rows_misfit",
            expectation=f"public rows of codes, {width} columns, each below its number of values",
            received=(codes.shape, str(codes.dtype)),
            remedy="Write each value as its place among the attribute's values.",
        )
    return found
