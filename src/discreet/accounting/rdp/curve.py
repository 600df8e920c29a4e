"""Rényi curves: for each order alpha > 1, a bound on the Rényi divergence of neighbouring outputs.

A curve bounds D_alpha(P||Q) *and* D_alpha(Q||P) for the output laws P, Q of every pair of
neighbours. Curves add up under composition, order by order, also when the events are questions
chosen adaptively (004a:E2, 004a:E3(2)). They are values, and evaluate nothing until called.

Every number returned is an upper bound: what a curve computes is raised by more than the rounding
of its evaluation, as proofs/rdp.md shows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, finite, rounded_up

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import ArrayLike

    from discreet.core.arrays import Floats


MARGIN = 2.0**-44
"""Relative: far above the error of a dozen operations and functions, each right to some ulps."""

LEAST = 1e-300
"""Absolute: above whatever underflows on the way."""


class RenyiCurve(ABC):
    """A bound on the Rényi divergence at every order. Subclass, frozen and hashable, to add one."""

    @property
    @abstractmethod
    def ceiling(self) -> float:
        """A bound at the infinite order, so at every order: the pure epsilon. Infinite if none."""

    @abstractmethod
    def bounds(self, orders: Floats) -> Floats:
        """The curve at a vector of orders above one, before the ceiling is applied."""

    def __call__(self, orders: ArrayLike) -> Floats:
        """The curve at ``orders``, each above one: certified upper bounds, in the same shape."""
        checked = checked_orders(orders)
        bounds = self.bounds(checked.ravel()).reshape(checked.shape)
        return np.fmin(bounds, self.ceiling)

    def __add__(self, other: RenyiCurve) -> RenyiCurve:
        if not isinstance(other, RenyiCurve):
            return NotImplemented
        return total([(self, 1), (other, 1)])

    def times(self, k: int) -> RenyiCurve:
        """It happens ``k`` times, with fresh randomness."""
        return total([(self, count("k", k, least=0))])

    def merge_curve_terms(
        self, terms: list[tuple[RenyiCurve, int]]
    ) -> list[tuple[RenyiCurve, int]]:
        """Terms of this class, joined into fewer where their composition has a law of its own."""
        counts: dict[RenyiCurve, int] = {}
        for curve, times in terms:
            counts[curve] = counts.get(curve, 0) + times
        return list(counts.items())

    def weighted(self, terms: list[tuple[RenyiCurve, int]], orders: Floats) -> Floats:
        """The sum over ``terms`` of this class of times and curve."""
        sums = np.zeros_like(orders)
        for curve, times in terms:
            sums += rounded_up(times) * np.fmin(curve.bounds(orders), curve.ceiling)
        return sums


class CurveFamily(RenyiCurve):
    """Curves that differ in some numbers only, so that many are evaluated as one array."""

    @abstractmethod
    def parameters(self) -> tuple[float, ...]:
        """The numbers; the first is the ceiling."""

    @abstractmethod
    def evaluate(self, orders: Floats, *parameters: Floats) -> Floats:
        """The curves at a row of orders, each parameter a column or an array of one number."""

    @property
    def ceiling(self) -> float:
        return self.parameters()[0]

    def bounds(self, orders: Floats) -> Floats:
        columns = (np.array([value]) for value in self.parameters())
        with np.errstate(over="ignore", invalid="ignore"):
            return raised(self.evaluate(orders, *columns))

    def weighted(self, terms: list[tuple[RenyiCurve, int]], orders: Floats) -> Floats:
        """All curves at once."""
        curves = [curve for curve, _ in terms if isinstance(curve, CurveFamily)]
        table = np.array([curve.parameters() for curve in curves])
        columns = [table[:, [index]] for index in range(table.shape[1])]
        with np.errstate(over="ignore", invalid="ignore"):
            values = raised(self.evaluate(orders[np.newaxis, :], *columns))
            times = np.array([rounded_up(times) for _, times in terms])
            return np.asarray(times @ np.fmin(values, columns[0]))


@dataclass(frozen=True)
class SummedCurve(RenyiCurve):
    """Several curves, each some number of times. Built by ``+`` and ``times``."""

    terms: tuple[tuple[RenyiCurve, int], ...]

    @property
    def ceiling(self) -> float:
        """Pure epsilons add up."""
        return float(
            raised(np.array(sum(rounded_up(k) * curve.ceiling for curve, k in self.terms)))
        )

    def bounds(self, orders: Floats) -> Floats:
        """Order by order, one evaluation for each class of curves."""
        sums = np.zeros_like(orders)
        for terms in _by_class(self.terms):
            sums += terms[0][0].weighted(terms, orders)
        return raised(sums)


@dataclass(frozen=True)
class ZeroCurve(RenyiCurve):
    """No loss at all."""

    @property
    def ceiling(self) -> float:
        return 0.0

    def bounds(self, orders: Floats) -> Floats:
        return np.zeros_like(orders)


def total(terms: Iterable[tuple[RenyiCurve, int]]) -> RenyiCurve:
    """The composition of curves, each some number of times, flattened and merged."""
    flat: list[tuple[RenyiCurve, int]] = []
    for curve, times in terms:
        inner = curve.terms if isinstance(curve, SummedCurve) else ((curve, 1),)
        flat.extend((part, times * number) for part, number in inner)
    flat = [(curve, times) for curve, times in flat if times and not isinstance(curve, ZeroCurve)]
    merged = [term for group in _by_class(flat) for term in group[0][0].merge_curve_terms(group)]
    if not merged:
        return ZeroCurve()
    if len(merged) == 1 and merged[0][1] == 1:
        return merged[0][0]
    return SummedCurve(tuple(merged))


def raised(values: Floats) -> Floats:
    """Values raised by more than the rounding of a short, well-conditioned evaluation."""
    return values * (1 + MARGIN) + LEAST


def checked_orders(orders: ArrayLike) -> Floats:
    """Orders as floats, refused where there is none or one is not above one and finite."""
    array = np.asarray(orders)
    if array.size == 0 or array.dtype.kind not in "iuf":
        raise _orders("none" if array.size == 0 else array.dtype.name)
    least, most = finite("order", array.min().item()), finite("order", array.max().item())
    if least <= 1:
        raise _orders(least)
    return np.asarray(array, dtype=np.float64) if most <= 1e15 else _refused(most)


def _refused(order: object) -> Floats:
    raise _orders(order)


def _orders(received: object) -> InvalidParameter:
    return InvalidParameter(
        code="order_out_of_range",
        expectation="at least one Rényi order, each above one and at most 1e15",
        received=received,
        remedy="Choose alpha > 1; integers from 2 to 64 are usual.",
    )


def _by_class(terms: Iterable[tuple[RenyiCurve, int]]) -> list[list[tuple[RenyiCurve, int]]]:
    groups: dict[type[RenyiCurve], list[tuple[RenyiCurve, int]]] = {}
    for curve, times in terms:
        groups.setdefault(type(curve), []).append((curve, times))
    return list(groups.values())
