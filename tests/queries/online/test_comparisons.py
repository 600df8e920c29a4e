"""Comparisons whose noise is drawn ahead."""

import math
from collections import Counter

from discreet.mechanisms import AboveThreshold
from discreet.queries.online.comparisons import Comparisons


def test_comparisons_have_the_law_of_above_threshold() -> None:
    """000a:E1: at the threshold it halts at 1, 2, 3 with 1/2, 5/24, 5/48.

    About 8000 rounds; each frequency within 5 sigma, false alarms below 2e-6.
    """
    comparisons = Comparisons(AboveThreshold(epsilon=1, threshold=100, sensitivity=1))
    lengths: Counter[int] = Counter()
    run = 0
    for _ in range(30_000):
        run += 1
        if comparisons.above(100.0):
            lengths[run] += 1
            run = 0
    rounds = lengths.total()
    for length, chance in ((1, 1 / 2), (2, 5 / 24), (3, 5 / 48)):
        spread = math.sqrt(chance * (1 - chance) / rounds)
        assert abs(lengths[length] / rounds - chance) < 5 * spread
