"""Half-widths of linear combinations of independent noises.

A total over cells, a difference, an average's numerator minus a guess times its denominator: all
are sums of c_i Z_i. The law of such a sum is computed, not approximated by a normal, which is too
short for Laplace noise: the sum of four Lap(1) needs 5.693 where a normal of the same deviation
says 5.544. Noise only: sampling error and the bias of bounding are not in it.

Source: modern-data:C1. Proof: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.special import ndtri

from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.core.parameters import finite, probability
from discreet.mechanisms.distributions.symmetric import Companion, Distribution
from discreet.release.intervals.contour import Sums
from discreet.release.intervals.laplace_pairs import is_laplace, laplace_pairs
from discreet.release.intervals.lattice import (
    _UPWARD,
    common_half_width,
    common_step,
    gridded_half_width,
    pair_half_widths,
    raised_off_grid,
)

_SHARP = 1e-6
_CLOSE = 1e-3
_ENUMERABLE = 4096
_ENUMERABLE_IN_BULK = 64
_MARGIN = 3
_AT_ONCE = 4096
_BROAD = 4
_MANY = 16
_RESOLVED = 2e-11
"""Below it the rounding errors of a Fourier transform could hide all of a tail."""
_HARMONICS = np.arange(1.0, 9.0)


def half_width(  # noqa: PLR0911 -- one way for each kind of sum
    terms: Sequence[tuple[float, Distribution]], *, confidence: float
) -> float:
    """The least h with P(|sum of c_i Z_i| <= h) >= ``confidence``, for independent noises Z_i.

    Guarantee: never below it; above it by at most 1e-6 relatively where the steps are at most
    1e-6 of the noise, or the c_i * step_i have a common measure, or there are two terms of which
    one has a scale of at most 4096 steps; else by at most 1e-4 standard deviations per term. More
    than sixteen terms on coarse grids without one are treated as :func:`half_widths` treats them.
    For a ``confidence`` above 1 - 2e-11, by at most as far as the noises are off their continuous
    companions, a step or less for each term.

    >>> from discreet.mechanisms.distributions.distribution import RoundedLaplace
    >>> one = RoundedLaplace(scale=1, step=2.0**-40)
    >>> round(half_width([(1, one)] * 4, confidence=0.95), 6)
    5.692571
    """
    alpha = 1 - float(probability("confidence", confidence))
    terms = [(abs(float(finite("coefficient", c))), distribution) for c, distribution in terms]
    terms = [(c, distribution) for c, distribution in terms if c > 0]
    if not terms:
        return 0.0
    if len(terms) == 1:
        return terms[0][0] * terms[0][1].half_width(confidence)
    row = np.array([[c for c, _ in terms]])
    laws = [distribution for _, distribution in terms]
    continuous, apart = (float(part[0]) for part in _continuous(row, laws, alpha))
    if apart <= _SHARP / 2 * continuous or alpha < _RESOLVED:
        return continuous + apart
    unit = common_step(terms)
    if unit is not None:
        units = dict.fromkeys((c, law.step) for c, law in terms)
        steps = (Fraction(c) * Fraction(step) for c, step in units)
        return raised_off_grid(common_half_width(terms, alpha, unit), steps)
    if len(terms) > _MANY:
        return float(_coarse(row, laws, alpha)[0])
    if (
        len(terms) == 2
        and min(distribution.spread / distribution.step for distribution in laws) <= _ENUMERABLE
    ):
        bracket = (np.array([max(0.0, continuous - apart)]), np.array([continuous + apart]))
        return float(pair_half_widths(row, (laws[0], laws[1]), alpha, bracket, tolerance=_SHARP)[0])
    return min(continuous + apart, gridded_half_width(terms, alpha))


def half_widths(coefficients: Floats, laws: Sequence[Distribution], confidence: float) -> Floats:
    """``half_width`` for each row of ``coefficients`` (cells x terms), all at once.

    Guarantee: as for ``half_width`` where the steps are at most 1e-3 of the noise, at most 1e-3
    wider. Where they are coarser: for two noises, one of a scale of at most 64 steps, the same;
    else wider by at most 1e-3 and the finest c_i * step_i, and never below for ``confidence`` of
    at least .5, as far as was computed; this one is not proven.
    """
    confidence = float(probability("confidence", confidence))
    rows = np.abs(np.asarray(coefficients, dtype=np.float64))
    if rows.ndim != 2 or rows.shape[1] != len(laws) or not np.isfinite(rows).all():
        raise InvalidParameter(
            code="coefficients_misshapen",
            expectation=f"finite coefficients, cells x {len(laws)} noises",
            received=rows.shape,
            remedy="Pass one row per cell and one column per law.",
        )
    widths = np.zeros(len(rows))
    count = np.count_nonzero(rows, axis=1)
    for j, distribution in enumerate(laws):
        alone = (count == 1) & (rows[:, j] > 0)
        if alone.any():
            widths[alone] = rows[alone, j] * distribution.half_width(confidence)
    several = np.flatnonzero(count > 1)
    for start in range(0, len(several), _AT_ONCE):
        block = several[start : start + _AT_ONCE]
        widths[block] = _several(rows[block], laws, confidence)
    return widths


def half_width_bounds(
    coefficients: Floats, laws: Sequence[Distribution], confidence: float
) -> tuple[Floats, Floats]:
    """Bounds of ``half_widths`` for each row: from the continuous laws, and how far noises are."""
    rows = np.abs(coefficients)
    continuous, apart = _continuous(rows, laws, 1 - confidence)
    return np.maximum(0.0, continuous - apart), (continuous + apart) * (1 + _CLOSE)


def _several(rows: Floats, laws: Sequence[Distribution], confidence: float) -> Floats:
    """Half-widths where at least two coefficients of each row are not zero."""
    if (rows == rows[0]).all():
        return np.full(
            len(rows),
            half_width(list(zip(rows[0].tolist(), laws, strict=True)), confidence=confidence),
        )
    alpha = 1 - confidence
    widths = np.empty(len(rows))
    # No noise alone needs more than all together, so this is a lower bound.
    alone = np.max(rows * [distribution.half_width(confidence) for distribution in laws], axis=1)
    coarse = (
        rows @ np.array([distribution.companion.apart for distribution in laws]) > _CLOSE * alone
    )
    if not coarse.all():
        widths[~coarse] = _summed(rows[~coarse], laws, alpha)
    if coarse.any():
        widths[coarse] = _coarse(rows[coarse], laws, alpha)
    return widths


def _continuous(rows: Floats, laws: Sequence[Distribution], alpha: float) -> tuple[Floats, Floats]:
    """Half-widths of the continuous variables, and how far the noises may be from them."""
    known = {law: replace(law.companion, weight=1.0, uniform=0.0) for law in set(laws)}
    companions = [known[law] for law in laws]
    apart = rows @ np.array([c.apart for c in companions])
    return _inverted(rows, companions, alpha), apart


def _inverted(rows: Floats, companions: Sequence[Companion], alpha: float) -> Floats:
    """Half-widths of sums of continuous laws; if all are normal, in closed form.

    A uniform beside normals counts by its variance; its lighter tail errs on the wide side.
    """
    if all(c.exponential == 0 for c in companions):
        variances = [c.normal**2 + c.uniform**2 / 12 for c in companions]
        sigmas = np.sqrt(rows**2 @ np.array(variances))
        return np.asarray(-float(ndtri(alpha / 2)) * _UPWARD * sigmas)
    if len(companions) == 2 and all(map(is_laplace, companions)):
        first, second = (row * c.exponential for row, c in zip(rows.T, companions, strict=True))
        return laplace_pairs(first, second, alpha) * _UPWARD
    return Sums(rows, companions).half_widths(alpha) * _UPWARD


def _coarse(rows: Floats, laws: Sequence[Distribution], alpha: float) -> Floats:
    """Half-widths where steps are a noticeable part of the noise."""
    widths = np.zeros(len(rows))
    two = np.count_nonzero(rows, axis=1) == 2
    for i, j in combinations(range(len(laws)), 2) if two.any() else ():
        pair = (laws[i], laws[j])
        both = two & (rows[:, i] > 0) & (rows[:, j] > 0)
        if (
            both.any()
            and min(distribution.spread / distribution.step for distribution in pair)
            <= _ENUMERABLE_IN_BULK
        ):
            part = rows[both][:, [i, j]]
            continuous, apart = _continuous(part, pair, alpha)
            bracket = (np.maximum(0.0, continuous - apart), continuous + apart)
            widths[both] = pair_half_widths(part, pair, alpha, bracket, tolerance=_CLOSE)
    # Smoothing needs a noise broader than every step, and a width beyond the rounding.
    uniform = rows @ np.array([distribution.companion.uniform for distribution in laws])
    widest = np.max(rows * [distribution.step for distribution in laws], axis=1)
    broadest = np.max(rows * [distribution.spread for distribution in laws], axis=1)
    alone = np.max(rows * [distribution.exceeded(alpha) for distribution in laws], axis=1)
    smooth = (broadest >= widest) & (alone >= uniform)
    for method, chosen in ((_smooth, smooth), (_summed, ~smooth)):
        part = np.flatnonzero(chosen & (widths == 0))
        if part.size:
            widths[part] = method(rows[part], laws, alpha)
    return widths


def _summed(rows: Floats, laws: Sequence[Distribution], alpha: float) -> Floats:
    """The continuous half-width and all that the noises may be apart from it."""
    continuous, apart = _continuous(rows, laws, alpha)
    return continuous + apart


def _smooth(rows: Floats, laws: Sequence[Distribution], alpha: float) -> Floats:
    """The half-width of the companions, and the ripple of the grids around it."""
    around = _inverted(rows, [distribution.companion for distribution in laws], alpha)
    return (around + _ripple(rows, laws)) * (1 + _CLOSE / 3)


def _ripple(rows: Floats, laws: Sequence[Distribution]) -> Floats:
    """How far the steps of the tail may stray from its smooth course.

    The grid of each term shows in the tail as a wave of its frequency and the multiples, damped by
    the characteristic functions of the other terms; undamped it is a saw tooth of half a step.
    Where a term is broad beside every grid, it damps all waves but its own.
    """
    grids = rows * [distribution.step for distribution in laws]
    broad = rows * [distribution.spread for distribution in laws] >= _BROAD * grids.max(
        axis=1, keepdims=True
    )
    own = 0.5 * np.min(grids, axis=1, initial=np.inf, where=broad)
    coarse = (grids > _SHARP * grids.max(axis=1, keepdims=True)).any(axis=0)
    ripple: Floats = 0.5 * grids[:, ~coarse].sum(axis=1)
    alike: dict[tuple[Distribution, bytes], list[int]] = {}
    for j, law in enumerate(laws):
        if (rows[:, j] > 0).any():
            alike.setdefault((law, rows[:, j].tobytes()), []).append(j)
    for places in alike.values():
        if not coarse[places[0]]:
            continue
        grid = grids[:, places[0]]
        t = 2 * math.pi * _HARMONICS / np.where(grid > 0, grid, np.inf)[:, None]
        damping = np.ones(t.shape)
        for (other, _), others in alike.items():
            power = len(others) - (others is places)
            if power:
                factor = np.abs(other.characteristic(rows[:, others[0], None] * t))
                damping *= factor if power == 1 else factor**power
        wave = grid * np.minimum(0.5, _MARGIN * (damping / (math.pi * _HARMONICS)).sum(axis=1))
        ripple += len(places) * wave
    return np.asarray(np.minimum(ripple, own))
