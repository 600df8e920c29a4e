"""Strategies on one attribute where the number of all records is public.

Where records are exchanged, the sum of all counts is known exactly and costs nothing. Least squares
then has that equation as a constraint: with P = I - 11ᵀ/d, x = (n/d) 1 + P x is estimated as

    x̂ = (n/d) 1 + (P AᵀA P)⁺ Aᵀ (y - (n/d) A 1),    covariance v (P AᵀA P)⁺,

in which the sum of all counts has no variance, and no query has more than without the constraint.
The distance of two columns, which is what an exchange moves, does not see what all columns have in
common either: a strategy need not measure the sum at all.

Source: 004b:A4; contract, "Units and neighbours" (``Replace``: n public). Proof:
``proofs/matrix.md``.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from discreet.core.arrays import Floats
from discreet.queries.matrix.strategy import RANK, Strategy


class KnownTotal(Strategy):
    """The measured queries of a strategy, with the sum of all counts known besides.

    Assumptions: the sum of all counts is public, and neighbours have the same.

    Guarantee: variances are those of least squares under that constraint.

    Source: 004b:A4. Proof: ``proofs/matrix.md``.
    """

    @classmethod
    def beside(cls, strategy: Strategy) -> KnownTotal:
        """The same measurements, beside the sum."""
        return cls(strategy.name, strategy.steps, strategy.places)

    @cached_property
    def inverse_gram(self) -> Floats:
        """(P AᵀA P)⁺: covariance of estimates at noise of variance one."""
        centred = self.rows - self.rows.mean(axis=1, keepdims=True)
        return np.asarray(np.linalg.pinv(centred.T @ centred, rcond=RANK, hermitian=True))

    @cached_property
    def _undetermined(self) -> Floats:
        """The projection onto what neither the measurements nor the sum determine."""
        centring = np.eye(self.size) - 1 / self.size
        return np.asarray(centring - self.pseudoinverse @ self.rows @ centring)

    def estimated(self, measured: Floats, records: int) -> Floats:
        """Counts by least squares that sum to ``records``."""
        even = records / self.size
        return np.asarray(even + self.pseudoinverse @ (measured - even * self.rows.sum(axis=1)))
