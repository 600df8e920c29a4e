"""The privacy curve of one pair, with no grid between: what a single event costs.

delta(epsilon) = P[Z > epsilon] - exp(epsilon) Q[Z > epsilon], atoms and infinity added one by one.
A grid would interpolate between its points, which shows where a law has few and distant losses, as
discrete noise on a sample has. Both sides are certified, which shows where rounding spoils them.

Source: 004a:D1, 004a:D2. Proof: ``proofs/pld.md``, "One pair".
"""

from __future__ import annotations

import math

import numpy as np

from discreet.accounting.pld.discretise import safe_atoms
from discreet.accounting.pld.pair import ULP, DominatingPair
from discreet.core.search import crossing, greatest

_LARGEST = 700.0
_LEAST = 1e-300


def curve_delta(pair: DominatingPair, epsilon: float, sign: int) -> float:
    """Delta at ``epsilon``: not below the pair's where ``sign`` is +1, not above it where -1."""
    at = np.array([epsilon])
    error = 4 * pair.rounding(at) + 8 * ULP
    p, q = pair.above(at)
    grown = np.exp(np.minimum(at, _LARGEST))
    spread = p * (1 + sign * error) - grown * q * np.maximum(1 - sign * error, 0.0)
    if sign > 0:
        # Tails may have been taken a little off: what lies between there and here is added.
        off = pair.blur(at)
        near, _ = pair.above(at - 3 * off)
        spread = spread + 2 * off * near * (1 + error)
    elif epsilon > _LARGEST:
        spread = np.zeros(1)
    found = max(float(spread[0]), 0.0) + pair.unbounded() * (1 + sign * 4 * ULP)
    atoms = [mass * -math.expm1(epsilon - z) for z, mass in safe_atoms(pair, sign) if z > epsilon]
    found = (found + math.fsum(atoms)) * (1 + sign * 16 * ULP)
    # Tails below the least float are not none: the grid knows where there is nothing.
    return min(max(found, _LEAST), 1.0) if sign > 0 else found


def curve_bounds(pair: DominatingPair, delta: float) -> tuple[float, float]:
    """Epsilons at ``delta`` from below and from above; 0 and infinity where nothing is known."""
    left = delta - pair.unbounded() * (1 + 4 * ULP)
    top = pair.reach(left / 16)[1] if left > 0 else math.inf
    if not top < _LARGEST or curve_delta(pair, top, 1) > delta:
        return 0.0, math.inf
    high = crossing(lambda e: curve_delta(pair, e, 1), delta, top)
    return greatest(lambda e: curve_delta(pair, e, -1) > delta, 0.0, high), high
