"""Who takes part: exact permutations, samples of a fixed size, and Poisson samples.

Contract: every permutation, every subset of the size, or every subset with its product of
probabilities, has exactly its stated chance. Source: 004a:E1; contract,
"Bounding inside the engine" (only our sampler amplifies). Proof: ``proofs/sampling.md``.
"""

from __future__ import annotations

from itertools import accumulate
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count
from discreet.noise.bernoulli import bernoulli
from discreet.noise.randomness import SYSTEM, Noiseless, integer, words64

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.core.parameters import Number
    from discreet.noise.randomness import Source


def permutation(length: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """A uniformly random order of ``0 … length-1``.

    Independent 64-bit keys are sorted. Given that they are distinct, every order is equally
    likely; equal keys, which occur with probability below length**2 / 2**65, are all drawn again.
    """
    count("length", length, least=0)
    if isinstance(source, Noiseless):
        return np.arange(length, dtype=np.int64)
    while True:
        keys = words64(source, length)
        order = np.argsort(keys, kind="stable")
        in_order = keys[order]
        if not (in_order[1:] == in_order[:-1]).any():
            return order.astype(np.int64)


def fixed_size_sample(size: int, of: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """A uniformly random subset of ``size`` out of ``of`` indices, in increasing order."""
    count("size", size, least=0)
    if count("of", of, least=0) < size:
        raise InvalidParameter(
            code="sample_too_large",
            expectation="a sample no larger than what it is drawn from",
            received=(size, of),
            remedy="Reduce the sample size.",
        )
    return np.sort(permutation(of, source)[:size])


def weighted_choice(weights: Sequence[Fraction], source: Source = SYSTEM) -> int:
    """The number of one of several options, with exactly the chance of its rational weight.

    Contract: ``weights`` are not negative and add up to one.
    """
    if not weights or sum(weights) != 1 or min(weights) < 0:
        raise InvalidParameter(
            code="weights_do_not_fit",
            expectation="rational weights that add up to one, none of them negative",
            received=float(sum(weights)),
            remedy="Divide them by their sum.",
        )
    below = lcm(*(weight.denominator for weight in weights))
    bits = (below - 1).bit_length()
    while True:
        drawn = integer(source, bits) if bits else 0
        if drawn < below:
            break
    upto = accumulate(int(weight * below) for weight in weights)
    return next(place for place, end in enumerate(upto) if drawn < end)


def uniform_multiset(size: int, of: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """``size`` out of ``of`` indices, repetitions allowed, in order: each list as likely as any.

    They are a subset of ``of + size - 1`` numbers, less how many of it stand before each.
    """
    many = count("of", of) + count("size", size) - 1
    if isinstance(source, Noiseless):
        return np.zeros(size, dtype=np.int64)
    steps = np.arange(size, dtype=np.int64)
    if many < max(1024, size * size):
        return fixed_size_sample(size, many, source) - steps
    while True:
        drawn = np.sort(uniform_integers(many, size, source))
        if (drawn[1:] > drawn[:-1]).all():
            return drawn - steps


def poisson_sample(rate: Number, of: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """Each of ``of`` indices joins independently with probability ``rate``."""
    return np.flatnonzero(bernoulli(rate, count("of", of, least=0), source)).astype(np.int64)


def uniform_integers(below: int, size: int, source: Source = SYSTEM) -> NDArray[np.int64]:
    """``size`` independent uniform integers in ``[0, below)``, by rejection of the surplus."""
    below = count("below", below)
    if below > 1 << 62:
        raise InvalidParameter(
            code="range_too_large",
            expectation="a range of at most 2**62",
            received=below,
            remedy="Split the range.",
        )
    shift = np.uint64(64 - max((below - 1).bit_length(), 1))
    out = words64(source, size) >> shift
    surplus = np.flatnonzero(out >= below)
    while len(surplus):
        out[surplus] = words64(source, len(surplus)) >> shift
        surplus = surplus[out[surplus] >= below]
    return out.astype(np.int64)
