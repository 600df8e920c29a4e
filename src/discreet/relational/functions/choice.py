"""Functions that pass one of their arguments on: COALESCE, NULLIF, least, greatest.

``least`` and ``greatest`` are NULL where any argument is NULL, unlike those of some engines: a
missing cost does not become the bound it was to be held under.
"""

from __future__ import annotations

from typing import Any

from discreet.relational.functions.function import Function, always
from discreet.relational.functions.signature import takes_alike
from discreet.relational.types.column_domain import ColumnDomain, hull

MAX_ALTERNATIVES = 100
MAX_EXTREMES = 8


def _coalesce(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _least(*domain: ColumnDomain) -> ColumnDomain:
    """The least is below every upper bound there is, but may be any argument's lowest."""
    lows = [part.low for part in domain]
    highs = [part.high for part in domain if part.high is not None]
    return _within(domain, None if None in lows else min(lows), min(highs, default=None))


def _greatest(*domain: ColumnDomain) -> ColumnDomain:
    lows = [part.low for part in domain if part.low is not None]
    highs = [part.high for part in domain]
    return _within(domain, max(lows, default=None), None if None in highs else max(highs))


def _within(domain: tuple[ColumnDomain, ...], low: Any, high: Any) -> ColumnDomain:
    kind = domain[0].kind
    if kind.has_bounds:
        return ColumnDomain(kind, low=low, high=high)
    return hull(kind, domain)


COALESCE = Function(
    "coalesce",
    accept=takes_alike("COALESCE", least=1, most=MAX_ALTERNATIVES),
    result=lambda *domain: hull(domain[0].kind, domain),
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
    ordered=True,
    fits=always,
)
GREATEST = Function(
    "greatest",
    accept=takes_alike("greatest", least=1, most=MAX_EXTREMES),
    result=_greatest,
    compute=lambda *values: max(values),
    commutative=True,
    ordered=True,
    fits=always,
)

FUNCTIONS = (COALESCE, NULLIF, LEAST, GREATEST)
