"""Strategies on one attribute: the queries that are measured in place of those that are asked.

Entries are whole numbers of a power of two, so that exact counts give exact measurements and the
sensitivity is exact too. The expected total squared error of a workload W under a strategy A of
sensitivity s is s² v tr((AᵀA)⁻¹ WᵀW), with v = 2/ε² for Laplace noise and L1 columns, and v = σ²
for Gaussian noise and L2 columns. It is known before anything is spent.

Source: 004b:A4–A6; modern-data:M1, M2. Errata: 004b:A6 (876/7 where the text prints 201).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.arrays import Floats, Ints
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count

BITS = 20
"""Strategies are rounded to this many binary places."""
RANK = 1e-10
"""Directions measured by less than this share of the most are not measured at all."""
_MOST_STEPS = 1 << 40


@dataclass(frozen=True, eq=False)
class Strategy:
    """Measured queries, a row each: ``steps`` in units of 2**-places.

    Assumptions: the queries are public.

    Guarantee: measurements of exact counts are exact, and so is the sensitivity.

    Source: 004b:A4.
    """

    name: str
    steps: Ints
    places: int

    def __post_init__(self) -> None:
        """Refuse steps whose norms could not be computed exactly."""
        steps = self.steps
        whole = steps.ndim == 2 and steps.size and np.issubdtype(steps.dtype, np.integer)
        if not whole or int(steps.max()) > _MOST_STEPS or int(steps.min()) < -_MOST_STEPS:
            raise _misshapen(steps)

    @classmethod
    def of(cls, name: str, rows: ArrayLike, places: int = BITS) -> Strategy:
        """A strategy rounded to whole steps."""
        given = np.asarray(rows, dtype=np.float64)
        if not (np.abs(given) * 2.0**places <= _MOST_STEPS).all():
            raise _misshapen(given)
        steps = np.rint(np.asarray(rows, dtype=np.float64) * 2.0**places).astype(np.int64)
        steps.setflags(write=False)
        return cls(name, steps, places)

    @property
    def size(self) -> int:
        """How many values the attribute has."""
        return int(self.steps.shape[1])

    @cached_property
    def rows(self) -> Floats:
        """The strategy as a matrix of doubles."""
        return np.asarray(self.steps * 2.0**-self.places)

    @cached_property
    def l1(self) -> int:
        """The largest L1 norm of a column, in steps: what one record moves."""
        return int(np.abs(self.steps.astype(object)).sum(axis=0).max())

    @cached_property
    def l2_squared(self) -> int:
        """The largest squared L2 norm of a column, in squared steps."""
        return int((self.steps.astype(object) ** 2).sum(axis=0).max())

    @cached_property
    def common_l1(self) -> int:
        """What every column has in common: the least of each row that keeps one sign, in steps.

        Two columns are at most 2 (l1 - common_l1) apart in L1.
        """
        least = np.abs(self.steps).min(axis=1)
        signed = (self.steps >= 0).all(axis=1) | (self.steps <= 0).all(axis=1)
        return int(least[signed].sum())

    @cached_property
    def products(self) -> tuple[int, int]:
        """The least and the largest scalar product of two columns, in squared steps."""
        return int(self._whole_gram.min()), int(self._whole_gram.max())

    @cached_property
    def apart_l2_squared(self) -> int:
        """The largest squared L2 distance of two columns, in squared steps: what an exchange moves.

        Four products below 2**60 each are added: 64 bits hold them.
        """
        gram = self._whole_gram
        lengths = gram.diagonal()
        return int((lengths[:, None] + lengths[None, :] - 2 * gram).max())

    @cached_property
    def _whole_gram(self) -> NDArray[Any]:
        """The scalar products of all columns, exactly, in squared steps."""
        largest = int(np.abs(self.steps).max())
        fits = largest**2 * len(self.steps) < 1 << 60
        steps = self.steps if fits else self.steps.astype(object)
        return np.asarray(steps.T @ steps)

    @property
    def is_total(self) -> bool:
        """Whether only the sum of several values is measured."""
        one = self.places == 0 and len(self.steps) == 1 and self.size > 1
        return one and bool((self.steps == 1).all())

    @cached_property
    def inverse_gram(self) -> Floats:
        """The (pseudo-)inverse of AᵀA: covariance of estimates at noise of variance one."""
        return np.asarray(np.linalg.pinv(self.rows.T @ self.rows, rcond=RANK, hermitian=True))

    @cached_property
    def along_sum(self) -> Floats:
        """The covariance of each value's estimate with that of the sum of all."""
        return np.asarray(self.inverse_gram.sum(axis=1))

    @property
    def determines_sum(self) -> bool:
        """Whether the sum of all values follows from the measurements."""
        return self.determines(np.ones((self.size, self.size)))

    @cached_property
    def pseudoinverse(self) -> Floats:
        """Least squares: from measurements to counts."""
        return np.asarray(self.inverse_gram @ self.rows.T)

    @cached_property
    def _undetermined(self) -> Floats:
        """The projection onto what the measurements do not determine."""
        return np.asarray(np.eye(self.size) - self.pseudoinverse @ self.rows)

    @property
    def determines_all(self) -> bool:
        """Whether every query whatsoever follows: a direction that is missed has length one."""
        return float(np.linalg.norm(self._undetermined)) < 0.5

    def missed(self, rows: Floats) -> Floats:
        """The part of each query that does not follow from the measurements."""
        return np.asarray(rows @ self._undetermined)

    def determines(self, gram: Floats) -> bool:
        """Whether every query of a workload follows from the measurements."""
        missed = float(np.einsum("ij,ij->", self._undetermined, gram))
        return missed <= 1e-6 * float(np.trace(gram))

    def trace(self, gram: Floats) -> float:
        """tr((AᵀA)⁻¹ WᵀW): total squared error at noise of variance one."""
        if not self.determines(gram):
            raise InvalidParameter(
                code="strategy_rank",
                expectation="a strategy from which every query of the workload follows",
                received=self.name,
                remedy="Add the queries of single values to the strategy.",
            )
        return float(np.einsum("ij,ij->", self.inverse_gram, gram))

    def laplace_error(self, gram: Floats) -> float:
        """Total squared error under Laplace noise at epsilon = 1."""
        return 2 * float(Fraction(self.l1, 1 << self.places) ** 2) * self.trace(gram)

    def gaussian_error(self, gram: Floats) -> float:
        """Total squared error under Gaussian noise, one standard deviation per unit of L2."""
        return float(Fraction(self.l2_squared, 1 << 2 * self.places)) * self.trace(gram)


