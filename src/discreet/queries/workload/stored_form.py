"""Arrays and products of queries as plain values, so that a release can be kept and read again.

Source: contract, "Spending" (noise that outlives a call is durable; stored releases are read back,
never made again).
"""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.queries.workload.families import All, Each, Listed, Prefixes, QueryFamily, Ranges
from discreet.queries.workload.workload import Product

_SIZED: dict[str, type[Each | All | Prefixes | Ranges]] = {
    "Each": Each,
    "All": All,
    "Prefixes": Prefixes,
    "Ranges": Ranges,
}
"""Families that their size describes, under the names that are written."""
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
        expectation="a synopsis as its `to_dict` wrote it, over the same universe",
        remedy="Pass what `synopsis.to_dict()` returned, unchanged, and its universe.",
    )


def product_to_dict(product: Product) -> Mapping[str, object]:
    """A product for JSON."""
    return {
        "weight": product.weight,
        "families": [_family_to_dict(each) for each in product.families],
    }


def product_from_dict(plain: object) -> Product:
    """The product that was described."""
    match plain:
        case {"weight": float() as weight, "families": list() as families}:
            return Product(tuple(_family_from_dict(each) for each in families), weight)
    raise not_plain()


def _family_to_dict(family: QueryFamily) -> Mapping[str, object]:
    for name, kind in _SIZED.items():
        if type(family) is kind:
            return {"family": name, "size": family.size}
    return {"family": "Listed", "rows": packed(family.dense())}


def _family_from_dict(plain: object) -> QueryFamily:
    match plain:
        case {"family": str() as kind, "size": int() as size} if kind in _SIZED:
            return _SIZED[kind](size)
        case {"family": "Listed", "rows": rows}:
            return Listed(unpacked(rows))
    raise not_plain()
