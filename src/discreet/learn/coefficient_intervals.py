"""Intervals for the coefficients of a regression, from its noisy sums and public laws alone.

The exact sums are the noisy ones less the noise, whose law is public. So noise is drawn again,
many times; each draw gives sums that may have been the exact ones, and coefficients: intervals
are quantiles of these. Where some of the sums could not have been those of any rows, noise drowns
the regression, and the interval is the whole line.

Near there, an interval has ends only where noise happened to make the sums look regular, and then
it errs: by the same luck, slopes come out too small. So ends are given only where the least
eigenvalue of the sums is well away from nothing, and up to farther off they are those of nearly
all draws. (Measured: of intervals at .95 that had ends where one in six did, .84 held.)

Nothing private is read, so the draws need no secret: they follow from the noisy sums. Asked again,
or of a model that was saved and loaded, the intervals are the same.

For the population, each draw also moves by what sampling moves least squares: residuals of a
deviation that is declared, or that of the farthest targets within their bounds.

Source: modern-learn:12 (what follows from noisy sums is free). Numerics: coverage is checked by
simulation, in ``tests/learn/test_intervals.py``.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.core.arrays import Floats
from discreet.core.parameters import probability
from discreet.noise import Seeded, Source, rounded_gaussian, rounded_max_norm

DRAWS = 4000
_GRID = 1 << 24
_SMALLEST = 2.0**-1000
_CLEAR, _SURE = 3.5, 5.5
"""Deviations of the least eigenvalue from nothing: below, no interval; above, the usual one."""
_WIDE = 0.9995
"""The confidence between the two, where an interval is there by luck as often as not."""


@dataclass(frozen=True, eq=False)
class CoefficientIntervals:
    """Lower and upper ends for the intercept and each coefficient.

    Attributes:
        confidence: With which each interval by itself covers.
        intercept: Two ends.
        coef: One row of two ends for each feature.
        features: Their names, where the model knows them.
    """

    confidence: float
    intercept: Floats
    coef: Floats
    features: tuple[str, ...] = ()

    def __str__(self) -> str:
        """A line for each."""
        names = self.features or [f"x{n}" for n in range(len(self.coef))]
        named = [("intercept", self.intercept), *zip(names, self.coef, strict=True)]
        lines = [f"{name}: {low:.4g} to {high:.4g}" for name, (low, high) in named]
        return "\n".join([f"with confidence {self.confidence:g}:", *lines])

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class NoisyNormalEquations:
    """Noisy sums of products of (1, features) with each other and with the target, in units.

    Attributes:
        square: Of (1, features) with each other.
        mixed: Of (1, features) with the target.
        scales: Of the noise of the level, and of all else: radii of a cube, or deviations.
        pure: Whether noise has the norm of a cube; else it is normal.
    """

    square: Floats
    mixed: Floats
    scales: tuple[float, float]
    pure: bool

    def to_dict(self) -> dict[str, Any]:
        """The sums and the law of their noise as JSON, for :meth:`from_dict`."""
        return {
            "square": self.square.tolist(),
            "mixed": self.mixed.tolist(),
            "scales": list(self.scales),
            "pure": self.pure,
        }

    @classmethod
    def from_dict(cls, plain: Any) -> NoisyNormalEquations:
        """The equations that :meth:`to_dict` wrote."""
        square, mixed = (np.array(plain[name], dtype=np.float64) for name in ("square", "mixed"))
        rough, fine = map(float, plain["scales"])
        return cls(square, mixed, (rough, fine), bool(plain["pure"]))

    def quantiles(self, *, ridge: float, spread: float, confidence: float, map_to: Any) -> Floats:
        """Ends for each of the numbers that ``map_to`` makes of (level, slopes), one row each.

        ``spread`` is the deviation of residuals, in units of the target; zero for the rows as they
        are.
        """
        level = float(probability("confidence", confidence))
        source = self._source()
        squares, mixed = self._draw_possible_sums(source)
        ridged = squares + ridge * np.diag([0.0, *np.ones(len(self.mixed) - 1)])
        lowest = np.linalg.eigvalsh(ridged)[:, 0]
        there = lowest > 0
        clear = float(lowest.mean()) / max(float(lowest.std()), _SMALLEST)
        if clear < _CLEAR or there.mean() < 1 - (1 - level) / 4:
            size = len(map_to(np.zeros((1, len(self.mixed))))[0])
            return np.tile([-np.inf, np.inf], (size, 1))
        ridged, mixed = ridged[there], mixed[there]
        found = np.linalg.solve(ridged, mixed[:, :, None])[:, :, 0]
        if spread:
            found = found + spread * _sampled(squares[there], ridged, source)
        tail = (1 - (level if clear > _SURE else max(level, _WIDE))) / 2
        ends: Floats = np.quantile(map_to(found), [tail, 1 - tail], axis=0).T
        return ends

    def _source(self) -> Source:
        """Draws that are a function of what was released, and of nothing else."""
        written = json.dumps(self.to_dict(), sort_keys=True).encode()
        return Seeded(int.from_bytes(hashlib.sha256(written).digest()[:16], "big"))

    def _draw_possible_sums(self, source: Source) -> tuple[Floats, Floats]:
        """Sums that may have been the exact ones: the noisy ones less noise of the same law."""
        d = len(self.mixed) - 1
        rough = self._noise(2, self.scales[0], source)
        fine = self._noise(2 * d + d * (d + 1) // 2, self.scales[1], source)
        square = np.zeros((DRAWS, d + 1, d + 1))
        square[:, 0, 0] = rough[:, 0]
        square[:, 0, 1:] = square[:, 1:, 0] = fine[:, :d]
        upper = np.triu_indices(d)
        square[:, 1 + upper[0], 1 + upper[1]] = fine[:, 2 * d :]
        square[:, 1 + upper[1], 1 + upper[0]] = fine[:, 2 * d :]
        mixed = np.concatenate([rough[:, 1:], fine[:, d : 2 * d]], axis=1)
        return self.square - square, self.mixed - mixed

    def _noise(self, size: int, scale: float, source: Source) -> Floats:
        if self.pure:
            drawn = rounded_max_norm(Fraction(_GRID), size, DRAWS, source)
        else:
            drawn = rounded_gaussian(Fraction(_GRID), size * DRAWS, source)
        return np.asarray(drawn.reshape(DRAWS, size) * (scale / _GRID), dtype=np.float64)


def _sampled(squares: Floats, ridged: Floats, source: Source) -> Floats:
    """Errors of least squares with residuals of deviation one: normal, of its covariance."""
    count, width = squares.shape[:2]
    normal = rounded_gaussian(Fraction(_GRID), count * width, source).reshape(count, width) / _GRID
    values, vectors = np.linalg.eigh(squares)
    roots = np.sqrt(np.maximum(values, 0)) * normal
    moved = (vectors @ roots[:, :, None])[:, :, 0]
    errors: Floats = np.linalg.solve(ridged, moved[:, :, None])[:, :, 0]
    return errors
