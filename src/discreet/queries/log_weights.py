"""The core of all multiplicative weights: weights known by their logarithms, up to one factor.

A weight is exp(rate * score). To learn is to add to scores; nothing is normalised until somebody
asks, and then from the largest score down, so that nothing overflows. Scores may be doubles at rate
one, as MWEM and its online kin keep them, or whole numbers at an exact rate, as games do: then
neighbouring data move the state exactly as proofs say, and draws have exactly the law of the state.

Source: 000a:F4; analysts-verified:H3, H4. Proofs: ``proofs/mwem.md``,
``proofs/analysts-sampled-game.md``, ``proofs/analysts-projection.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.arrays import Floats, Ints
from discreet.noise import Source, winner

ONE = Fraction(1)


@dataclass(eq=False)
class LogWeights:
    """Weights exp(rate * scores), up to a common factor.

    >>> weights = LogWeights(np.zeros(2))
    >>> weights.learn(np.array([0.0, 2.0]))
    >>> relative(weights.logs).round(4).tolist()
    [0.1353, 1.0]
    """

    scores: Floats | Ints
    rate: Fraction = ONE

    @classmethod
    def even(cls, size: int, rate: Fraction) -> LogWeights:
        """Equal weights of so many, that learn whole gains."""
        return cls(np.zeros(size, dtype=np.int64), rate)

    def learn(self, gains: Floats | Ints) -> None:
        """Add what each gained to its score."""
        self.scores += gains

    @property
    def logs(self) -> Floats:
        """The logarithms as doubles; at rate one the scores themselves, not a copy."""
        if self.rate == ONE and self.scores.dtype == np.float64:
            return np.asarray(self.scores)
        return np.asarray(self.scores.astype(np.float64) * float(self.rate))

    def draw(self, size: int, source: Source) -> Ints:
        """So many independent places, each exactly in proportion to its weight."""
        return winner(self.scores, self.rate, size, source)


def centred(logs: Floats, out: Floats | None = None) -> Floats:
    """Logarithms of the same weights, of which the largest is one."""
    made: Floats = np.subtract(logs, logs.max(), out=out)
    return made


def relative(logs: Floats, out: Floats | None = None) -> Floats:
    """The weights themselves, of which the largest is one."""
    made = centred(logs, out)
    np.exp(made, out=made)
    return made


def log_sums(logs: Floats, width: int) -> Floats:
    """Logarithms of the summed weights of consecutive groups of ``width``."""
    table = logs.reshape(-1, width)
    top = table.max(axis=1)
    return np.asarray(top + np.log(np.exp(table - top[:, None]).sum(axis=1)))
