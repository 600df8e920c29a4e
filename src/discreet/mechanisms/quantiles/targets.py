"""Where the answer should stand among the sorted rows, and how far one row can move a score.

A target is a rank T(n) for n rows. A candidate with L rows below it and E rows equal to it has
the score ``min(over * (T - L), under * (L + E - T))``: how many rows T lies inside the run of
rows equal to the candidate, or minus how many it lies outside. Where T lies inside, the
candidate *is* the quantile, so the best score is never negative.

This is Q2's first score without its cut at zero, which costs nothing and tells a candidate well
inside its run from one at the edge. Source: modern-data:Q2. Proof: ``proofs/quantiles.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.core.parameters import Number, count, exact, probability

FINEST = 10**6
_OUTWARD = 3


class Target(ABC):
    """A rank that depends on the number of rows alone."""

    over: int = 1
    """Weight of a rank too high."""
    under: int = 1
    """Weight of a rank too low."""

    @property
    @abstractmethod
    def parts(self) -> int:
        """Ranks are whole numbers of ``1 / parts``."""

    @property
    @abstractmethod
    def spread(self) -> Fraction:
        """Largest change of a score minus the smallest, when one row comes or goes."""

    @abstractmethod
    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """``parts * T`` for each number of rows."""

    def scores(
        self, below: NDArray[np.int64], upto: NDArray[np.int64], rows: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """``parts`` times the score of candidates with these ranks in groups of so many rows.

        ``rows`` is shaped to fit ``below`` and ``upto``.
        """
        wanted = self.ranks(rows)
        scores: NDArray[np.int64] = np.minimum(
            self.over * (wanted - self.parts * below), self.under * (self.parts * upto - wanted)
        )
        return scores


@dataclass(frozen=True)
class Proportion(Target):
    """The q-quantile: T = q n, with q the nearest fraction of denominator up to a million."""

    q: Fraction

    @classmethod
    def of(cls, q: Number) -> Proportion:
        """The level nearest to ``q``, which lies strictly between 0 and 1.

        >>> Proportion.of(0.9).q
        Fraction(9, 10)
        """
        nearest = exact(probability("q", q)).limit_denominator(FINEST)
        return cls(exact(probability("q", nearest)))

    @property
    def parts(self) -> int:
        """The denominator of q."""
        return self.q.denominator

    @property
    def spread(self) -> Fraction:
        """2 max(q, 1 - q): a row moves a score by max(q, 1 - q) at most, up or down."""
        return 2 * max(self.q, 1 - self.q)

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """``q n`` in parts."""
        ranks: NDArray[np.int64] = self.q.numerator * rows
        return ranks


@dataclass(frozen=True)
class Extreme(Target):
    """A fixed number of rows from one end, or the median where there are few rows.

    An answer too far outside costs three times one too far inside: outside it stands alone
    among candidates that no row supports, and its score cannot fall below that of ``rank``.
    """

    rank: int

    def __post_init__(self) -> None:
        """Refuse ranks that are not positive whole numbers."""
        object.__setattr__(self, "rank", count("rank", self.rank))

    @property
    def parts(self) -> int:
        """Half rows, for the median."""
        return 2

    @property
    def spread(self) -> Fraction:
        """The sum of both weights."""
        return Fraction(self.over + self.under)

    def _from_end(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """``2 min(rank, n / 2)``; ranks beyond 2**58 are the median of any data."""
        return np.minimum(2 * min(self.rank, 1 << 58), rows)


@dataclass(frozen=True)
class FromTop(Extreme):
    """T = n - min(rank, n / 2)."""

    over: int = _OUTWARD

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """In half rows."""
        ranks: NDArray[np.int64] = 2 * rows - self._from_end(rows)
        return ranks


@dataclass(frozen=True)
class FromBottom(Extreme):
    """T = min(rank, n / 2)."""

    under: int = _OUTWARD

    def ranks(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """In half rows."""
        return self._from_end(rows)
