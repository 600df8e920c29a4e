"""Sines, cosines, tangents and their inverses, of angles in radians: DOUBLE in, DOUBLE out.

Inverses are NULL outside of -1 to 1. Numerics: they come from the engine's mathematical library,
whose last place may differ from ours, so they yield no finite lists of values, and bounds are
widened by four places.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from discreet.relational.functions.function import Function, never
from discreet.relational.functions.intervals import Interval, domain_within, interval, widened
from discreet.relational.functions.signature import takes_reals
from discreet.relational.types.column_domain import ColumnDomain
from discreet.relational.types.data_type import DataType

_NOTHING = ColumnDomain(DataType.DOUBLE, values=())


def _reach(within: Interval) -> Callable[[ColumnDomain], ColumnDomain]:
    return lambda _: domain_within(DataType.DOUBLE, widened(within))


def _angle(name: str, compute: Callable[[float], float], within: Interval) -> Function:
    return Function(name, takes_reals(name, 1), _reach(within), compute, exact=never)


def _inverse(name: str, compute: Callable[[float], float], within: Interval) -> Function:
    def result(domain: ColumnDomain) -> ColumnDomain:
        low, high = interval(domain)
        return _NOTHING if high < -1 or low > 1 else _reach(within)(domain)

    return Function(
        name,
        accept=takes_reals(name, 1),
        result=result,
        compute=lambda value: compute(value) if -1 <= value <= 1 else None,
        exact=never,
    )


SIN = _angle("sin", math.sin, (-1.0, 1.0))
COS = _angle("cos", math.cos, (-1.0, 1.0))
TAN = _angle("tan", math.tan, (-math.inf, math.inf))
ATAN = _angle("atan", math.atan, (-math.pi / 2, math.pi / 2))
ASIN = _inverse("asin", math.asin, (-math.pi / 2, math.pi / 2))
ACOS = _inverse("acos", math.acos, (0.0, math.pi))

FUNCTIONS = (SIN, COS, TAN, ATAN, ASIN, ACOS)
