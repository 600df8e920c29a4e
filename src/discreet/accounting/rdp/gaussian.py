"""Curves on a line: D_alpha <= rho alpha, exact for the Gaussian (004a:E3(4), 004a:D7).

``GaussianCurve`` also says *which* law it is: the composition of all its parts is dominated by one
shift between normal laws, so that sampling can be priced at every order. ``ConcentratedCurve``
knows the line only; the discrete Gaussian is one (modern-data:N1: equality at integer orders for a
sensitivity of one step, less between).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Self

import numpy as np

from discreet.accounting.rdp.curve import RenyiCurve, raised
from discreet.core.parameters import rounded_up

if TYPE_CHECKING:
    from discreet.core.arrays import Floats


@dataclass(frozen=True)
class ConcentratedCurve(RenyiCurve):
    """rho-zCDP: at most ``rho`` alpha."""

    rho: Fraction

    @property
    def ceiling(self) -> float:
        """None: the line rises for ever."""
        return math.inf

    def bounds(self, orders: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return raised(rounded_up(self.rho) * orders)

    def merge_curve_terms(
        self, terms: list[tuple[RenyiCurve, int]]
    ) -> list[tuple[RenyiCurve, int]]:
        """Rhos add up exactly."""
        rho = sum(
            (times * curve.rho for curve, times in terms if isinstance(curve, ConcentratedCurve)),
            Fraction(0),
        )
        return [(self.of(rho), 1)]

    @classmethod
    def of(cls, rho: Fraction) -> Self:
        """The line of slope ``rho``."""
        return cls(rho)


@dataclass(frozen=True)
class GaussianCurve(ConcentratedCurve):
    """Normal laws of equal variance, ``mu`` = sqrt(2 rho) standard deviations apart."""

    def mu(self) -> float:
        """The distance, rounded up."""
        return math.sqrt(2 * rounded_up(self.rho)) * (1 + 2.0**-50)
