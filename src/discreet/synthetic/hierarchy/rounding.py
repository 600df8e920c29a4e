"""Controlled rounding: whole counts near estimates, with the same sums.

Each count is rounded down, and the largest remainders of a column up, until its sum is right. Where
row totals are bounded, single records move between rows, within their column, wherever that costs
least: column sums stay, and since counts have no upper end, a row with too many always has one to
give.

Source: Cox 1987 (controlled rounding); 004b:A17.
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats, Ints


def rounded_with_sums(values: Floats, sums: Ints, starts: Ints) -> Ints:
    """Whole counts of each segment that add up to its sum, each within one of its value.

    Contract: values are not negative and add up to the sums, but for rounding errors.

    >>> rounded_with_sums(np.array([0.4, 0.4, 1.2]), np.array([2]), np.array([0, 3]))
    array([1, 0, 1])
    """
    down = np.floor(values).astype(np.int64)
    missing = sums - np.add.reduceat(down, starts[:-1])
    segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((down - values, segment))
    rank = np.empty(len(values), dtype=np.int64)
    rank[order] = np.arange(len(values)) - starts[:-1][segment]
    found = np.asarray(down + (rank < missing[segment]))
    # Beyond 2**53 doubles are no whole counts: what they miss goes to the largest of a segment.
    missed = sums - np.add.reduceat(found, starts[:-1])
    if missed.any():
        largest = np.lexsort((-found, segment))[starts[:-1]]
        found[largest] += missed
    return found


def with_totals(counts: Ints, values: Floats, lowest: Ints, highest: Ints) -> Ints:
    """Whole counts with the same column sums, whose row totals lie between two ends.

    Contract: 0 ≤ lowest ≤ highest, and the sum of all counts lies between the sums of both.
    """
    table, gain = counts.copy(), counts - values  # how much too high each one is
    totals = table.sum(axis=1)
    while True:
        above, below = totals - highest, lowest - totals
        if above.max(initial=0) <= 0 and below.max(initial=0) <= 0:
            return table
        if above.max() > 0:
            giver, room = int(above.argmax()), highest - totals
            most = int(above[giver])
            taker = int((below if below.max() > 0 else room).argmax())
            free = int(room[taker])
        else:
            taker, spare = int(below.argmax()), totals - lowest
            most = int(below[taker])
            giver = int(spare.argmax())
            free = int(spare[giver])
        worth = np.where(table[giver] > 0, gain[giver] - gain[taker], -np.inf)
        column = int(worth.argmax())
        # One at a time where little is missing; much of it is moved in one go.
        wanted = max(1, min(most, free) // table.shape[1])
        amount = min(wanted, int(table[giver, column]))
        table[giver, column] -= amount
        table[taker, column] += amount
        gain[giver, column] -= amount
        gain[taker, column] += amount
        totals[giver] -= amount
        totals[taker] += amount
