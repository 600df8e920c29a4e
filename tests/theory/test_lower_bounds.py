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


def test_a_count_without_a_curator_grows_with_people() -> None:
    """000b:B17: .75 n against 1.657 at ln 3; and the variance is that of every count of yes."""
    three = math.log(3)
    assert theory.local_count_variance(people=1000, epsilon=three) == pytest.approx(750)
    assert theory.central_count_variance(epsilon=three) == pytest.approx(1.657, abs=5e-4)
    for epsilon, people in ((0.1, 3), (1.0, 4), (3.0, 5)):
        truth = math.exp(epsilon) / (1 + math.exp(epsilon))
        for yes in range(people + 1):
            moments = [0.0, 0.0]
            for told in product((0, 1), repeat=people):
                chances = [
                    truth if (person < yes) == bool(bit) else 1 - truth
                    for person, bit in enumerate(told)
                ]
                found = (sum(told) - people * (1 - truth)) / (2 * truth - 1)
                moments[0] += math.prod(chances) * found
                moments[1] += math.prod(chances) * found**2
            assert moments[0] == pytest.approx(yes, abs=1e-9)
            stated = theory.local_count_variance(people=people, epsilon=epsilon)
            assert moments[1] - moments[0] ** 2 == pytest.approx(stated)
