"""Loss laws on a grid, as certified bounds from above and from below.

From above, each cell's mass is split between its ends so that both P and Q keep their masses:
the privacy curve is then interpolated linearly in exp(epsilon) between grid points, which lies
above the convex truth ("connecting the dots"). From below, each cell is merged with its
neighbours into masses at the grid points between them, which lies below. Both differ from the
truth in second order of the step only, so coarse grids suffice.

Grid points are exact in floating point. Each table has its own offset, on which an atom lies.
Proof: ``proofs/pld.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.accounting.pld.pair import DominatingPair
from discreet.core.arrays import Bools, Floats

_ULP = 2.0**-52
_PASSES = 40
_ROUNDS = 30


@dataclass(frozen=True)
class LossTable:
    """Masses at losses ``offset + step * (first + i)``, and the mass at infinity."""

    step: float
    offset: float
    first: int
    masses: Floats
    infinite: float

    @cached_property
    def losses(self) -> Floats:
        """The loss of each mass, exactly."""
        numbers = np.arange(self.first, self.first + len(self.masses), dtype=np.float64)
        return self.offset + self.step * numbers


def exact_step(step: float, farthest: float) -> float:
    """``step`` rounded up so that its multiples up to ``farthest`` are exact, and sums of two."""
    unit = _unit(step, farthest)
    return math.ceil(step / unit) * unit


def _unit(step: float, farthest: float) -> float:
    return 2.0 ** (math.frexp(farthest + 2 * step)[1] - 51)


@dataclass(frozen=True)
class _Cells:
    """A grid, P- and Q-masses between its points, and masses beyond its ends.

    ``end`` is the number of a point above which there is nothing at all, if there is one.
    """

    grid: Floats
    offset: float
    first: int
    p: Floats
    q: Floats
    p_under: float
    p_over: float
    q_over: float
    end: int | None
    atoms: list[tuple[float, float]]


def from_above(pair: DominatingPair, step: float, tail: float) -> LossTable:
    """A table whose privacy curve lies above the pair's, everywhere and under composition."""
    cells = _cut_pair_into_cells(pair, step, tail, sign=1)
    spread = -math.expm1(-step)
    right = (cells.p - np.exp(cells.grid[:-1]) * cells.q) / spread
    masses = np.zeros(len(cells.grid) + 1)
    masses[:-2] += cells.p - right
    masses[1:-1] += right
    # Where tails were taken a little off a grid point, up to this has to move up by two cells.
    blur = pair.blur(cells.grid)
    moved = np.abs(cells.p) * np.minimum((blur[:-1] + blur[1:]) / spread, 1.0)
    masses[:-2] -= moved
    masses[2:] += moved
    masses[0] += cells.p_under
    masses = np.maximum(masses, 0.0)
    if cells.end is not None:  # nothing is beyond this point
        masses[cells.end] += masses[cells.end + 1 :].sum()
        masses[cells.end + 1 :] = 0.0
    for loss, mass in cells.atoms:
        cell = _floor((loss - cells.offset) / step, loss, cells.offset, step) - cells.first
        ahead = loss - cells.grid[cell]
        share = min(1.0, -math.expm1(-ahead) / spread * (1 + 8 * _ULP))
        masses[cell] += mass * (1 - share)
        masses[cell + 1] += mass * share
    return _table(cells, masses * (1 + 4 * _ULP), cells.p_over + pair.unbounded(), step)


def from_below(pair: DominatingPair, step: float, tail: float) -> LossTable:
    """A table whose privacy curve lies below the pair's, everywhere and under composition."""
    pair = pair.convert_to_atoms(tail)
    cells = _cut_pair_into_cells(pair, step, tail, sign=-1)
    masses = _merge_cells_onto_grid(cells)
    for loss, mass in cells.atoms:
        cell = _floor((loss - cells.offset) / step, loss, cells.offset, step) - cells.first
        masses[cell] += mass
    infinite = pair.unbounded() * (1 - 4 * _ULP)
    return _table(cells, masses * (1 - 8 * _ULP), infinite, step)


def _table(cells: _Cells, masses: Floats, infinite: float, step: float) -> LossTable:
    """Without the zeros at both ends."""
    there = np.flatnonzero(masses > 0)
    if not len(there):
        return LossTable(step, cells.offset, cells.first, np.full(1, 1e-300), infinite)
    first, last = int(there[0]), int(there[-1])
    return LossTable(step, cells.offset, cells.first + first, masses[first : last + 1], infinite)


def safe_atoms(pair: DominatingPair, sign: int) -> list[tuple[float, float]]:
    """Atoms with their losses and masses moved to the safe side of rounding."""
    z, p = pair.atoms().T
    if not len(z):
        return []
    far = np.abs(z)
    moved = z + sign * (pair.blur(z) + 4 * _ULP * far)
    raised = p * (1 + sign * _ULP * (16 + 4 * float(far.max())))
    return list(zip(moved.tolist(), raised.tolist(), strict=True))


