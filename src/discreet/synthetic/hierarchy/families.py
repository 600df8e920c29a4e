"""Whole counts of children, given those of their parents: nearest, not negative, rounded.

Source: 004b:A17; Abowd and others 2022, section 6 (least squares, then controlled rounding).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.synthetic.hierarchy.invariants import UNBOUNDED
from discreet.synthetic.hierarchy.nonnegative import nearest_in_columns, nearest_with_totals
from discreet.synthetic.hierarchy.rounding import rounded_with_sums, with_totals


@dataclass(frozen=True, eq=False)
class Families:
    """Where each parent's children begin, and the ends of every child's total."""

    starts: Ints
    lowest: Ints
    highest: Ints

    @property
    def bounded(self) -> Ints:
        """The parents with a child whose total is bounded."""
        held = (self.lowest > 0) | (self.highest < UNBOUNDED)
        return np.flatnonzero(np.logical_or.reduceat(held, self.starts[:-1]))


def whole_root(estimates: Floats, lowest: int, highest: int) -> Ints:
    """Whole counts of the root's cells: their total is the rounded sum of all estimates.

    Without that, cells near zero would make the whole too large: half of their noise is cut off.
    """
    total = min(max(round(float(estimates.sum())), lowest), highest)
    if total <= 0:
        return np.zeros(estimates.shape, dtype=np.int64)
    starts, sums = np.array([0, estimates.size]), np.array([total])
    flat = estimates.ravel()
    near = nearest_in_columns(flat, np.ones_like(flat), sums.astype(np.float64), starts)
    return rounded_with_sums(near, sums, starts).reshape(estimates.shape)


def whole_children(estimates: Floats, variances: Floats, above: Ints, families: Families) -> Ints:
    """Whole counts of all children, whose sums are their parents' counts, cell by cell.

    Contract: each parent's total lies between the sums of its children's ends.

    Guarantee: no count is negative, all sums are exact, and totals lie between their ends.
    """
    found = np.zeros(estimates.shape, dtype=np.int64)
    bounded = families.bounded
    free = np.ones(len(above), dtype=bool)
    free[bounded] = False
    # Where a parent has nobody, nor have its children: most cells of a sparse table end here.
    parents, cells = np.nonzero(above * free[:, None])
    if len(parents):
        fans = np.diff(families.starts)[parents]
        starts = np.concatenate([[0], np.cumsum(fans)])
        rows = np.arange(starts[-1]) + np.repeat(families.starts[parents] - starts[:-1], fans)
        columns = np.repeat(cells, fans)
        sums = above[parents, cells]
        values = estimates[rows, columns]
        near = nearest_in_columns(values, variances[rows], sums.astype(np.float64), starts)
        found[rows, columns] = rounded_with_sums(near, sums, starts)
    for parent in bounded.tolist():
        inside = slice(int(families.starts[parent]), int(families.starts[parent + 1]))
        found[inside] = _with_public_totals(
            *(estimates[inside], variances[inside], above[parent]),
            *(families.lowest[inside], families.highest[inside]),
        )
    return found


def _with_public_totals(
    estimates: Floats, variances: Floats, above: Ints, lowest: Ints, highest: Ints
) -> Ints:
    """One family in which totals are bounded."""
    found = np.zeros(estimates.shape, dtype=np.int64)
    columns = np.flatnonzero(above)
    if not len(columns):
        return found
    sums = above[columns]
    near = nearest_with_totals(
        *(estimates[:, columns], variances, sums.astype(np.float64)),
        *(lowest.astype(np.float64), highest.astype(np.float64)),
    )
    starts = np.arange(0, near.size + 1, len(near))
    whole = rounded_with_sums(near.T.ravel(), sums, starts).reshape(near.shape[::-1]).T
    found[:, columns] = with_totals(whole, near, lowest, highest)
    return found
