"""The first step of a synthesiser: every column by itself, and which of its values to merge.

Source: modern-data:A1, A2.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from fractions import Fraction

import numpy as np

from discreet.synthetic.adaptive_spend import AdaptiveSpend
from discreet.synthetic.graphical.measurement import NoisyMarginal
from discreet.synthetic.marginal_counts import MarginalCounts
from discreet.synthetic.merged import merge_rare


def measure_columns(
    spend: AdaptiveSpend,
    share: Fraction,
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
    each = share / len(sizes)
    found = [spend.measured(counts((place,)), each) for place in range(len(sizes))]
    merged = merge_rare(
        [noisy for noisy, _ in found],
        [math.sqrt(variance) for _, variance in found],
        threshold=threshold,
        kept=kept,
    )
    counts.merge(merged)
    marginals = []
    for place, (noisy, variance) in enumerate(found):
        codes, size = merged.codes[place], merged.sizes[place]
        values = np.bincount(codes, weights=noisy, minlength=size).astype(np.float64)
        together = np.bincount(codes, minlength=size).astype(np.float64)
        marginals.append(NoisyMarginal((place,), values, variance * together))
    return marginals
