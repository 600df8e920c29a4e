"""The public grid: where values are rounded before noise, and what rounding costs.

Integers are released on the grid of whole numbers, clamped at 2**61 on input and on output: a
fixed 1-Lipschitz map, the same for all data. Real numbers are rounded to a power of two fixed by
sensitivity, noise and the number of coordinates alone, never by data; since rounding moves each
coordinate by half a step, neighbours come apart by up to one step more per coordinate, and the
noise is scaled for that. Reals beyond 2**61 steps are added to their noise in exact integers.

Source: contract, "Numbers"; 000a:A11, 004d:F28. Proof: ``proofs/grid.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.parameters import Number, exact, positive

LIMIT = 1 << 61
_FARTHEST = 1 << 1000
_LEAST_STEPS = 30
_MOST_STEPS = 50
_SMALL_SHARE = 20
_USUAL = 400


@dataclass(frozen=True)
class Values:
    """Numbers on a grid: whole steps, the exponent of the step, and the shape to return.

    ``far`` holds the exact steps of reals beyond 2**61, by position; ``steps`` clamps them.
    """

    steps: NDArray[np.int64]
    exponent: int
    scalar: bool
    whole: bool
    far: dict[int, int] = field(default_factory=dict)

    def with_noise(self, noise: NDArray[np.int64]) -> Any:
        """Add noise in steps and return numbers of the caller's kind and shape.

        Noise saturates at 2**62 and steps at 2**61, so 64-bit sums cannot wrap around.
        """
        noisy = noise.reshape(self.steps.shape)
        noisy += self.steps
        if self.whole:
            np.clip(noisy, -LIMIT, LIMIT, out=noisy)
            return int(noisy[0]) if self.scalar else noisy
        real = noisy.astype(np.float64)
        for place, steps in self.far.items():
            # The nearest double of the exact sum, as for all others.
            real.flat[place] = float(steps - int(self.steps.flat[place]) + int(noisy.flat[place]))
        with np.errstate(over="ignore"):
            real *= 2.0**self.exponent
        if self.far:
            real = np.nan_to_num(real, copy=False)
        return float(real[0]) if self.scalar else real


def ordinary(name: str, value: object) -> Number:
    """A positive parameter that floating point can hold, and its quotients too."""
    number = positive(name, value)
    if not Fraction(1, 1 << _USUAL) <= exact(number) <= 1 << _USUAL:
        raise InvalidParameter(
            code="parameter_out_of_range",
            expectation=f"{name} between 2**-{_USUAL} and 2**{_USUAL}",
            received=f"about 2**{floor_log2(exact(number))}",
            remedy="Rescale the data to usual units, or choose a usual privacy parameter.",
        )
    return number


def is_whole(array: NDArray[Any]) -> bool:
    """Whether an array holds integers (booleans count as 0 and 1) rather than reals."""
    return array.dtype.kind in "iubO"


def as_array(value: Any) -> NDArray[Any]:
    """The numbers in ``value``; anything that is not numbers is refused without being shown.

    Guarantee: booleans, integers or doubles; Python integers, as objects, where one of them is
    beyond 64 bits.
    """
    try:
        array = np.asarray(value)
        numbers = array.dtype.kind in "iubf" and array.dtype.itemsize <= 8
        if array.dtype == object or (array.dtype.kind == "f" and not hasattr(value, "dtype")):
            array, numbers = _from_python(np.asarray(value, dtype=object), array)
    except (ValueError, OverflowError):
        array, numbers = np.empty(1, dtype=object), False
    if not numbers:
        raise InvalidData(
            code="not_numbers",
            expectation="integers or real numbers of at most 64 bits, without nulls",
            received=f"array of {array.dtype.type.__name__}" if hasattr(value, "dtype") else None,
            remedy="Convert to a numeric array; decide what a null means before releasing.",
        )
    if array.size == 0:
        raise InvalidData(
            code="empty_input",
            expectation="at least one number to release",
            remedy="An empty vector has nothing to protect; release counts over declared keys.",
        )
    return array


def _from_python(items: NDArray[Any], array: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Python numbers that numpy read as objects or floats, and whether they are numbers."""
    if array.dtype.kind == "f" and not (np.abs(array) >= 2.0**63).any():
        return array, array.dtype.itemsize <= 8
    flat = items.reshape(-1).tolist()
    if all(isinstance(item, int | np.integer) for item in flat):
        steps = np.empty(len(flat), dtype=object)
        steps[:] = [max(-_FARTHEST, min(_FARTHEST, int(item))) for item in flat]
        return steps.reshape(items.shape), True
    if all(isinstance(item, int | float) for item in flat):
        # One real among them makes all of them real.
        reals = [x if isinstance(x, float) else max(-_FARTHEST, min(_FARTHEST, x)) for x in flat]
        return np.array(reals, dtype=np.float64).reshape(items.shape), True
    return array, False


