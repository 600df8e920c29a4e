"""Exact K-norm noise on the grid: density proportional to exp(-||z||/scale), rounded.

Both norms are had from normal variables by products alone. With N, M independent standard normal
vectors and U uniform on the cube [-1, 1]**d,

* N times |M|, M of d + 1 coordinates, has density proportional to exp(-|z|) (Euclidean norm);
* U times |M|**2 / 2, M of 2d + 2 coordinates, has density proportional to exp(-max |z_i|).

Every variable is known by its first bits, so a coordinate is known to lie in an interval: double
precision rounds nearly all of them, and where a rounding border is near, integers and further
bits do. Under the sum norm, coordinates are independent: draw ``rounded_laplace``.

Source: 004c:10-8, 11-6. Proof: ``proofs/norm.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import isqrt
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.parameters import count
from discreet.noise.bins import SATURATION
from discreet.noise.laplace import checked_scale
from discreet.noise.normals import CELL_BITS, MORE, normals, uniforms
from discreet.noise.randomness import SYSTEM, Noiseless, integer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.core.arrays import Floats
    from discreet.core.parameters import Number
    from discreet.noise.normals import Variables
    from discreet.noise.randomness import Source


_AT_ONCE = 1 << 18


def rounded_euclidean(
    scale: Number, dimension: int, size: int, source: Source = SYSTEM
) -> NDArray[np.int64]:
    """Noise of density proportional to exp(-|z|/scale), each coordinate rounded: (size, dimension).

    Contract: values plus noise are clamped to ``cauchy.LARGEST_SUM``; at large scales and
    dimensions coordinates beyond ±2**62 do occur.
    Guarantee: exactly that law, coordinates beyond ±2**62 being replaced by ±2**62.
    """
    return _draw(Euclidean, scale, dimension, size, source)


def rounded_max_norm(
    scale: Number, dimension: int, size: int, source: Source = SYSTEM
) -> NDArray[np.int64]:
    """The same for density proportional to exp(-max |z_i| / scale)."""
    return _draw(MaxNorm, scale, dimension, size, source)


def _draw(
    kind: type[KNorm], scale: Number, dimension: int, size: int, source: Source
) -> NDArray[np.int64]:
    law = kind(checked_scale(scale), count("dimension", dimension))
    if isinstance(source, Noiseless):
        return np.zeros((size, dimension), dtype=np.int64)
    return law.draw(size, source)


@dataclass(frozen=True)
class KNorm(ABC):
    """Noise made of ``dimension`` free variables times a function of the radius |M|**2.

    ``bits`` is the number of bits first revealed of each variable; it affects speed only.
    """

    scale: Fraction
    dimension: int
    bits: int = 63

    @property
    @abstractmethod
    def radials(self) -> int:
        """Coordinates of M."""

    @abstractmethod
    def _free(self, size: int, source: Source) -> Variables:
        """The variables that differ between coordinates."""

    @abstractmethod
    def _rough(self, free: Floats, square: Floats) -> tuple[Floats, Floats]:
        """Magnitudes in units of the scale, and bounds of their errors beside rounding."""

    @abstractmethod
    def twice(self, free: int, square: int, bits: int) -> int:
        """Floor of twice the scaled magnitude; ``free`` and ``square`` count units of 2**-bits."""

    def draw(self, size: int, source: Source) -> NDArray[np.int64]:
        """``size`` independent rounded vectors."""
        out = np.empty((size, self.dimension), dtype=np.int64)
        rows = max(1, _AT_ONCE // (self.dimension + self.radials))
        for start in range(0, size, rows):
            self._fill(out[start : start + rows], source)
        return out

    def _fill(self, out: NDArray[np.int64], source: Source) -> None:
        """Round what double precision can, and leave the rest to integers.

        Numerics: fewer than 32 roundings of 2**-53, those of the sum's levels, and the error of
        unrevealed bits; the constant covers scales too small for a double.
        """
        rows = len(out)
        free = self._free(rows * self.dimension, source)
        radial = normals(rows * self.radials, self.bits, source)
        square = _sums(np.square(radial.rough()).reshape(rows, self.radials))
        middle, blur = self._rough(free.rough().reshape(out.shape), square)
        scale = float(self.scale)
        shifted = scale * middle + 0.5
        roundings = self.radials.bit_length() + 32
        margin = roundings * 2.0**-53 * shifted + scale * blur + 2.0**-60
        nearest = np.floor(shifted)
        doubtful = (np.floor(shifted - margin) != nearest) | (np.floor(shifted + margin) != nearest)
        out[:] = np.where(doubtful, 0.0, nearest)
        for row in np.flatnonzero(doubtful.any(axis=1)).tolist():
            known = free.list_known_bits(row * self.dimension, (row + 1) * self.dimension)
            known += radial.list_known_bits(row * self.radials, (row + 1) * self.radials)
            for column, value in self._decide(known, np.flatnonzero(doubtful[row]), source):
                out[row, column] = value
        np.negative(out, out=out, where=free.negative.reshape(out.shape))

    def _decide(
        self, known: list[tuple[int, int]], columns: NDArray[np.intp], source: Source
    ) -> Iterator[tuple[int, int]]:
        """Round the given coordinates of one vector, revealing as many bits as it takes."""
        bits = max(revealed for _, revealed in known)
        words = [w << bits - b | integer(source, bits - b) if b < bits else w for w, b in known]
        waiting = columns.tolist()
        while True:
            low = sum(word * word for word in words[self.dimension :])
            high = sum((word + 1) ** 2 for word in words[self.dimension :])
            undecided = []
            for column in waiting:
                least = (self.twice(words[column], low, bits) + 1) // 2
                most = (self.twice(words[column] + 1, high, bits) + 1) // 2
                if least == most or least >= SATURATION:
                    yield column, min(least, SATURATION)
                else:
                    undecided.append(column)
            if not undecided:
                return
            waiting = undecided
            words = [word << MORE | integer(source, MORE) for word in words]
            bits += MORE


def _sums(terms: Floats) -> Floats:
    """Sums of rows, as a column, in pairs: at most ``width.bit_length()`` roundings each."""
    while (width := terms.shape[1]) > 1:
        half = width // 2
        pairs = terms[:, :half] + terms[:, half : 2 * half]
        terms = np.concatenate([pairs, terms[:, 2 * half :]], axis=1)
    return terms


class Euclidean(KNorm):
    """Normal coordinates times |M|."""

    @property
    def radials(self) -> int:
        """One more than the dimension."""
        return self.dimension + 1

    def _free(self, size: int, source: Source) -> Variables:
        return normals(size, self.bits, source)

    def _rough(self, free: Floats, square: Floats) -> tuple[Floats, Floats]:
        radius = np.sqrt(square)
        blur = (radius + self.radials * (free + 1)) * 2.0 ** -(self.bits + 2 * CELL_BITS)
        return free * radius * 2.0 ** -(2 * CELL_BITS), blur

    def twice(self, free: int, square: int, bits: int) -> int:
        """Floor of 2 s n |m| in eighths of eighths: the root of a floor is enough."""
        p, q = self.scale.numerator, self.scale.denominator
        return isqrt((2 * p * free) ** 2 * square // (q * q << 4 * (bits + CELL_BITS)))


class MaxNorm(KNorm):
    """Uniform coordinates times |M|**2 / 2."""

    @property
    def radials(self) -> int:
        """Twice one more than the dimension: |M|**2 / 2 is a Gamma variable of shape d + 1."""
        return 2 * self.dimension + 2

    def _free(self, size: int, source: Source) -> Variables:
        return uniforms(size, self.bits, source)

    def _rough(self, free: Floats, square: Floats) -> tuple[Floats, Floats]:
        gamma = square * 2.0 ** -(2 * CELL_BITS + 1)
        return free * gamma, (gamma + 1) * self.radials * 2.0**-self.bits

    def twice(self, free: int, square: int, bits: int) -> int:
        """Floor of s u |m|**2, with |m|**2 in squares of eighths."""
        p, q = self.scale.numerator, self.scale.denominator
        return p * free * square // (q << 3 * bits + 2 * CELL_BITS)
