"""Exact laws of mechanisms on tiny inputs, put together from the parts the mechanisms use."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, pairwise
from typing import Any

from discreet.audit.testers import min_delta

Law = dict[Any, float]
Rows = tuple[int, ...]
NO_ANSWER = "no answer"


@dataclass(frozen=True)
class Excess:
    """The worst pair's delta at the claimed epsilon, against the claimed delta."""

    delta: float
    claimed: float
    pair: tuple[Any, Any] | None

    @property
    def passes(self) -> bool:
        return self.delta <= self.claimed * (1 + 1e-9) + 1e-13


def worst(
    law: Callable[[Any], Law], pairs: Iterable[tuple[Any, Any]], *, epsilon: float, delta: float
) -> Excess:
    """The largest exact delta at ``epsilon`` over the pairs of neighbours."""
    laws: dict[Any, Law] = {}
    found, at = 0.0, None
    for pair in pairs:
        for data in pair:
            if data not in laws:
                laws[data] = law(data)
        excess = min_delta(laws[pair[0]], laws[pair[1]], epsilon=epsilon)
        if excess > found:
            found, at = excess, pair
    return Excess(found, delta, at)


def laplace_cells(centre: float, scale: float, edges: Sequence[float]) -> list[float]:
    """Probabilities of the intervals between edges under Laplace noise, tails included."""
    if scale == 0:
        below = [0.0, *(float(centre < edge) for edge in edges), 1.0]
    else:
        below = [0.0, *(laplace_below((edge - centre) / scale) for edge in edges), 1.0]
    return [high - low for low, high in pairwise(below)]


def laplace_below(z: float) -> float:
    return math.exp(z) / 2 if z < 0 else 1 - math.exp(-z) / 2


def tables(size: int, width: int) -> list[Rows]:
    """Every sorted table of ``size`` whole numbers within [0, width]."""
    return list(combinations_with_replacement(range(width + 1), size))


def replaced(rows: Rows, width: int) -> set[Rows]:
    """Every sorted table with one row exchanged."""
    return {
        tuple(sorted((*rows[:i], new, *rows[i + 1 :])))
        for i in range(len(rows))
        for new in range(width + 1)
    } - {rows}


def replace_pairs(size: int, width: int) -> list[tuple[Rows, Rows]]:
    return [(x, y) for x in tables(size, width) for y in replaced(x, width) if x < y]