def whole_steps(value: Any) -> Values:
    """Integers on the grid of whole numbers."""
    array = as_array(value)
    if not is_whole(array):
        raise InvalidData(
            code="integers_only",
            expectation="integers for a discrete mechanism",
            received=f"array of {array.dtype.type.__name__}",
            remedy="Use Laplace or Gaussian for real numbers, or count whole grid steps first.",
        )
    return Values(clamped(np.atleast_1d(array)), 0, scalar=array.ndim == 0, whole=True)


def real_steps(value: Any, exponent: int) -> Values:
    """Numbers rounded to multiples of ``2**exponent``; NaN and infinity are refused."""
    array = as_array(value)
    steps, far = exact_steps(np.atleast_1d(array), exponent), {}
    if steps.dtype == object:
        far = {i: x for i, x in enumerate(steps.reshape(-1).tolist()) if abs(x) > LIMIT}
    return Values(clamped(steps), exponent, scalar=array.ndim == 0, whole=False, far=far)


def exact_steps(array: NDArray[Any], exponent: int) -> NDArray[Any]:
    """Steps of ``2**exponent``: 64-bit integers while all are within 2**61, else Python ones.

    Integers never pass through floats.
    """
    if is_whole(array):
        bound = LIMIT >> max(0, -exponent)
        narrow = bool(((array <= bound) & (array >= -bound)).all())
        whole: NDArray[Any] = array.astype(np.int64 if narrow else object)
        if exponent <= 0:
            return whole << -exponent
        return (whole >> exponent) + ((whole >> (exponent - 1)) & 1)
    real = array.astype(np.float64)
    if not np.isfinite(real).all():
        raise InvalidData(
            code="not_finite_input",
            expectation="finite numbers",
            remedy="Clean the data first: NaN as null, infinities clamped to declared bounds.",
        )
    with np.errstate(over="ignore", under="ignore"):
        real *= 2.0**-exponent
    np.rint(real, out=real)
    if (np.abs(real) <= LIMIT).all():
        return real.astype(np.int64)
    np.clip(real, -float(_FARTHEST), float(_FARTHEST), out=real)
    steps = np.empty(real.size, dtype=object)
    steps[:] = [int(x) for x in real.reshape(-1).tolist()]
    return steps.reshape(real.shape)


def steps_from(origin: int, array: NDArray[Any], exponent: int) -> NDArray[np.int64]:
    """Steps of each number minus ``origin`` steps, exactly, clamped at 2**61."""
    steps = exact_steps(array, exponent)
    return clamped((steps if abs(origin) <= LIMIT else steps.astype(object)) - origin)


def steps_behind(array: NDArray[Any], exponent: int) -> NDArray[np.int64]:
    """Minus the steps by which each number is behind the largest, clamped at 2**61."""
    if is_whole(array) and -_LEAST_STEPS <= exponent <= 0:
        # Differences first: so large scores that are close to each other stay in 64 bits.
        whole = clamped(array)
        behind: NDArray[np.int64] = np.minimum(whole.max() - whole, LIMIT >> -exponent)
        return -(behind << -exponent)
    steps = exact_steps(array, exponent)
    return clamped(steps - steps.max())


def clamped(whole: NDArray[Any]) -> NDArray[np.int64]:
    """Integers of any width as 64-bit ones within ±2**61."""
    if whole.dtype.kind == "u":
        whole = np.minimum(whole, np.uint64(LIMIT))
    elif whole.dtype == object:
        whole = np.minimum(np.maximum(whole, -LIMIT), LIMIT)
    narrow = whole.astype(np.int64, copy=False)
    if narrow.min() >= -LIMIT and narrow.max() <= LIMIT:
        return narrow  # the caller's own array, which nothing here writes to
    return np.clip(narrow, -LIMIT, LIMIT)


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
    shift = max(0, 80 - floor_log2(value)) & ~1
    root = isqrt((value.numerator << shift) // value.denominator) + 1
    return Fraction(root, 1 << shift // 2)