def _floor(guess: float, loss: float, offset: float, step: float) -> int:
    """The number of the last grid point at or below ``loss``."""
    number = math.floor(guess)
    while offset + step * number > loss:
        number -= 1
    while offset + step * (number + 1) <= loss:
        number += 1
    return number


def _cut_pair_into_cells(pair: DominatingPair, step: float, tail: float, *, sign: int) -> _Cells:
    low, high = pair.reach(tail)
    atoms = safe_atoms(pair, sign)
    low = min([low, *(loss for loss, _ in atoms)])
    high = max([high, *(loss for loss, _ in atoms)])
    offset = _offset(_anchors(pair, atoms), step, max(-low, high), sign)
    first = math.floor((low - offset) / step) - 1
    last = math.ceil((high - offset) / step) + 1
    grid = offset + step * np.arange(first, last + 1, dtype=np.float64)
    p_above, q_above = pair.above(grid)
    p_below, q_below = pair.below(grid)
    end = int(np.searchsorted(grid, high))
    error = 4 * sign * pair.rounding(grid)
    p_above, q_above = p_above * (1 + error), q_above * np.maximum(1 - error, 0.0)
    return _Cells(
        grid,
        offset,
        first,
        _between(p_above, p_below),
        _between(q_above, q_below),
        float(p_below[0]),
        float(p_above[-1]),
        float(q_above[-1]),
        end if p_above[end] == 0 else None,
        atoms,
    )


def _anchors(pair: DominatingPair, atoms: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """What the grid may be laid through: the atoms, or a point of the lattice they are on."""
    lattice = pair.lattice()
    return atoms if lattice is None else [(lattice[0], 1.0)]


def _offset(atoms: list[tuple[float, float]], step: float, farthest: float, sign: int) -> float:
    """Where an atom lies on the grid: the heaviest from above, the largest from below."""
    if not atoms:
        return 0.0
    chosen = max(atoms, key=lambda atom: atom[1 if sign > 0 else 0])[0]
    unit = _unit(step, farthest)
    rounded = math.ceil(chosen / unit) if sign > 0 else math.floor(chosen / unit)
    return (rounded % round(step / unit)) * unit


def _between(above: Floats, below: Floats) -> Floats:
    """Masses of cells: differences of tails, from the side on which they are smaller."""
    turn = max(int(np.count_nonzero(above >= below)) - 1, 0)
    return np.concatenate((np.diff(below[: turn + 1]), -np.diff(above[turn:])))


def _merge_cells_onto_grid(cells: _Cells) -> Floats:
    """Masses at grid points, of a curve below that of the cells' masses.

    At each grid point as much is taken from the cells on both sides as together has that
    point's loss, at most half of what each has left, several times over. What then remains
    moves down to the cell's lower end.
    """
    x = np.exp(cells.grid)
    p, q = cells.p.copy(), cells.q.copy()
    p[-1] += cells.p_over
    q[-1] += cells.q_over
    p, q = _ordered(p, q, x)
    slack = 4 * _ULP * p
    up, down = (x[1:] * q - p + slack)[:-1], (p - x[:-1] * q - slack)[1:]
    fits = (up > 0) & (down > 0)
    up, down = np.where(fits, up, 1.0), np.where(fits, down, 1.0)
    left = np.ones(len(p))
    masses = np.zeros(len(cells.grid))
    for _ in range(_ROUNDS):
        met = np.where(fits, np.minimum(left[:-1] * up, left[1:] * down) / 2, 0.0)
        rising, falling = met / up, met / down
        masses[1:-1] += p[:-1] * rising + p[1:] * falling
        left[:-1] -= rising
        left[1:] -= falling
    masses[:-1] += p * np.maximum(left, 0.0)
    return masses


def _ordered(p: Floats, q: Floats, x: Floats) -> tuple[Floats, Floats]:
    """Cells whose masses have a loss between the cell's ends.

    Rounding can make those of a nearly empty cell have another: it then joins its neighbour,
    which drops one of the lines whose maximum the curve is.
    """
    for _ in range(_PASSES):
        low = p < x[:-1] * q * (1 + 4 * _ULP)
        high = ~low & (p > x[1:] * q)
        low &= (p != 0) | (q != 0)
        high[:-1] &= ~low[1:]  # neighbours that would change places join instead
        if not (low.any() or high.any()):
            return p, q
        p, q = (_joined(masses, low, high) for masses in (p, q))
    p = p.copy()
    p[: int(np.flatnonzero(low | high)[-1]) + 1] = 0.0
    return p, np.where(p > 0, q, 0.0)


def _joined(masses: Floats, low: Bools, high: Bools) -> Floats:
    """Masses after the cells marked have gone down or up; at the ends they go for good."""
    kept = np.where(low | high, 0.0, masses)
    kept[:-1] += np.where(low, masses, 0.0)[1:]
    kept[1:] += np.where(high, masses, 0.0)[:-1]
    return kept
