"""Fieller's intervals for ratios of linear combinations that may share noise.

With s and n the released numerator and denominator, r is in the interval if ``s - r n`` is no
larger than its own noise can make it: at most the half-width h(r) of the combination of draws that
is in it. A pair of single, independent draws with public bounds goes to ``ratio_intervals``, which
keeps its table; everything else is worked out here, for all rows at once.

h is a norm of the coefficients, because the noise is symmetric and log-concave (Bobkov 2010, on
floating bodies). So it is convex in r, its chords lie above it, and its slope is at most the
denominator's own half-width: once n exceeds that, the set is one interval.

Source: modern-data:C2; proof of the construction: ``proofs/intervals.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from discreet.release.estimate import Range, Released

if TYPE_CHECKING:
    from discreet.core.arrays import Floats
    from discreet.mechanisms.distributions.distribution import Law

_NODES = 257
_FEW_NODES = 33
_MANY_TERMS = 16
_HALVINGS = 45
_COARSE = 1e-3


def ratio_ends(
    numerators: Sequence[Released],
    denominators: Sequence[Released],
    noises: Sequence[tuple[Released, Released, Law]],
    *,
    offset: float,
    confidence: float,
    within: Range,
) -> tuple[list[float], list[float]]:
    """Lower and upper ends of offset + numerator / denominator, row by row, within a range.

    Contract: ``noises`` lists the independent draws with their factor in the numerator and in the
    denominator; the factors are the same in every row, the draws are not.

    Guarantee: each interval holds the true ratio at least as often as ``confidence`` says. It is
    the whole range where the denominator cannot be told from zero, or where no ratio fits.
    """
    import numpy as np

    from discreet.release.intervals.ratio import ratio_intervals

    s, n = np.array(numerators, dtype=float), np.array(denominators, dtype=float)
    low, high = within[0] - offset, within[1] - offset
    match noises:
        case [(1, 0, law_s), (0, 1, law_n)] if math.isfinite(low) and math.isfinite(high):
            ends = ratio_intervals(s, n, law_s, law_n, confidence=confidence, low=low, high=high)
        case _:
            ends = _general(s, n, noises, confidence, (low, high))
    lower, upper = (np.clip(offset + end, *within).tolist() for end in ends)
    return lower, upper


def _general(
    s: Floats,
    n: Floats,
    noises: Sequence[tuple[Released, Released, Law]],
    confidence: float,
    within: Range,
) -> tuple[Floats, Floats]:
    import numpy as np

    from discreet.release.intervals.linear import half_widths

    laws = [law for _, _, law in noises]
    above = np.array([factor for factor, _, _ in noises], dtype=float)
    below = np.array([factor for _, factor, _ in noises], dtype=float)

    def reach(r: Floats) -> Floats:
        if not laws:
            return np.zeros(len(r))
        return half_widths(above - np.multiply.outer(r, below), laws, confidence)

    own = float(half_widths(below[None, :], laws, confidence)[0]) if laws else 0.0
    lower, upper = np.full(n.shape, float(within[0])), np.full(n.shape, float(within[1]))
    bounded = np.abs(n) > own
    if not bounded.any():
        return lower, upper
    size, centre = np.abs(n[bounded]), s[bounded] / n[bounded]
    # No further out than this, since h is a norm: h(r) <= h(0) + |r| own.
    most = (float(reach(np.zeros(1))[0]) + np.abs(centre) * own) / (size - own)
    first, last = centre - most, centre + most
    nodes = _nodes(above, below, laws, float(first.min()), float(last.max()))
    heights = reach(nodes)
    if any(law.step > _COARSE * law.spread for law in laws):
        # On coarse grids h is not quite convex: between nodes, the largest around.
        around = np.concatenate((heights[:1], heights, heights[-1:]))
        heights = np.maximum(np.maximum(around[:-2], around[2:]), heights)
    first = centre - _distance(size, centre, -most, nodes, heights)
    last = centre + _distance(size, centre, most, nodes, heights)
    fits = (first <= within[1]) & (last >= within[0])
    lower[bounded] = np.where(fits, np.maximum(first, within[0]), within[0])
    upper[bounded] = np.where(fits, np.minimum(last, within[1]), within[1])
    return lower, upper


def _distance(size: Floats, centre: Floats, most: Floats, nodes: Floats, heights: Floats) -> Floats:
    """Just beyond the largest distance towards ``most`` that the noise can explain; bisection."""
    import numpy as np

    inside, outside = np.zeros(len(size)), np.ones(len(size))
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        held = np.interp(centre + middle * most, nodes, heights) >= size * middle * np.abs(most)
        inside, outside = np.where(held, middle, inside), np.where(held, outside, middle)
    return np.asarray(outside * np.abs(most))


def _nodes(above: Any, below: Any, laws: Sequence[Law], low: float, high: float) -> Floats:
    """Ratios between which h is nearly straight: even in angle, seen from where noise is least."""
    import numpy as np

    variances = np.array([law.std for law in laws]) ** 2
    spread = float(np.sum(variances * below**2))
    if spread == 0 or low == high:
        return np.array([low, high])
    least = float(np.sum(variances * above * below)) / spread
    width = math.sqrt(float(np.sum(variances * (above - least * below) ** 2)) / spread)
    width = max(width, 1e-9 * (high - low))
    count = _NODES if len(laws) <= _MANY_TERMS else _FEW_NODES
    angles = np.linspace(math.atan((low - least) / width), math.atan((high - least) / width), count)
    inner = least + width * np.tan(angles[1:-1])
    return np.unique(np.clip(np.concatenate(([low, least], inner, [high])), low, high))
