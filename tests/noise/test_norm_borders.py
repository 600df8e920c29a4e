"""K-norm noise: what few bits leave open is decided by more of them, and by nothing else."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from discreet.noise.norm import Euclidean, KNorm, MaxNorm
from tests.noise.oracle import Told


@pytest.mark.parametrize("kind", [Euclidean, MaxNorm])
def test_a_coordinate_that_few_bits_leave_open_asks_for_more(kind: type[KNorm]) -> None:
    law = kind(Fraction(1000), 1, 4)
    known = [(15, 4), *[(9, 4)] * law.radials]
    source = Told(seed=2)
    ((column, value),) = law._decide(known, np.array([0]), source)
    assert column == 0
    assert source.given, "four bits of each variable leave many roundings open"
    least = (law.twice(15, 81 * law.radials, 4) + 1) // 2
    most = (law.twice(16, 100 * law.radials, 4) + 1) // 2
    assert least < most
    assert least <= value <= most
