"""The error that MWEM's theorem promises."""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.mechanisms import Exponential
from discreet.noise import Seeded
from discreet.queries.mwem.fitting import (
    SmallSteps,
)
from discreet.queries.mwem.mwem import MWEM, AverageIterate
from discreet.queries.mwem.rounds import QueryRound
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.theory.query_release import mwem_bound

TABLE = Universe.of(a=range(4), b=range(4), c=range(4), d=range(4))


def correlated(records: int) -> np.ndarray:
    """Records whose attributes mostly repeat the first one."""
    numbers = np.random.default_rng(8)
    first = numbers.choice(4, records, p=[0.5, 0.3, 0.15, 0.05])
    columns = [first]
    for _ in range(3):
        fresh = numbers.choice(4, records, p=[0.4, 0.3, 0.2, 0.1])
        columns.append(np.where(numbers.random(records) < 0.7, columns[-1], fresh))
    counts = np.zeros(TABLE.shape, dtype=np.int64)
    np.add.at(counts, tuple(columns), 1)
    return counts


def test_the_printed_bound_with_its_exponent() -> None:
    """2 n sqrt(ln|X|/T) + 10 T ln|Q| / epsilon holds in practice, with room."""
    workload, counts = Workload.marginals(TABLE, 2), correlated(5000)
    bound = mwem_bound(cells=256, queries=96, records=5000, rounds=10, epsilon=1)
    assert bound == pytest.approx(10000 * math.sqrt(math.log(256) / 10) + 100 * math.log(96))
    mechanism = MWEM(
        workload,
        dp.PureDP(epsilon=1),
        PublicCount(5000),
        10,
        each=QueryRound(stepping=SmallSteps()),
        selection=Exponential,
        iterate=AverageIterate(),
        passes=1,
        randomness=Seeded(4),
    )
    errors = mechanism.release(counts).answers(workload) - workload.answers(counts)
    assert np.abs(errors).max() < bound
