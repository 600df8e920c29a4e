"""The first step of a synthesiser: every column by itself, and which of its values to merge.

How much of a spend columns deserve depends on how many records there are, which is private. So some
of it measures them first; where what came out says that noise is large beside the number of
records, they are measured once more.

Source: modern-data:A1, A2.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.core.parameters import Number, exact
from discreet.queries.record_count import PublicCount
from discreet.synthetic.adaptive_spend import AdaptiveSpend, mean_error
from discreet.synthetic.graphical.measurement import NoisyMarginal, noisy_total
from discreet.synthetic.marginal_counts import MarginalCounts
from discreet.synthetic.merged import merge_rare

LEAST_MORE = Fraction(1, 4)
"""Of the first share: less is not worth another measurement."""


@dataclass(frozen=True)
class ColumnShares:
    """What columns take of a spend: ``first``, and up to ``most`` where noise is large.

    Large is what moves more than ``error`` of all records to other values, in the mean column.
    """

    first: Fraction
    most: Fraction
    error: float

    @classmethod
    def fixed(cls, share: Number) -> ColumnShares:
        """So much, whatever comes out."""
        return cls(exact(share), exact(share), math.inf)

    def more(self, error: float, growth: int) -> Fraction:
        """What is added to the first share so that this error becomes the one that is wanted.

        Half the noise costs ``growth`` times as much. Less than a quarter of the first share is
        not worth another measurement.

        >>> shares = ColumnShares(Fraction(1, 10), Fraction(1, 3), 0.04)
        >>> shares.more(0.06, 4), shares.more(0.06, 2), shares.more(0.2, 4), shares.more(0.04, 4)
        (Fraction(1, 8), Fraction(1, 20), Fraction(7, 30), Fraction(0, 1))
        """
        most = self.most - self.first
        if not error > self.error or most <= 0:
            return Fraction(0)
        wanted = float(self.first) * ((error / self.error) ** math.log2(growth) - 1)
        more = most if wanted >= most else Fraction(wanted).limit_denominator(1000)
        return more if more >= LEAST_MORE * self.first else Fraction(0)


def measure_columns(
    spend: AdaptiveSpend,
    shares: ColumnShares,
    counts: MarginalCounts,
    sizes: tuple[int, ...],
    *,
    kept: Collection[int],
    threshold: float,
) -> list[NoisyMarginal]:
    """Measure every attribute for equal parts of a share; merge values below the threshold.

    Attributes in ``kept`` are not merged. From here on ``counts`` counts by merged values, and the
    measurements are of those.
    """
    found = _measured(spend, shares.first, counts, sizes)
    more = shares.more(_error(spend, shares.first, found), spend.terms.growth)
    if more:
        again = _measured(spend, more, counts, sizes)
        found = [one.joined(other) for one, other in zip(found, again, strict=True)]
    merged = merge_rare(
        [each.values for each in found],
        [each.deviation for each in found],
        threshold=threshold,
        kept=kept,
    )
    counts.merge(merged)
    marginals = []
    for place, each in enumerate(found):
        noisy, variance = each.values, each.variance
        codes, size = merged.codes[place], merged.sizes[place]
        values = np.bincount(codes, weights=noisy, minlength=size).astype(np.float64)
        together = np.bincount(codes, minlength=size).astype(np.float64)
        marginals.append(NoisyMarginal((place,), values, variance * together))
    return marginals


def _measured(
    spend: AdaptiveSpend, share: Fraction, counts: MarginalCounts, sizes: tuple[int, ...]
) -> list[NoisyMarginal]:
    found = []
    for place in range(len(sizes)):
        noisy, variance = spend.measured(counts((place,)), share / len(sizes), "columns")
        found.append(NoisyMarginal((place,), noisy, variance))
    return found


def _error(spend: AdaptiveSpend, share: Fraction, found: list[NoisyMarginal]) -> float:
    """The part of all records that noise moves, in the mean column: from what was released."""
    size = spend.terms.size
    total = float(size.records) if isinstance(size, PublicCount) else noisy_total(found)
    cells = sum(each.values.size for each in found) / len(found)
    noise = mean_error(spend.terms.noise(share / len(found)))
    return noise * cells / 2 / max(total, 1.0)
