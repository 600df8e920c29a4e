"""The nearest counts of children that are not negative and add up to their parent.

Families and cells fall apart: for each cell of a parent, its children's counts x ≥ 0 with a given
sum, nearest to estimates z in the metric of their variances v: x = max(0, z + vλ). The multiplier
λ is found by dropping counts that would be negative, which happens at most once to each.

Where children have public totals, rows meet: x = max(0, z + v(λ + μ)), with a multiplier for each
column and each row. The dual is maximised over columns and rows in turn.

Source: 004b:A17; Michelot 1986 (projection onto a simplex).
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats, Ints

_ROUNDS = 200
_CLOSE = 0.25
"""Rounding to whole counts repairs what is left of a violated total."""


def nearest_with_sums(values: Floats, variances: Floats, sums: Floats, starts: Ints) -> Floats:
    """The multiplier of each segment: max(0, values + variances λ) has the segment's sum.

    Contract: ``sums`` are above zero; no segment is empty. ``starts`` ends with the length.

    >>> z, v = np.array([3.0, 1.0, -5.0]), np.ones(3)
    >>> nearest_with_sums(z, v, np.array([2.0]), np.array([0, 3]))
    array([-1.])
    """
    segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    kept = np.ones(len(values), dtype=bool)
    while True:
        taken = np.add.reduceat(np.where(kept, values, 0.0), starts[:-1])
        spread = np.add.reduceat(np.where(kept, variances, 0.0), starts[:-1])
        found: Floats = (sums - taken) / spread
        still = kept & (values + variances * found[segment] > 0)
        # A segment keeps something as long as its sum is above zero.
        lost = np.logical_or.reduceat(still, starts[:-1])
        still |= kept & ~lost[segment]
        if np.array_equal(still, kept):
            return found
        kept = still


def nearest_in_columns(values: Floats, variances: Floats, sums: Floats, starts: Ints) -> Floats:
    """The nearest counts themselves."""
    found = nearest_with_sums(values, variances, sums, starts)
    segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return np.maximum(values + variances * found[segment], 0.0)


def nearest_with_totals(
    values: Floats, variances: Floats, sums: Floats, lowest: Floats, highest: Floats
) -> Floats:
    """A table x ≥ 0 with column sums, and row totals between two ends (nearly), nearest to values.

    ``values`` has a row for each child and a column for each cell whose sum is above zero;
    ``variances`` has a number for each row. Totals are missed by less than one record after the
    last of some rounds at most; whole counts repair that.

    Contract: lowest ≤ highest, and the sums' total lies between the totals of both.
    """
    rows, columns = values.shape
    if not columns:
        return values
    starts = np.arange(0, rows * columns + 1, rows)
    spread = np.broadcast_to(variances[:, None], values.shape)
    by_row = np.zeros(rows)
    found = values
    for _ in range(_ROUNDS):
        moved = values + spread * by_row[:, None]
        by_column = nearest_with_sums(moved.T.ravel(), spread.T.ravel(), sums, starts)
        found = np.maximum(moved + spread * by_column, 0.0)
        totals = found.sum(axis=1)
        if max(float((lowest - totals).max()), float((totals - highest).max())) < _CLOSE:
            break
        by_row = _row_multipliers(values + spread * by_column, variances, lowest, highest)
    return found


def _row_multipliers(base: Floats, variances: Floats, lowest: Floats, highest: Floats) -> Floats:
    """For each row the least multiplier, up or down, that takes its total between the ends."""
    totals = np.maximum(base, 0.0).sum(axis=1)
    wanted = np.clip(totals, lowest, highest)
    found = np.zeros(len(base))
    empty = (wanted <= 0) & (totals > 0)
    found[empty] = -base[empty].max(axis=1) / variances[empty]
    moved = np.flatnonzero((wanted != totals) & (wanted > 0))
    if len(moved):
        columns = base.shape[1]
        starts = np.arange(0, len(moved) * columns + 1, columns)
        spread = np.repeat(variances[moved], columns)
        found[moved] = nearest_with_sums(base[moved].ravel(), spread, wanted[moved], starts)
    return found
