"""The sampled Gaussian at every real order, by a quadrature whose error is certified.

With u standard normal, t(u) = q (exp(mu u - mu**2/2) - 1) and g(t) = (1+t)**alpha - 1 - alpha t,

    exp((alpha-1) D_alpha) - 1 = E[g(t(u))],

since E[t] = 0; g is nowhere negative, so nothing cancels however small the rate. The trapezoidal
rule of step h on the whole line is off by at most r times the integral, for integrands of this
kind, with

    r = 2 exp(a**2/2) / (exp(2 pi a/h) - 1)    for any a <= pi/mu,

because the modulus of 1 - q + q exp(z) is largest where z is real, and its zeros are pi/mu away
from the real line. The nodes left out, the rounding and r are all added: proofs/rdp.md.

Source: 004a:E4, 004a:E9, 004c:7-2; trapezoidal rule: Trefethen and Weideman (2014), Thm 5.1.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.rdp.integers import log_sum

if TYPE_CHECKING:
    from discreet.core.arrays import Floats

_ROUNDING = 2.0**-50
_DIGITS = 35.0
_MOST_NODES = 1 << 12
_MOST_CELLS = 1 << 18
_LARGEST_LOSS = 600.0
_LEAST_MU, _MOST_MU = 1e-9, 1e3
_DYADIC = 1024


def log_surplus(mu: float, rate: float, orders: Floats) -> Floats:
    """Upper bounds of log(exp((alpha-1) D_alpha) - 1); infinite where too many nodes are needed.

    D_alpha is that of (1-rate) N(0,1) + rate N(mu,1) from N(0,1).
    """
    result = np.full_like(orders, math.inf)
    if not _LEAST_MU < mu < _MOST_MU:
        return result
    ranks = np.argsort(orders)
    widths = np.frexp(orders[ranks] * mu + 16)[1]
    for group in np.split(ranks, np.flatnonzero(np.diff(widths)) + 1):
        result[group] = _group(mu, rate, orders[group])
    return result


def _group(mu: float, rate: float, orders: Floats) -> Floats:
    """The same for increasing orders that share their nodes."""
    least, most = float(orders[0]), float(orders[-1])
    precision = _DIGITS - 2 * math.log(rate) - 2 * min(0.0, math.log(mu))
    precision -= min(0.0, math.log(least - 1))
    step, log_error = _step(mu, precision)
    reach = math.sqrt(2 * precision) + 1
    first, last = -math.ceil(reach / step), math.ceil((most * mu + reach) / step)
    nodes = last - first + 1
    largest_loss = mu * last * step
    if nodes > _MOST_NODES or largest_loss > _LARGEST_LOSS or step * _DYADIC < 1:
        if orders.size == 1:
            return np.array([math.inf])
        # Perhaps the lower ones can be had.
        half = orders.size // 2
        return np.concatenate([_group(mu, rate, orders[:half]), _group(mu, rate, orders[half:])])
    if nodes * orders.size > _MOST_CELLS:
        chunks = np.array_split(orders, math.ceil(nodes * orders.size / _MOST_CELLS) + 1)
        return np.concatenate([_group(mu, rate, chunk) for chunk in chunks if chunk.size])
    u = np.arange(first, last + 1, dtype=np.float64) * np.float64(step)
    t = _shares(mu, rate, u)
    column = orders[:, np.newaxis]
    logs = _log_excess(column, t) - u * u / 2 * (1 - _ROUNDING)
    scale = math.log(step) - math.log(2 * math.pi) / 2 + 2.0**-48
    at_last = orders * math.log1p(t[-1]) - u[-1] ** 2 / 2
    right = at_last - math.log(2 * math.pi) / 2 - np.log(u[-1] - orders * mu)
    right += 8 * _ROUNDING * (orders * math.log1p(t[-1]) + u[-1] ** 2 / 2 + 1)
    left = _log_excess(column, np.array([-rate * (1 + _ROUNDING)]))[:, 0]
    left = left - u[0] ** 2 / 2 * (1 - _ROUNDING) - math.log(2)
    unresolved = log_error + np.log(2 + 2 * orders * rate) + 2.0**-48
    parts = np.stack([log_sum(logs) + scale, right, left, unresolved], axis=1)
    return log_sum(parts) - math.log1p(-math.exp(log_error)) + 2.0**-46


def _step(mu: float, precision: float) -> tuple[float, float]:
    """A step with few binary digits, and the logarithm of its relative error r, rounded up."""
    step = math.pi * math.sqrt(2 / precision)
    if step < 2 * mu:
        step = 2 * math.pi**2 / (mu * (precision + math.pi**2 / (2 * mu**2)))
    step = math.floor(min(step, 0.75) * _DYADIC) / _DYADIC or step
    strip = min(math.pi / mu, 2 * math.pi / step) * (1 - 2.0**-40)
    exponent = 2 * math.pi * strip / step
    log_error = math.log(2) + strip**2 / 2 - exponent - math.log1p(-math.exp(-exponent))
    return step, log_error + 2.0**-40 * (1 + strip**2 + exponent)


def _shares(mu: float, rate: float, u: Floats) -> Floats:
    """t(u), rounded away from zero: g grows in either direction."""
    loss = mu * u - mu * mu / 2
    outward = 4 * _ROUNDING * (np.abs(mu * u) + mu * mu / 2)
    loss = loss + np.copysign(outward, loss)
    return rate * (1 + _ROUNDING) * np.expm1(loss)


def _log_excess(orders: Floats, t: Floats) -> Floats:
    """Logs of g(t) = (1+t)**alpha - 1 - alpha t, rounded up; orders in a column, t in a row."""
    linear = orders * t
    power = orders * np.log1p(t)
    low = np.minimum(power, 1.0)
    value = np.expm1(low)
    slack = 4 * _ROUNDING * ((1 + np.abs(low)) * np.abs(value) + np.abs(linear))
    direct = value - linear + slack
    near = np.abs(linear) < 0.01
    small = np.where(near, t, 0.0)
    series = np.ones_like(linear)
    for k in range(8, 2, -1):
        series = 1 + (orders - k + 1) * small / k * series
    series = orders * (orders - 1) / 2 * small * small * series * (1 + 16 * _ROUNDING)
    excess = np.where(near, series, np.maximum(direct, 0.0))
    positive = np.maximum(linear, 0.0)
    gap = np.maximum(power, 1.0) - np.log1p(positive)
    gap = gap + 8 * _ROUNDING * (np.abs(power) + np.log1p(positive) + 1)
    with np.errstate(divide="ignore"):
        far = power + np.log(-np.expm1(-np.maximum(gap, _ROUNDING)))
        logs = np.where(power > 1, far, np.log(excess))
    return np.asarray(logs + 8 * _ROUNDING * (1 + np.maximum(power, 0.0)))
