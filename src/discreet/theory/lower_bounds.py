"""What no mechanism can do better: lower bounds on the error of linear queries.

And what a count costs without a curator: by Theorem 9.2 of 000b:B17 the error of people who hold
one bit each, and add no secret shares, is of the order of their number's root, whatever they do.

Source: 000a:F1, F3; 000b:B17; 004b:A3. Errata: 004b:A3 (epsilon divides the minimum, it is not
under the root).
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, positive
from discreet.theory.calculator import calculator


@calculator
def laplace_workload_error(*, queries: int, epsilon: float) -> float:
    """Expected squared error in all of d queries with noise of scale d / epsilon each.

    >>> laplace_workload_error(queries=4, epsilon=1)
    128.0
    """
    return 2 * float(count("queries", queries)) ** 3 / float(positive("epsilon", epsilon)) ** 2


@calculator
def hardt_talwar(*, queries: int, cells: int, epsilon: float) -> float:
    """The order of the least L2 error for d random queries: no mechanism does better.

    min(d sqrt(d), d sqrt(ln(N/d))) / epsilon, up to a constant that the theorem leaves open.
    """
    d, size = count("queries", queries), count("cells", cells)
    if d > size:
        raise InvalidParameter(
            code="queries_exceed_cells",
            expectation="no more queries than cells",
            received=(d, size),
            remedy="The bound is about fewer queries than cells.",
        )
    return min(d * math.sqrt(d), d * math.sqrt(math.log(size / d))) / float(
        positive("epsilon", epsilon)
    )


@calculator
def local_count_variance(*, people: int, epsilon: float) -> float:
    """Variance of a count of yes from randomized response: n e**epsilon / (e**epsilon - 1)**2.

    Of the noise alone: who has the bit is fixed. The same for every number of yes.

    >>> round(local_count_variance(people=1000, epsilon=math.log(3)), 6)
    750.0
    """
    half = math.sinh(float(positive("epsilon", epsilon)) / 2)
    return count("people", people) / (4 * half * half)


@calculator
def central_count_variance(*, epsilon: float) -> float:
    """Variance of the count that a trusted party releases with Laplace noise: 2 / epsilon**2.

    >>> round(central_count_variance(epsilon=math.log(3)), 3)
    1.657
    """
    return 2 / float(positive("epsilon", epsilon)) ** 2


@calculator
def vc_floor(*, epsilon: float) -> float:
    """An error that no mechanism gets below with at most VC/2 records: 1 / (2 (e**epsilon + 1)).

    >>> round(vc_floor(epsilon=1), 4)
    0.1345
    """
    return 1 / (2 * (math.exp(float(positive("epsilon", epsilon))) + 1))


@calculator
def vc_dimension(predicates: NDArray[np.generic]) -> int:
    """The most cells that the predicates, a 0/1 row each, can tell apart in all ways.

    By brute force: for small universes.

    >>> vc_dimension(np.eye(4))
    1
    """
    rows = np.unique(np.asarray(predicates).astype(bool), axis=0)
    most = int(math.log2(len(rows)))
    largest = 0
    for size in range(1, min(most, rows.shape[1]) + 1):
        whole = 1 << size
        powers = 1 << np.arange(size)
        if not any(
            len(np.unique(rows[:, chosen] @ powers)) == whole
            for chosen in map(list, combinations(range(rows.shape[1]), size))
        ):
            break
        largest = size
    return largest
