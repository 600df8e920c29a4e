"""A workload as a linear map: shared sums are the same sums."""

import numpy as np
import pytest

from discreet.queries.workload.answers import marginal, product_answers, shared_answers
from discreet.queries.workload.families import Listed, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

UNIVERSE = Universe.of(a=range(4), b=range(3), c=range(5))

WORKLOAD = Workload.union(
    Workload.marginals(UNIVERSE, 2),
    Workload.of(UNIVERSE, {"a": Ranges(4), "c": Prefixes(5)}),
    Workload.of(UNIVERSE, {"b": Listed([[0.5, 0.25, 1.0], [0.0, 1.0, 1.0]])}),
)

COUNTS = (np.arange(60) * 7919) % 23

TABLE = COUNTS.astype(float)


def test_shared_sums_are_the_same_sums() -> None:
    assert shared_answers(WORKLOAD, TABLE) == pytest.approx(WORKLOAD.answers(COUNTS))
    parts = product_answers(WORKLOAD, TABLE)
    assert [len(part) for part in parts] == [product.queries for product in WORKLOAD.products]
    table = COUNTS.reshape(4, 3, 5)
    assert marginal(COUNTS.astype(float), (4, 3, 5), (0, 2)).tolist() == (
        table.sum(axis=1, keepdims=True).tolist()
    )
