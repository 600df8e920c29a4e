"""Functions that pass one of their arguments on: COALESCE, NULLIF, least, greatest.

``least`` and ``greatest`` are NULL where any argument is NULL, unlike those of some engines: a
missing cost does not become the bound it was to be held under.
"""

from __future__ import annotations

from typing import Any

from discreet.relational.functions.function import Function, always
from discreet.relational.functions.signature import takes_alike
from discreet.relational.types.column_domain import Facts, hull

MAX_ALTERNATIVES = 100
MAX_EXTREMES = 8


def _coalesce(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _least(*facts: Facts) -> Facts:
    """The least is below every upper bound there is, but may be any argument's lowest."""
    lows = [part.low for part in facts]
    highs = [part.high for part in facts if part.high is not None]
    return _within(facts, None if None in lows else min(lows), min(highs, default=None))


def _greatest(*facts: Facts) -> Facts:
    lows = [part.low for part in facts if part.low is not None]
    highs = [part.high for part in facts]
    return _within(facts, max(lows, default=None), None if None in highs else max(highs))


def _within(facts: tuple[Facts, ...], low: Any, high: Any) -> Facts:
    kind = facts[0].kind
    if kind.has_bounds:
        return Facts(kind, low=low, high=high)
    return hull(kind, facts)


COALESCE = Function(
    "coalesce",
    accept=takes_alike("COALESCE", least=1, most=MAX_ALTERNATIVES),
    result=lambda *facts: hull(facts[0].kind, facts),
    compute=_coalesce,
    strict=False,
    fits=always,
)
NULLIF = Function(
    "nullif",
    accept=takes_alike("NULLIF", least=2, most=2),
    result=lambda first, _: first,
    compute=lambda first, second: None if first == second else first,
    strict=False,
    fits=always,
)
LEAST = Function(
    "least",
    accept=takes_alike("least", least=1, most=MAX_EXTREMES),
    result=_least,
    compute=lambda *values: min(values),
    commutative=True,
    fits=always,
)
GREATEST = Function(
    "greatest",
    accept=takes_alike("greatest", least=1, most=MAX_EXTREMES),
    result=_greatest,
    compute=lambda *values: max(values),
    commutative=True,
    fits=always,
)

FUNCTIONS = (COALESCE, NULLIF, LEAST, GREATEST)
