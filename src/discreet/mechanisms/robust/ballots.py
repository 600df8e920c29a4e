"""Values that can be counted, in one canonical form each, and the two most frequent of them.

Equal values of different looks (1, True, 1.0; 0.0, -0.0) would let the released one tell which
came first. So each kind is its own, and what is released is the canonical form.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Lead:
    """The most frequent value, if any, and how far it is ahead of the next. Private."""

    winner: Any
    gap: int
    any_votes: bool


def lead(values: Iterable[Any]) -> Lead:
    """Count canonical values and compare the two most frequent; ties go to either.

    Values without a canonical form do not count. One value added or removed moves the gap by at
    most one, one exchanged by at most two.
    """
    counts = Counter(key for key in map(canonical, values) if key is not None)
    top = counts.most_common(2)
    if not top:
        return Lead(None, 0, any_votes=False)
    runner_up = top[1][1] if len(top) > 1 else 0
    return Lead(_plain(top[0][0]), top[0][1] - runner_up, any_votes=True)


def canonical(value: Any) -> tuple[str, Any] | None:
    """A hashable form that tells kinds apart; None for missing and for other objects.

    >>> canonical(1), canonical(True), canonical(-0.0), canonical(float("nan"))
    (('int', 1), ('bool', True), ('float', 0.0), None)
    """
    kind = type(value)
    if isinstance(value, np.generic):
        return canonical(value.item()) if not isinstance(value.item(), np.generic) else None
    if kind is float:
        return None if math.isnan(value) else ("float", value + 0.0)
    if kind in (bool, int, str, bytes):
        return kind.__name__, value
    if kind in (tuple, frozenset):
        parts = [canonical(part) for part in value]
        if any(part is None for part in parts):
            return None
        return kind.__name__, kind(parts)
    return None


def _plain(key: tuple[str, Any]) -> Any:
    kind, value = key
    if kind == "tuple":
        return tuple(_plain(part) for part in value)
    if kind == "frozenset":
        return frozenset(_plain(part) for part in value)
    return value
