"""Arrays as plain text, so that a release can be kept beside its ledger entry and read again.

Source: contract, "Spending" (noise that outlives a call is durable; resuming re-reads).
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter

_KINDS = ("<f8", "<i8")


def packed(array: NDArray[np.generic]) -> dict[str, object]:
    """An array of doubles or whole numbers as something that JSON can hold."""
    kind = "<i8" if np.issubdtype(array.dtype, np.integer) else "<f8"
    content = np.ascontiguousarray(array, dtype=kind).tobytes()
    return {
        "kind": kind,
        "shape": list(array.shape),
        "zlib": base64.b64encode(zlib.compress(content)).decode("ascii"),
    }


def unpacked(plain: object) -> NDArray[np.float64]:
    """The array that :func:`packed` described, as doubles; bit for bit."""
    if not isinstance(plain, Mapping) or set(plain) != {"kind", "shape", "zlib"}:
        raise not_plain()
    kind, shape, text = plain["kind"], plain["shape"], plain["zlib"]
    if kind not in _KINDS or not isinstance(shape, list) or not isinstance(text, str):
        raise not_plain()
    try:
        content = zlib.decompress(base64.b64decode(text, validate=True))
    except (ValueError, zlib.error) as error:
        raise not_plain() from error
    if not all(isinstance(side, int) and side > 0 for side in shape):
        raise not_plain()
    if len(content) != 8 * math.prod(shape):
        raise not_plain()
    return np.frombuffer(content, dtype=str(kind)).astype(np.float64).reshape(shape)


def not_plain() -> InvalidParameter:
    """What is stored is not what a synopsis wrote."""
    return InvalidParameter(
        code="synopsis_not_plain",
        expectation="a synopsis as its `plain` wrote it, over the same universe",
        remedy="Pass what `synopsis.plain()` returned, unchanged, and the universe it was made of.",
    )
