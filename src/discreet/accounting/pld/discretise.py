"""Loss laws on a grid, as certified bounds from above and from below.

From above, each cell's mass is split between its ends so that both P and Q keep their masses:
the privacy curve is then interpolated linearly in exp(epsilon) between grid points, which lies
above the convex truth ("connecting the dots"). From below, the interpolated curve is lowered by
as much as it can exceed the truth within a cell. Both differ from the truth in second order of
the step only, so coarse grids suffice.

Each table has its own offset, on which its largest atom lies exactly. Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.accounting.pld.pair import Array, Pair

_ULP = 2.0**-52


@dataclass(frozen=True)
class LossTable:
    """Masses at losses ``offset + step * (first + i)``, and the mass at infinity."""

    step: float
    offset: float
    first: int
    masses: Array
    infinite: float

    @cached_property
    def losses(self) -> Array:
        """The loss of each mass."""
        numbers = np.arange(self.first, self.first + len(self.masses), dtype=np.float64)
        return self.offset + self.step * numbers


@dataclass(frozen=True)
class _Cells:
    """P- and Q-masses between grid points, with bounds of their rounding errors."""

    grid: Array
    first: int
    offset: float
    p: Array
    q: Array
    p_error: Array
    q_error: Array
    p_under: float
    p_over: float


def _table(cells: _Cells, masses: Array, infinite: float, step: float) -> LossTable:
    """Without the zeros at both ends."""
    there = np.flatnonzero(masses > 0)
    first, last = int(there[0]), int(there[-1])
    return LossTable(step, cells.offset, cells.first + first, masses[first : last + 1], infinite)


def from_above(pair: Pair, step: float, tail: float) -> LossTable:
    """A table whose privacy curve lies above the pair's, everywhere and under composition."""
    cells = _cut(pair, step, tail)
    right = _right_share(cells, step)
    slack = (cells.p_error + np.exp(cells.grid[:-1]) * cells.q_error) / step
    total = cells.p + cells.p_error
    right = np.clip(right + slack, 0.0, total)
    masses = np.zeros(len(cells.grid))
    masses[1:] += right
    masses[:-1] += total - right
    masses[0] += cells.p_under
    return _table(cells, masses, cells.p_over, step)


def from_below(pair: Pair, step: float, tail: float) -> LossTable:
    """A table whose privacy curve lies below the pair's, everywhere and under composition."""
    cells = _cut(pair, step, tail)
    grid, n = cells.grid, len(cells.grid)
    atoms = pair.atoms()
    p, q = cells.p.copy(), cells.q.copy()
    fixed = np.zeros(n)
    for loss, mass in atoms:
        if loss < grid[0] or loss > grid[-1] + step * 1e-9:
            continue
        cell = min(max(math.ceil((loss - grid[0]) / step - 1e-9) - 1, 0), n - 2)
        p[cell] -= mass
        q[cell] -= mass * math.exp(-loss)
        # On the grid exactly, or moved down to it.
        fixed[math.floor((loss - grid[0]) / step + 1e-9)] += mass
    p = np.maximum(p - cells.p_error - 1e-15 * cells.p, 0.0)
    q = np.maximum(q, 0.0)
    masses = fixed + _lowered(grid, p, q, step)
    return _table(cells, np.maximum(masses, 0.0), pair.unbounded(), step)


def _cut(pair: Pair, step: float, tail: float) -> _Cells:
    atoms = pair.atoms()
    offset = float(atoms[:, 0].max()) % step if len(atoms) else 0.0
    low, high = pair.reach(tail)
    first = math.floor((low - offset) / step - 1e-9)
    last = math.ceil((high - offset) / step - 1e-9)
    numbers = np.arange(first, max(last, first + 1) + 1, dtype=np.float64)
    grid = offset + step * numbers
    p_above, q_above = pair.above(grid)
    p_below, q_below = pair.below(grid)
    p, p_error = _between(p_above, p_below)
    q, q_error = _between(q_above, q_below)
    return _Cells(
        grid, first, offset, p, q, p_error, q_error, float(p_below[0]), float(p_above[-1])
    )


