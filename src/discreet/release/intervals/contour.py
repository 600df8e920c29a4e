"""Tails of sums of Laplace, normal and uniform noises, by a bent Bromwich contour.

With M(s) = E exp(sX), P(X > h) is the integral of exp(-sh) M(s) / (2 pi i s) along any path that
crosses the real axis between 0 and the first pole of M. Along a hyperbola that bends to the
right, at 45 degrees to the axis (67.5 where a normal is among the terms, or so many that they
resemble one), the integrand falls doubly exponentially, so the trapezoidal rule gives nine digits
from twenty (forty) points. Equal or nearly equal scales, where partial fractions cancel, need no
special case. All cells are solved together.

Source: modern-data:C1; J. A. C. Weideman and L. N. Trefethen, *Parabolic and hyperbolic contours
for computing the Bromwich integral*, Math. Comp. 76 (2007). Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from discreet.core.arrays import Floats
from discreet.mechanisms.distributions.symmetric import Companion

Complexes = NDArray[np.complex128]

_ANGLE, _SPACING = math.pi / 4, 0.14
_ANGLE_NORMAL, _SPACING_NORMAL = 3 * math.pi / 8, 0.08
_MANY = 6
_DIGITS = 28.0
_REACH = 4.0
_CLEARANCE = 1.5
_ROUNDS = 30
_CONVERGED = 1e-6
"""Newton's method squares the error, so the step after this one would be below rounding."""
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True)
class Sums:
    """Sums of independent continuous noises, one per cell.

    ``coefficients`` (cells x terms) multiply the companions of the noises.

    Guarantee: ``half_widths`` is accurate to 1e-9 relatively for alpha from 1e-12 to .9.
    """

    coefficients: Floats
    companions: Sequence[Companion]

    def half_widths(self, alpha: float) -> Floats:
        """Per cell the h with P(|X| > h) = alpha, by Newton's method on the logarithm.

        The logarithm of a tail of a log-concave law is concave, so from the second step on every
        iterate is at or above the solution.
        """
        stds = self._stds()
        if not stds.size:
            return stds  # The furthest point of the contour is that of the widest cell.
        scale = np.where(stds > 0, stds, 1.0)
        unit = np.abs(self.coefficients) / scale[:, None]
        h = np.full(len(scale), max(-float(ndtri(alpha / 2)), alpha / 4 + 1e-3))
        points, weights = self._path(unit, h)
        divided = weights / points
        with np.errstate(under="ignore"):
            for _ in range(_ROUNDS):
                decay = np.exp(-points * h[:, None])
                density = 2 * np.einsum("ij,ij->i", weights, decay).imag
                tail = np.maximum(2 * np.einsum("ij,ij->i", divided, decay).imag, 1e-300)
                step = tail / density * np.log(tail / alpha)
                h = np.maximum(h + step, 0.1 * h)
                if np.all(np.abs(step) <= _CONVERGED * h):
                    break
        return np.where(stds > 0, h * scale, 0.0)

    def _stds(self) -> Floats:
        variances = [
            2 * c.weight * c.exponential**2 + c.normal**2 + c.uniform**2 / 12
            for c in self.companions
        ]
        return np.asarray(np.sqrt(self.coefficients**2 @ np.array(variances)))

    def _path(self, unit: Floats, h: Floats) -> tuple[Complexes, Complexes]:
        """Points of the contour and the weights that turn exp(-sh) into the density at h."""
        normal = any(c.normal for c in self.companions) or len(self.companions) > _MANY
        angle, spacing = (_ANGLE_NORMAL, _SPACING_NORMAL) if normal else (_ANGLE, _SPACING)
        cosine, sine = math.cos(angle), math.sin(angle)
        longest = np.max(unit * [c.exponential for c in self.companions], axis=1)
        saddle = 0.5 * (h + np.sqrt(h * h + 4))
        radius = np.minimum(saddle, _REACH / h)
        # Neither the vertex of the innermost hyperbola may pass the first pole, nor the
        # outermost the origin.
        pole = 1 / np.maximum(longest, 1e-9)
        radius = np.minimum(radius, pole / (1 + _CLEARANCE * (1 - cosine)))
        start = np.minimum(np.maximum(saddle, radius), pole - _CLEARANCE * radius * (1 - cosine))
        furthest = math.acosh(1 + _DIGITS / float((radius * h).min() * cosine))
        u = spacing * (np.arange(math.ceil(furthest / spacing)) + 0.5)
        points = start[:, None] + radius[:, None] * (
            (np.cosh(u) - 1) * cosine + 1j * np.sinh(u) * sine
        )
        speed = radius[:, None] * (np.sinh(u) * cosine + 1j * np.cosh(u) * sine)
        return points, self._transform(unit, points) * speed * (spacing / math.pi)

    def _transform(self, unit: Floats, s: Complexes) -> Complexes:
        """M(s): a product over the terms."""
        square = s * s
        normal = unit**2 @ np.array([c.normal**2 for c in self.companions])
        product: Complexes = np.exp(0.5 * normal[:, None] * square)
        for column, c in zip(unit.T, self.companions, strict=True):
            if c.exponential:
                pole = (column * c.exponential)[:, None] ** 2 * square
                product *= (1 - (1 - c.weight) * pole) / (1 - pole)
            if (column * c.uniform > _NEGLIGIBLE).any():
                half = (0.5 * c.uniform * column)[:, None] * s
                product *= np.where(np.abs(half) < 1e-4, 1 + half**2 / 6, np.sinh(half) / half)
        return product
