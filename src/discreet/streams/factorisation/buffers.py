"""Decaying sums in whole numbers: what a buffered factorisation remembers of private increments.

A buffer b becomes floor(t b) + x at each tick, with t a multiple of 2**-30. It is held as four
whole numbers of 30 bits, the last of them signed, so that nothing is lost but what a floor drops:
less than one unit of 2**-54 events at each tick, whatever came before.

Proof: ``proofs/buffered.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LIMB = 30
LIMBS = 4
_MASK = (1 << LIMB) - 1

Whole = NDArray[np.int64]


def decayed(limbs: Whole, factor: Whole) -> Whole:
    """floor(b factor / 2**30) for numbers b in limbs (the first axis), 0 <= factor < 2**30.

    >>> held = np.array([[5], [7], [0], [-1]])
    >>> decayed(held, np.array([1 << 29])).ravel().tolist()
    [536870914, 3, 536870912, -1]
    """
    found = np.empty_like(limbs)
    carry = limbs[0] * factor >> LIMB
    for place in range(1, len(limbs)):
        carry = carry + limbs[place] * factor
        found[place - 1] = carry & _MASK
        carry = carry >> LIMB
    found[-1] = carry
    return found


def raised(limbs: Whole, steps: Whole) -> Whole:
    """b + steps 2**30, with limbs in their range again."""
    found = limbs.copy()
    carry = steps  # of all buffers alike, or of each
    for place in range(1, len(limbs) - 1):
        carry = carry + found[place]
        found[place] = carry & _MASK
        carry = carry >> LIMB
    found[-1] += carry
    return found


def weighed(limbs: Whole, weights: Whole) -> Whole:
    """floor of the sum of weights b / 2**60 over buffers (the second axis), 0 <= weights < 2**30.

    The lowest limbs lose less than one unit of 2**-30 for each buffer before the last floor.
    """
    low = np.sum((limbs[0] * weights >> LIMB) + limbs[1] * weights, axis=0)
    high = np.sum(limbs[2] * weights + (limbs[3] * weights << LIMB), axis=0)
    return np.asarray((low >> LIMB) + high)
