"""Strategies as plain values, so that what a synopsis knows of its noise can be kept with it.

Source: contract, "Spending" (stored releases are read back, never made again).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from discreet.core.errors import DiscreetError
from discreet.queries.matrix.known_total import KnownTotal
from discreet.queries.matrix.marginal_strategy import MarginalStrategy, MeasuredTable
from discreet.queries.matrix.product import ProductStrategy
from discreet.queries.matrix.strategy import Strategy, identity, total
from discreet.queries.matrix.union import UnionStrategy
from discreet.queries.workload.stored_form import not_plain, packed, unpacked

MOST_ENTRIES = 1 << 21
"""Numbers of a strategy up to which it is kept."""


def can_keep(union: UnionStrategy) -> bool:
    """Whether a strategy is small enough to be kept with a synopsis."""
    return sum(math.prod(f.steps.shape) for p in union.parts for f in p.factors) <= MOST_ENTRIES


def union_to_dict(union: UnionStrategy) -> dict[str, object]:
    """Parts and weights, for JSON; which parts know the sum of all counts, if any do."""
    parts = [[_factor_to_dict(factor) for factor in part.factors] for part in union.parts]
    totals = [part.total_known for part in union.parts]
    besides: dict[str, object] = {"totals": totals} if any(totals) else {}
    return {"parts": parts, "weights": list(union.weights), **besides}


def union_from_dict(plain: object, shape: tuple[int, ...]) -> UnionStrategy:
    """The strategy that was described, over attributes of these sizes."""
    match plain:
        case {"parts": list() as parts, "weights": list() as weights, **rest} if all(
            isinstance(part, list) and len(part) == len(shape) for part in parts
        ):
            made = tuple(
                ProductStrategy(tuple(map(_factor_from_dict, part, shape))) for part in parts
            )
            totals = rest.get("totals", [False] * len(made))
            if not isinstance(totals, list) or len(totals) != len(made):
                raise not_plain()
            try:
                return UnionStrategy(tuple(map(_with_total, made, totals)), tuple(weights))
            except DiscreetError as error:
                raise not_plain() from error
    raise not_plain()


def _with_total(part: ProductStrategy, known: object) -> ProductStrategy:
    """The part, with the sum of all counts known besides if that is said and can be."""
    if known is False:
        return part
    if known is not True or not part.can_know_total:
        raise not_plain()
    return replace(part, total_known=True)


def _factor_to_dict(factor: Strategy) -> dict[str, object]:
    """Single values and sums by their name; others in full. A sum known besides is said."""
    besides: dict[str, object] = {"total": "known"} if isinstance(factor, KnownTotal) else {}
    known = {"identity": identity, "total": total}
    for name, make in known.items():
        same = make(factor.size)
        if factor.places == 0 and np.array_equal(factor.steps, same.steps):
            return {"strategy": name, "size": factor.size, **besides}
    steps = packed(factor.steps)
    return {"strategy": factor.name, "places": factor.places, "steps": steps, **besides}


def _factor_from_dict(plain: object, size: int) -> Strategy:
    match plain:
        case {"total": "known", **rest}:
            return KnownTotal.beside(_factor_from_dict(rest, size))
        case {"total": _}:
            raise not_plain()
        case {"strategy": "identity", "size": int() as known} if known == size:
            return identity(size)
        case {"strategy": "total", "size": int() as known} if known == size:
            return total(size)
        case {"strategy": str() as name, "places": int() as places, "steps": steps}:
            found = unpacked(steps)
            if found.ndim == 2 and found.shape[1] == size and places >= 0:
                return Strategy(name, found.astype(np.int64), places)
    raise not_plain()


def tables_to_dict(strategy: MarginalStrategy) -> list[dict[str, object]]:
    """The measured tables, for JSON."""
    return [
        {"places": list(t.places), "contrasted": sorted(t.contrasted), "weight": str(t.weight)}
        for t in strategy.tables
    ]


def tables_from_dict(plain: object, shape: tuple[int, ...]) -> MarginalStrategy:
    """The strategy that was described, over attributes of these sizes."""
    if not isinstance(plain, list):
        raise not_plain()
    return MarginalStrategy(tuple(_table(each, shape) for each in plain))


def _table(plain: object, shape: tuple[int, ...]) -> MeasuredTable:
    if not isinstance(plain, Mapping):
        raise not_plain()
    match plain:
        case {"places": list() as places, "contrasted": list() as axes, "weight": str() as weight}:
            if all(isinstance(p, int) and 0 <= p < len(shape) for p in [*places, *axes]):
                try:
                    sizes = tuple(shape[place] for place in places)
                    return MeasuredTable(tuple(places), sizes, frozenset(axes), int(weight))
                except (DiscreetError, ValueError) as error:
                    raise not_plain() from error
    raise not_plain()