def _misshapen(rows: NDArray[np.generic]) -> InvalidParameter:
    return InvalidParameter(
        code="strategy_misshapen",
        expectation=f"a finite matrix with a row for each measured query, at most {_MOST_STEPS} "
        "steps in an entry",
        received=(rows.shape, str(rows.dtype)),
        remedy="Scale the rows, and build the strategy with Strategy.of(name, rows).",
    )


def identity(size: int) -> Strategy:
    """Every value by itself.

    >>> from discreet.queries.workload.families import Ranges
    >>> identity(4).laplace_error(Ranges(4).gram())
    40.0
    """
    return Strategy.of("identity", np.eye(count("size", size)), 0)


def total(size: int) -> Strategy:
    """The sum alone, for an attribute that no query looks at."""
    return Strategy.of("total", np.ones((1, count("size", size))), 0)


def hierarchical(size: int, branches: int = 2) -> Strategy:
    """A tree of intervals: the whole, its parts, their parts, down to single values.

    >>> from discreet.queries.workload.families import Ranges
    >>> round(hierarchical(4).laplace_error(Ranges(4).gram()) * 7, 6)
    876.0
    """
    fan = count("branches", branches)
    if fan < 2:
        raise InvalidParameter(
            code="branches_too_few",
            expectation="at least two branches",
            received=branches,
            remedy="Use 2, 4 or 16.",
        )
    width = 1
    while width < count("size", size):
        width *= fan
    rows = []
    while width >= 1:
        for start in range(0, size, width):
            row = np.zeros(size)
            row[start : start + width] = 1
            rows.append(row)
        width //= fan
    return Strategy.of(f"hierarchical({fan})", np.unique(np.array(rows), axis=0), 0)


def wavelet(size: int) -> Strategy:
    """Haar wavelets: the whole, and at each level the difference of the halves.

    Contract: rows have entries 0 and ±1; sizes that are no power of two are cut from the next.
    """
    width = 1
    while width < count("size", size):
        width *= 2
    rows = [np.ones(width)]
    while width > 1:
        for start in range(0, len(rows[0]), width):
            row = np.zeros(len(rows[0]))
            row[start : start + width // 2] = 1
            row[start + width // 2 : start + width] = -1
            rows.append(row)
        width //= 2
    cut = np.array(rows)[:, :size]
    return Strategy.of("wavelet", cut[np.abs(cut).sum(axis=1) > 0], 0)


def square_root(size: int) -> Strategy:
    """The square root of all prefix sums: a lower triangular Toeplitz matrix, multiplied by itself.

    Its entries are C(2j, j) / 4**j on the j-th diagonal. Each row needs no later value, so it can
    be measured as values come in; the largest deviation of a prefix sum is that of the last.

    Source: modern-data:M3, M4.
    """
    many = count("size", size)
    first = np.cumprod(np.append(1.0, 1 - 0.5 / np.arange(1.0, many)))
    place = np.subtract.outer(np.arange(many), np.arange(many))
    return Strategy.of("square root", np.where(place >= 0, first[np.maximum(place, 0)], 0.0))
