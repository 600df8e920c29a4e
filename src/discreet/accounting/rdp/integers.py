"""From integer orders to all: the logarithm of a moment is convex in its order.

A theorem that holds at integer orders only bounds K(n) = (n-1) D_n. For any two laws K is convex
with K(1) = 0, so between integers it lies below the chord of any upper bounds at its ends
(proofs/rdp.md). This is never worse than the printed remedy, the next integer (004a:E4).
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.curve import raised
from discreet.accounting.rdp.response import log1p_exp

if TYPE_CHECKING:
    from collections.abc import Callable

    from discreet.core.arrays import Floats


MOST = 2048
"""The highest order at which sums over orders are evaluated."""

_ROUNDING = 2.0**-50


def by_chords(orders: Floats, log_surplus: Callable[[Floats], Floats]) -> Floats:
    """The divergence at any orders, from the log of (moment - 1) at integers; infinite beyond MOST.

    ``log_surplus`` is called with increasing integers from 2 to ``MOST``.
    """
    result = np.full_like(orders, math.inf)
    within = orders <= MOST
    if not within.any():
        return result
    left = np.floor(orders[within])
    share = orders[within] - left
    ends = {*left.tolist(), *(left[share > 0] + 1).tolist()} - {1.0}
    wanted = np.array(sorted(ends))
    known = np.zeros(MOST + 2)
    if wanted.size:
        known[wanted.astype(np.intp)] = log1p_exp(log_surplus(wanted))
    start = left.astype(np.intp)
    with np.errstate(invalid="ignore"):
        ahead = np.where(share > 0, share * known[start + 1], 0.0)
    chord = (1 - share) * known[start] + ahead
    result[within] = raised(chord / (orders[within] - 1))
    return result


def binomial_logs(orders: Floats, rate: float, least: int) -> tuple[Floats, Floats]:
    """Logs of C(n, k) rate**k (1-rate)**(n-k), rounded up, and the k, from ``least`` to the last n.

    Rows are orders n; entries with k > n are minus infinity.
    """
    table = _log_factorials()
    whole = orders.astype(np.intp)[:, np.newaxis]
    k = np.arange(least, int(orders[-1]) + 1)
    rest = np.maximum(whole - k, 0)
    choose = table[whole] - table[k] - table[rest]
    joins, leaves = k * math.log(rate), rest * math.log1p(-rate)
    size = table[whole] + table[k] + table[rest] - joins - leaves + 4
    logs = choose + joins + leaves + _ROUNDING * size
    return np.where(k <= whole, logs, -math.inf), k.astype(np.float64)


def choose_logs(orders: Floats, least: int) -> tuple[Floats, Floats]:
    """Logs of C(n, k), rounded up, and the k; as :func:`binomial_logs`."""
    table = _log_factorials()
    whole = orders.astype(np.intp)[:, np.newaxis]
    k = np.arange(least, int(orders[-1]) + 1)
    rest = np.maximum(whole - k, 0)
    size = table[whole] + table[k] + table[rest] + 4
    logs = table[whole] - table[k] - table[rest] + _ROUNDING * size
    return np.where(k <= whole, logs, -math.inf), k.astype(np.float64)


def by_octaves(orders: Floats, evaluate: Callable[[Floats], Floats]) -> Floats:
    """``evaluate`` on increasing orders, octave by octave: a table as wide as its last order."""
    octaves = np.frexp(orders)[1]
    cuts = np.flatnonzero(np.diff(octaves)) + 1
    return np.concatenate([evaluate(part) for part in np.split(orders, cuts)])


def log_sum(logs: Floats) -> Floats:
    """Logs of sums along rows, rounded up; a row may be all but empty."""
    top = np.max(logs, axis=1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        sums = top[:, 0] + np.log(np.exp(logs - top).sum(axis=1))
    return np.asarray(sums + _ROUNDING * (np.abs(sums) + 16))


@cache
def _log_factorials() -> Floats:
    return np.array([math.lgamma(n + 1) for n in range(MOST + 2)])
