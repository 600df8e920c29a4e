"""Power series behind lower-triangular Toeplitz matrices: products, inverses, the square root.

A lower-triangular Toeplitz matrix is the power series of its first column: matrices multiply as
series do. Prefix sums are 1/(1 - q); the square root of that series is f_0 = 1 and
f_k = f_(k-1) (2k-1)/2k.

Products of whole numbers are exact: factors are cut into digits so short that a Fourier transform
in double precision errs by far less than one half, and the sums are rounded to whole numbers.

Source: modern-learn:6, modern-data:M4; Percival 2003 for errors of transforms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.arrays import Floats

DIGIT = 11
_DIRECT = 1 << 22


def square_root(length: int) -> Floats:
    """The first coefficients of (1 - q)**(-1/2).

    >>> square_root(5).tolist()
    [1.0, 0.5, 0.375, 0.3125, 0.2734375]
    """
    k = np.arange(1.0, length)
    return np.concatenate(([1.0], np.cumprod((2 * k - 1) / (2 * k))))


def inverse(series: Floats, length: int) -> Floats:
    """The first coefficients of 1/series, by Newton's iteration.

    >>> inverse(np.array([1.0, -1.0]), 4).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    found: Floats = np.array([1.0 / series[0]])
    while len(found) < length:
        wanted = min(2 * len(found), length)
        product = multiply(series[:wanted], found, wanted)
        product = -product
        product[0] += 2.0
        found = multiply(found, product, wanted)
    return found


def multiply(left: Floats, right: Floats, length: int) -> Floats:
    """The first coefficients of a product; ``right`` may have columns."""
    if len(left) * len(right) <= 1 << 12 and right.ndim == 1:
        full = np.zeros(max(length, len(left) + len(right) - 1))
        full[: len(left) + len(right) - 1] = np.convolve(left, right)
        return full[:length]
    size = 1 << (len(left) + len(right) - 2).bit_length()
    first = np.fft.rfft(left, size)
    if right.ndim == 2:
        first = first[:, None]
    product: Floats = np.fft.irfft(first * np.fft.rfft(right, size, axis=0), size, axis=0)
    if len(product) < length:
        product = np.concatenate([product, np.zeros((length - len(product), *product.shape[1:]))])
    return product[:length]


def multiply_exactly(series: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """As many rows of the product of whole numbers: sum over j of series[j] rows[t - j].

    Contract: 0 <= series < 2**33, up to 2**24 of them and of rows; the result fits 64 bits.
    """
    length = len(rows)
    used = series[:length]
    if len(used) * rows.size <= _DIRECT:
        found = np.zeros_like(rows)
        for j, c in enumerate(used.tolist()):
            if c:
                found[j:] += c * rows[: length - j]
        return found
    found = np.zeros_like(rows)
    largest = int(np.abs(rows).max(initial=0))
    for low in _digits(used, int(used.max(initial=0))):
        for high in _digits(rows, largest):
            product = multiply(low[1].astype(np.float64), high[1].astype(np.float64), length)
            found += np.rint(product).astype(np.int64) << (low[0] + high[0])
    return found


def _digits(values: NDArray[np.int64], largest: int) -> list[tuple[int, NDArray[np.int64]]]:
    """Digits of the magnitudes with the sign of the value, and where each stands."""
    sign, size = np.sign(values), np.abs(values)
    places = range(0, max(1, largest.bit_length()), DIGIT)
    return [(place, sign * (size >> place & ((1 << DIGIT) - 1))) for place in places]
