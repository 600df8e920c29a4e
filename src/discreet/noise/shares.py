"""Noise shares: parties draw them alone, and their sum is exactly discrete Laplace noise.

The discrete Laplace law is infinitely divisible. With a = exp(-1/scale), the n-th part of it is
the difference of two negative binomial (Pólya) variables of shape 1/n, the form on a grid of
Gamma(1/n) differences. Such a difference is a Poisson number of jumps, each a logarithmic
variable with a fair sign, and that is how it is drawn.

Gamma(1/n) shares rounded one by one would not do: each rounding adds its own error, so the law of
their sum depends on n, is neither the rounded nor the discrete Laplace law, and has no price.

Source: 000b:B16, 004a:C34. Proof: ``proofs/shares.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.parameters import count
from discreet.noise import table
from discreet.noise.enclosure import exp_minus, log_inverse
from discreet.noise.laplace import checked_scale
from discreet.noise.logarithmic import Logarithmic
from discreet.noise.randomness import SYSTEM, Noiseless, words16
from discreet.noise.table import OutcomeWeights

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from discreet.core.parameters import Number
    from discreet.noise.randomness import Source

_EXTRA = 64
_AT_ONCE = 1 << 14


def laplace_share(
    scale: Number, parties: int, size: int, source: Source = SYSTEM
) -> NDArray[np.int64]:
    """One party's shares for ``size`` coordinates.

    Contract: ``parties`` is the number of shares that are certain to reach the sum and that the
    adversary does not know, so leave out those who may drop out or collude. Further shares only
    add noise. Shares alone protect nothing: only their sum may be seen.
    Guarantee: the sum of ``parties`` independent calls has exactly P(z) = (1-a)/(1+a) a**|z|,
    modulo 2**64 (a sum beyond ±2**63 wraps round as in secure aggregation, and does not saturate:
    a share that saturates would not be a function of the sum).
    """
    checked = checked_scale(scale)
    jumps = Jumps(checked, count("parties", parties))
    if isinstance(source, Noiseless):
        return np.zeros(size, dtype=np.int64)
    jump = Logarithmic(checked)
    parts = [
        _sums(table.draw(jumps, min(_AT_ONCE, size - start), source), jump, source)
        for start in range(0, size, _AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _sums(counts: NDArray[np.int64], jump: Logarithmic, source: Source) -> NDArray[np.int64]:
    """Sums of so many jumps of fair sign each, in arithmetic modulo 2**64."""
    ends = np.cumsum(counts)
    total = int(ends[-1])
    sizes = jump.draw(total, source)
    signed = np.where(words16(source, total) & np.uint16(1), np.uint64(0) - sizes, sizes)
    reached = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(signed, dtype=np.uint64)])
    sums: NDArray[np.uint64] = reached[ends] - reached[ends - counts]
    return sums.astype(np.int64)


@dataclass(frozen=True)
class Jumps:
    """The number of jumps of one share: Poisson of mean -2 log(1 - a) / parties."""

    scale: Fraction
    parties: int

    def weights(self, bits: int) -> OutcomeWeights:
        """P(k) proportional to mean**k / k!, enclosed term by term."""
        # 1 - a is at least 2**-56: enough is left of it for its logarithm.
        work = bits + 2 * _EXTRA
        one = 1 << work
        fall = exp_minus(1 / self.scale, work)
        low, high = log_inverse(one - fall[1], one - fall[0], work)
        low, high = 2 * low // self.parties, -(-2 * high // self.parties)
        terms = [(one, one)]
        floor = 1 << (work - bits - _EXTRA // 2)
        # Stop where terms at least halve: the rest then weighs at most the last of them.
        while terms[-1][1] > floor or 2 * high > len(terms) << work:
            k = len(terms)
            least, most = terms[-1]
            terms.append(((least * low >> work) // k, -(-((most * high >> work) + 1) // k)))
        lows, highs = zip(*terms, strict=True)
        return OutcomeWeights(lows, highs, highs[-1])

    def values(self, count: int) -> NDArray[np.int64]:
        return np.arange(count, dtype=np.int64)
