"""Products of rows with vectors, each a function of its own row to the last bit.

A matrix product may add the terms of a row in an order that depends on how many rows there are, so
that one row that goes changes the last bits of others, and with them a rounding. Here columns are
added one after another.

Source: contract, "Numbers". Proof: ``proofs/optimisers.md``.
"""

from __future__ import annotations

import numpy as np

from discreet.core.arrays import Floats


def row_sums(values: Floats) -> Floats:
    """The sum of each row, from its first column to its last."""
    total = np.zeros(len(values))
    for column in values.T:
        total += column
    return total


def predictions(x: Floats, theta: Floats) -> Floats:
    """The product of each row with one vector."""
    return row_sums(x * theta)


def predictions_of_each(x: Floats, thetas: Floats) -> Floats:
    """The product of each row with each of several vectors, one column for each."""
    total = np.zeros((len(x), len(thetas)))
    for column, weights in zip(x.T, thetas.T, strict=True):
        total += column[:, None] * weights
    return total
