"""Products of queries as plain values, and back: for synopses that are kept.

Source: contract, "Spending" (stored releases are read back, never made again).
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.queries.workload.families import All, Each, Family, Listed, Prefixes, Ranges
from discreet.queries.workload.packing import not_plain, packed, unpacked
from discreet.queries.workload.workload import Product

_SIZED: dict[str, type[Each | All | Prefixes | Ranges]] = {
    "Each": Each,
    "All": All,
    "Prefixes": Prefixes,
    "Ranges": Ranges,
}
_TAGS: dict[type[Family], str] = {kind: tag for tag, kind in _SIZED.items()}


def plain_product(product: Product) -> Mapping[str, object]:
    """A product for JSON."""
    return {"weight": product.weight, "families": [_plain(each) for each in product.families]}


def recalled_product(plain: object) -> Product:
    """The product that was described."""
    match plain:
        case {"weight": float() as weight, "families": list() as families}:
            return Product(tuple(_recalled(each) for each in families), weight)
    raise not_plain()


def _plain(family: Family) -> Mapping[str, object]:
    tag = _TAGS.get(type(family))
    if tag is not None:
        return {"family": tag, "size": family.size}
    return {"family": "Listed", "rows": packed(family.dense())}


def _recalled(plain: object) -> Family:
    match plain:
        case {"family": str() as kind, "size": int() as size} if kind in _SIZED:
            return _SIZED[kind](size)
        case {"family": "Listed", "rows": rows}:
            return Listed(unpacked(rows))
    raise not_plain()
