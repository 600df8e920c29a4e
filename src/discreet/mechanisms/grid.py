"""The public grid: where values are rounded before noise, and what rounding costs.

Integers are released on the grid of whole numbers. Real numbers are rounded to a power of two
fixed by sensitivity, noise and the number of coordinates alone, never by data; since rounding
moves each coordinate by half a step, neighbours come apart by up to one step more per
coordinate, and the noise is scaled for that. Values beyond 2**61 steps are clamped there, on
input and on output: a fixed 1-Lipschitz map, the same for all data.

Source: contract, "Numbers"; 000a:A11, 004d:F28. Proof: ``proofs/grid.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter

LIMIT = 1 << 61
_LEAST_STEPS = 30
_MOST_STEPS = 50
_SMALL_SHARE = 20


@dataclass(frozen=True)
class Values:
    """Numbers on a grid: whole steps, the exponent of the step, and the shape to return."""

    steps: NDArray[np.int64]
    exponent: int
    scalar: bool
    whole: bool

    def with_noise(self, noise: NDArray[np.int64]) -> Any:
        """Add noise in steps and return numbers of the caller's kind and shape.

        Noise saturates at 2**62 and steps at 2**61, so 64-bit sums cannot wrap around.
        """
        noisy = noise.reshape(self.steps.shape)
        noisy += self.steps
        np.clip(noisy, -LIMIT, LIMIT, out=noisy)
        if self.whole:
            return int(noisy[0]) if self.scalar else noisy
        real = noisy.astype(np.float64)
        real *= 2.0**self.exponent
        return float(real[0]) if self.scalar else real


def is_whole(value: Any) -> bool:
    """Whether ``value`` is integers (booleans count as 0 and 1) rather than reals."""
    return as_array(value).dtype.kind in "iub"


def as_array(value: Any) -> NDArray[Any]:
    """The numbers in ``value``; anything that is not numbers is refused without being shown."""
    array = np.asarray(value)
    if array.dtype == object:
        flat = array.reshape(-1).tolist()
        if all(isinstance(item, int) for item in flat):
            clamped = [max(-LIMIT, min(LIMIT, item)) for item in flat]
            array = np.array(clamped, dtype=np.int64).reshape(array.shape)
    if array.dtype.kind not in "iubf":
        raise InvalidData(
            code="not_numbers",
            expectation="integers or real numbers, without nulls",
            received=f"array of {array.dtype}",
            remedy="Convert to a numeric array; decide what a null means before releasing.",
        )
    if array.size == 0:
        raise InvalidData(
            code="empty_input",
            expectation="at least one number to release",
            remedy="An empty vector has nothing to protect; release counts over declared keys.",
        )
    return array


def whole_steps(value: Any) -> Values:
    """Integers on the grid of whole numbers."""
    array = as_array(value)
    if array.dtype.kind not in "iub":
        raise InvalidData(
            code="integers_only",
            expectation="integers for a discrete mechanism",
            received=f"array of {array.dtype}",
            remedy="Use Laplace or Gaussian for real numbers, or count whole grid steps first.",
        )
    if array.dtype.kind == "u":
        array = np.minimum(array, np.uint64(LIMIT))
    steps = np.clip(np.atleast_1d(array).astype(np.int64), -LIMIT, LIMIT)
    return Values(steps, 0, scalar=array.ndim == 0, whole=True)


def real_steps(value: Any, exponent: int) -> Values:
    """Real numbers rounded to multiples of ``2**exponent``; NaN and infinity are refused."""
    array = np.atleast_1d(as_array(value)).astype(np.float64)
    if not np.isfinite(array).all():
        raise InvalidData(
            code="not_finite_input",
            expectation="finite numbers",
            remedy="Clean the data first: NaN as null, infinities clamped to declared bounds.",
        )
    with np.errstate(over="ignore", under="ignore"):
        array *= 2.0**-exponent
    np.rint(array, out=array)
    np.clip(array, -float(LIMIT), float(LIMIT), out=array)
    return Values(array.astype(np.int64), exponent, scalar=np.ndim(value) == 0, whole=False)


def steps(value: Any, exponent: int) -> NDArray[np.int64]:
    """Numbers of either kind in steps of ``2**exponent``; integers never pass through floats."""
    array = np.atleast_1d(as_array(value))
    if array.dtype.kind == "f":
        return real_steps(array, exponent).steps
    whole = whole_steps(array).steps
    if exponent > 0:
        return (whole >> exponent) + ((whole >> (exponent - 1)) & 1)
    bound = LIMIT >> -exponent
    shifted: NDArray[np.int64] = np.clip(whole, -bound, bound) << -exponent
    return shifted


def real_exponent(sensitivity: Fraction, scale: Fraction, size: int) -> int:
    """Exponent of the grid for ``size`` real coordinates under noise of the given scale.

    The grid is at most 2**-30 of the scale, and finer while that keeps the rounding of all
    coordinates together below 2**-20 of the sensitivity, down to 2**-50 of the scale.
    """
    wanted = floor_log2(scale * size * (1 << _SMALL_SHARE) / sensitivity) + 1
    steps = min(max(wanted, _LEAST_STEPS), _MOST_STEPS)
    exponent = floor_log2(scale) - steps
    if not -1000 <= exponent <= 900:
        raise InvalidParameter(
            code="scale_out_of_range",
            expectation="noise between 1e-280 and 1e280 for real numbers",
            received=float(scale) if scale < Fraction(10) ** 300 else "a larger number",
            remedy="Rescale the data to usual units.",
        )
    return exponent


def floor_log2(value: Fraction) -> int:
    """The largest e with ``2**e <= value``."""
    e = value.numerator.bit_length() - value.denominator.bit_length()
    return e if value >= Fraction(2) ** e else e - 1


def sqrt_above(value: Fraction) -> Fraction:
    """A rational not below the square root of ``value``, within 2**-40 of it relatively."""
    from math import isqrt

    shift = max(0, 80 - floor_log2(value)) & ~1
    root = isqrt((value.numerator << shift) // value.denominator) + 1
    return Fraction(root, 1 << shift // 2)
