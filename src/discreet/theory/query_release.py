"""Errors that theorems promise of query release, and sample sizes, before anything is spent.

Source: 000a:F1, F2, F5, G1, G4, G5; 004b:A11, A15. Errata: 004b:A11 (of two readings of the printed
fraction, the smaller is taken); 004b:A15 (the bound is printed without its exponent 1/3); 000a:F5
(the leading 32 of Thm 4.14 is 36; the root of the threshold for delta > 0 covers c ln(2/delta)
alone; all noise is divided by n); 000a:G5 (the constants of Thm 5.7 are 32 T and
64 sqrt(T ln(1/delta)), where the text prints 8 T and 16).
"""

from __future__ import annotations

import math

from discreet.core.parameters import count, positive, probability
from discreet.queries.online.pmw import least_error
from discreet.theory.calculator import calculator


@calculator
def sampling_failure(*, queries: int, rows: int, error: float) -> float:
    """The chance that a sample is off by more: 2 |Q| exp(-2 m alpha**2) at most."""
    return min(1.0, 2 * queries * math.exp(-2 * rows * error**2))


@calculator
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


@calculator
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


@calculator
def net_error(
    *, fineness: float, candidates: int, records: int, epsilon: float, confidence: float
) -> float:
    """The net's own error plus 2 (ln|N| + ln(1/beta)) / (epsilon n)."""
    tail = 1 - float(probability("confidence", confidence))
    return fineness + 2 * (math.log(candidates) - math.log(tail)) / (epsilon * records)


@calculator
def mwem_bound(*, cells: int, queries: int, records: int, rounds: int, epsilon: float) -> float:
    """An error that no query exceeds, but with probability 2 T / |Q|, before anything is spent.

    2 n sqrt(ln|X| / T) + 10 T ln|Q| / epsilon, for single queries, small steps, the exponential
    mechanism, one pass and the average iterate under a pure spend.
    """
    size, many, steps = count("cells", cells), count("queries", queries), count("rounds", rounds)
    loss = float(positive("epsilon", epsilon))
    learning = 2 * count("records", records) * math.sqrt(math.log(size) / steps)
    return learning + 10 * steps * math.log(many) / loss


@calculator
def pmw_error(
    *,
    cells: int,
    queries: int,
    records: int,
    epsilon: float,
    confidence: float,
    delta: float = 0.0,
) -> float:
    """The alpha of the theorem: the book's mechanism is 3 alpha accurate on all queries.

    >>> given = dict(cells=1024, queries=1000, records=10**6, epsilon=1, confidence=0.95)
    >>> round(pmw_error(**given), 5), round(pmw_error(**given, delta=1e-6), 5)
    (0.16763, 0.09727)
    """
    size, many, n = count("cells", cells), count("queries", queries), count("records", records)
    beta = 1 - float(probability("confidence", confidence))
    loss = float(positive("epsilon", epsilon))
    logs = math.log(size)

    def noise(alpha: float) -> float:
        union = math.log(many) + math.log(32 * logs / (alpha**2 * beta))
        if delta == 0:
            return 36 * logs * union / (loss * alpha**2 * n)
        root = math.sqrt(logs * math.log(2 / delta))
        return (2 + 32 * math.sqrt(2)) * root * union / (alpha * loss * n)

    return least_error(noise)


@calculator
def construction_error(
    *,
    updates: int,
    queries: int,
    records: int,
    epsilon: float,
    confidence: float,
    delta: float = 0.0,
) -> float:
    """The error alpha that noise allows, at ``confidence``, with updates bounded at alpha/2.

    The larger of 8 ln(2T/beta) / (e n) and 16 ln(2T|Q|/beta) / (e n), with e = epsilon / 2T, or
    epsilon / (4 sqrt(T ln(1/delta))): 32 T and 64 sqrt(T ln(1/delta)) times ln(|Q|/gamma)/(n
    epsilon).
    """
    rounds, many, n = (
        count("updates", updates),
        count("queries", queries),
        count("records", records),
    )
    beta = 1 - float(probability("confidence", confidence))
    each = step_epsilon(updates=rounds, epsilon=epsilon, delta=delta)
    measured = 8 * math.log(2 * rounds / beta) / (each * n)
    selected = 16 * math.log(2 * rounds * many / beta) / (each * n)
    return max(measured, selected)


@calculator
def step_epsilon(*, updates: int, epsilon: float, delta: float) -> float:
    """What each of 2T steps may cost in the text's closed form.

    >>> round(step_epsilon(updates=100, epsilon=1, delta=1e-6), 6)
    0.006726
    """
    total = float(positive("epsilon", epsilon))
    if delta == 0:
        return total / (2 * updates)
    return total / (4 * math.sqrt(updates * math.log(1 / delta)))
