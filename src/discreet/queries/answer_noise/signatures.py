"""Which coefficients occur how often: answers with the same ones have the same law.

Coefficients are told apart to twelve digits or so, so that those which rounding alone parts count
as equal; widths are raised by more than that.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.mechanisms.distributions.symmetric import Distribution

Signature = tuple[tuple[float, int], ...]
"""Magnitudes above zero, each with how often it occurs."""

COARSE = 256.0
"""Noise of fewer steps than this is treated by its own law where it can be."""
_PLACES = 40
_NONE = 1e-12
_MOST_KINDS = 1 << 10
_MOST_VALUES = 1 << 11
"""Different magnitudes of all kinds together, up to which each kind is treated by itself."""
_UPWARD = 1 + 1e-9
_ONE: Signature = ((1.0, 1),)


@dataclass(frozen=True)
class Kinds:
    """The signatures that occur, and which of them each answer has."""

    signatures: tuple[Signature, ...]
    places: Ints


def kinds_of(rows: Floats) -> Kinds:
    """The signatures of rows of coefficients."""
    sizes = np.sort(np.abs(rows), axis=1)
    largest = sizes[:, -1:]
    sizes = np.where(sizes > _NONE * largest, _rounded(sizes), 0.0)
    found, places = np.unique(sizes, axis=0, return_inverse=True)
    signatures = tuple(_signature(row) for row in found)
    return Kinds(signatures, np.ravel(places))


def counted_ones(counts: Floats) -> Kinds:
    """The signatures of sums of so many draws each."""
    found, places = np.unique(counts.astype(np.int64), return_inverse=True)
    return Kinds(tuple(((1.0, int(many)),) if many else () for many in found), np.ravel(places))


def combined_kinds(parts: Sequence[Kinds]) -> Kinds | None:
    """Signatures of all combinations, a row of each part times one of every other.

    None where there are too many different ones to treat each by itself.
    """
    if math.prod(len(each.signatures) for each in parts) > _MOST_KINDS:
        return None
    known: dict[Signature, int] = {}
    numbers = []
    for chosen in itertools.product(*(each.signatures for each in parts)):
        if math.prod(map(len, chosen)) > _MOST_VALUES:
            return None
        made = reduce(_times, chosen, _ONE)
        numbers.append(known.setdefault(made, len(known)))
    table = np.array(numbers, dtype=np.int64).reshape([len(each.signatures) for each in parts])
    places = table[np.ix_(*(each.places for each in parts))]
    return Kinds(tuple(known), np.ravel(places))


def exact_widths(kinds: Kinds, noise: Distribution, *, step: float, confidence: float) -> Floats:
    """The half-width of each answer by its own law; infinite where there are too many laws."""
    from discreet.release.intervals.repeated import repeated_half_width  # SciPy, on first use

    if sum(map(len, kinds.signatures)) * _effort(noise) > _MOST_VALUES:
        return np.full(kinds.places.shape, np.inf)
    found = [repeated_half_width(s, noise, confidence=confidence) for s in kinds.signatures]
    return np.array(found)[kinds.places] * step * _UPWARD


def _effort(noise: Distribution) -> int:
    """How long a characteristic function takes: that of narrow normal noise is a sum."""
    return 40 if noise.companion.normal and noise.spread < noise.step else 1


def _rounded(sizes: Floats) -> Floats:
    """To forty binary digits each."""
    mantissas, exponents = np.frexp(sizes)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissas, _PLACES)), exponents - _PLACES))


def _signature(row: Floats) -> Signature:
    values, many = np.unique(row[row > 0], return_counts=True)
    return tuple(zip(values.tolist(), many.tolist(), strict=True))


def _times(one: Signature, other: Signature) -> Signature:
    found: Counter[float] = Counter()
    for (a, many), (b, more) in itertools.product(one, other):
        found[float(_rounded(np.array(a * b)))] += many * more
    return tuple(sorted(found.items()))
