"""What can be promised, and what cannot: sample sizes, errors, lower bounds. No data is read.

Source: 000a:F1–F3, G1; 004b:A3, A11. Errata: 004b:A3 (epsilon divides the minimum, it is not under
the root), 004b:A11 (of two readings of the printed fraction, the smaller is taken).
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import InvalidParameter
from discreet.core.parameters import count, positive, probability


def sampling_rows(*, queries: int, error: float) -> int:
    """Rows of a random sample that is within ``error`` on all queries, most likely.

    >>> sampling_rows(queries=1000, error=0.05)
    2764
    """
    many = count("queries", queries)
    return max(1, math.ceil(math.log(many) / float(probability("error", error)) ** 2))


def sampling_failure(*, queries: int, rows: int, error: float) -> float:
    """The chance that a sample is off by more: 2 |Q| exp(-2 m alpha**2) at most."""
    return min(1.0, 2 * queries * math.exp(-2 * rows * error**2))


def small_db_error(
    *, cells: int, queries: int, records: int, epsilon: float, confidence: float
) -> float:
    """The largest error of SmallDB over n, at its best parameter.

    >>> given = dict(cells=32, queries=32, epsilon=1, confidence=0.95)
    >>> round(small_db_error(**given, records=10**6), 5)
    0.05888
    """
    needed = _small_db(cells, queries, confidence)
    return float((needed / (positive("epsilon", epsilon) * count("records", records))) ** (1 / 3))


def small_db_records(
    *, cells: int, queries: int, error: float, epsilon: float, confidence: float
) -> int:
    """The number of records from which SmallDB reaches an error.

    >>> small_db_records(cells=32, queries=32, error=0.1, epsilon=1, confidence=0.95)
    204165
    """
    needed = _small_db(cells, queries, confidence)
    return math.ceil(needed / (float(positive("epsilon", epsilon)) * float(error) ** 3))


def _small_db(cells: int, queries: int, confidence: float) -> float:
    tail = 1 - float(probability("confidence", confidence))
    return 16 * math.log(cells) * math.log(queries) + 4 * math.log(1 / tail)


def net_error(
    *, fineness: float, candidates: int, records: int, epsilon: float, confidence: float
) -> float:
    """The net's own error plus 2 (ln|N| + ln(1/beta)) / (epsilon n)."""
    tail = 1 - float(probability("confidence", confidence))
    return fineness + 2 * (math.log(candidates) - math.log(tail)) / (epsilon * records)


def laplace_workload_error(*, queries: int, epsilon: float) -> float:
    """Expected squared error in all of d queries with noise of scale d / epsilon each.

    >>> laplace_workload_error(queries=4, epsilon=1)
    128.0
    """
    return 2 * float(count("queries", queries)) ** 3 / float(positive("epsilon", epsilon)) ** 2


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


def vc_floor(*, epsilon: float) -> float:
    """An error that no mechanism gets below with at most VC/2 records: 1 / (2 (e**epsilon + 1)).

    >>> round(vc_floor(epsilon=1), 4)
    0.1345
    """
    return 1 / (2 * (math.exp(float(positive("epsilon", epsilon))) + 1))


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