def _between(above: Array, below: Array) -> tuple[Array, Array]:
    """Masses of cells, taken from the side on which the tail is smaller, and error bounds."""
    upper = above[:-1] < below[1:]
    mass = np.where(upper, above[:-1] - above[1:], below[1:] - below[:-1])
    error = 8 * _ULP * np.where(upper, above[:-1], below[1:])
    return np.maximum(mass, 0.0), error


def _right_share(cells: _Cells, step: float) -> Array:
    """What goes to the right end of each cell: (P - exp(left) Q) / (1 - exp(-step))."""
    share = (cells.p - np.exp(cells.grid[:-1]) * cells.q) / -math.expm1(-step)
    return np.clip(share, 0.0, cells.p)


def _lowered(grid: Array, p: Array, q: Array, step: float) -> Array:
    """Masses at grid points of a curve below that of the cells' masses.

    Within a cell the interpolated curve exceeds the truth by at most D = r (1 - exp(z - right)),
    with r the right share and z = ln(p/q). Lowering both ends of every cell by the larger D of
    its two neighbours keeps every segment below the truth.
    """
    x = np.exp(grid)
    right = np.clip((p - x[:-1] * q) / -math.expm1(-step), 0.0, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        merged = np.where(q > 0, p / np.where(q > 0, q, 1.0), x[1:])
    merged = np.clip(merged, x[:-1], x[1:])
    excess = right * (1 - merged / x[1:])
    lowering = np.zeros(len(grid))
    lowering[1:-1] = np.maximum(excess[:-1], excess[1:])
    lowering[-2] = max(lowering[-2], right[-1] * (1 - x[-2] / x[-1]))
    bend = np.diff(np.concatenate(([0.0], np.diff(lowering) / np.diff(x), [0.0])))
    q_masses = (np.append(p - right, 0.0) + np.append(0.0, right)) / x - bend
    total = float(q_masses.sum())
    falls = _above_zero(np.cumsum(q_masses[::-1])[::-1][1:], np.diff(x))
    rises = _above_tangent(total - falls, np.diff(x))
    slopes = _pooled(rises, np.diff(x))
    # Each mass from the side on which little is left, so that tails keep their digits.
    from_low = np.diff(np.concatenate(([0.0], slopes, [total])))
    from_high = -np.diff(np.concatenate(([total], falls, [0.0])))
    untouched = np.concatenate((slopes == total - falls, [True]))
    upper = np.concatenate(([False], falls < total / 2)) & untouched & np.roll(untouched, 1)
    return np.where(upper, from_high, from_low) * x


def _above_zero(falls: Array, widths: Array) -> Array:
    """The curve's falls per segment, following zero where lowering has brought it under zero."""
    height = np.cumsum((falls * widths)[::-1])[::-1]
    under = np.flatnonzero(height < 0)
    if len(under):
        k = int(under[0])
        falls = falls.copy()
        falls[max(k - 1, 0) :] = 0.0
        if k >= 2:
            falls[k - 2] = height[k - 2] / widths[k - 2]
    return falls


def _above_tangent(slopes: Array, widths: Array) -> Array:
    """What the curve rises above its tangent at the lowest losses, and never below it."""
    height = np.concatenate(([0.0], np.cumsum(slopes * widths)))
    under = np.flatnonzero(height < 0)
    if len(under):
        k = int(under[-1])
        slopes = slopes.copy()
        slopes[: k + 1] = 0.0
        if k + 1 < len(slopes):
            slopes[k + 1] = max(height[k + 2], 0.0) / widths[k + 1]
    return slopes


def _pooled(slopes: Array, widths: Array) -> Array:
    """Slopes of the greatest convex minorant: adjacent slopes that decrease are pooled."""
    if not (np.diff(slopes) < 0).any():
        return slopes
    pools: list[list[float]] = []
    for slope, width in zip(slopes.tolist(), widths.tolist(), strict=True):
        pools.append([slope * width, width, 1])
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] >= pools[-1][0] * pools[-2][1]:
            rise, run, length = pools.pop()
            pools[-1] = [pools[-1][0] + rise, pools[-1][1] + run, pools[-1][2] + length]
    values = [rise / run for rise, run, _ in pools]
    return np.repeat(values, [int(length) for _, _, length in pools])
