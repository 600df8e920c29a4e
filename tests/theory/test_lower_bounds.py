"""What no mechanism can do better."""

import math
from itertools import product

import numpy as np
import pytest

from discreet import theory
from discreet.errors import InvalidParameter
from discreet.queries.workload.families import Ranges


def test_the_lower_bound_is_below_what_laplace_noise_does() -> None:
    for d, cells in ((4, 8), (16, 1024), (256, 1 << 20)):
        floor = theory.hardt_talwar(queries=d, cells=cells, epsilon=0.5)
        assert floor <= math.sqrt(theory.laplace_workload_error(queries=d, epsilon=0.5))
        assert floor == pytest.approx(min(d**1.5, d * math.sqrt(math.log(cells / d))) / 0.5)
    with pytest.raises(InvalidParameter, match="queries_exceed_cells"):
        theory.hardt_talwar(queries=9, cells=8, epsilon=1)


def test_vc_dimensions_of_the_catalogue() -> None:
    """000a:F3: intervals 2, singletons 1, monotone conjunctions over d bits d."""
    assert theory.vc_dimension(Ranges(6).dense()) == 2
    assert theory.vc_dimension(np.eye(5)) == 1
    cells = np.array(list(product((0, 1), repeat=3)))
    conjunctions = [cells[:, list(chosen)].all(axis=1) for chosen in _subsets(3)]
    assert theory.vc_dimension(np.array(conjunctions)) == 3
    assert theory.vc_dimension(np.ones((1, 4))) == 0


def _subsets(size: int) -> list[tuple[int, ...]]:
    return [tuple(i for i in range(size) if mask >> i & 1) for mask in range(1 << size)]
