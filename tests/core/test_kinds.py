"""What cannot be meant is refused by its kind, before anything inside it is looked at."""

from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.calculus import (
    AddRemove,
    Integers,
    Record,
    Rows,
    Space,
    count_rows,
    filter_rows,
    metric_of,
)
from discreet.core.errors import InvalidData, InvalidParameter, Mismatch
from discreet.mechanisms import Laplace, PermuteAndFlip, RandomizedResponse, Sparse
from discreet.mechanisms.robust import StableMode
from discreet.noise import Seeded

PEOPLE = Space(Rows(Integers()), AddRemove())


class Frame:
    """Looks like a table of columns."""

    columns = ("age",)

    def __len__(self) -> int:
        return 3


@pytest.mark.parametrize(
    "table", ["hello", b"hello", {"age": [1, 2]}, Frame(), np.ones((2, 2)), 5, None]
)
def test_only_sequences_of_rows_are_tables(table: Any) -> None:
    pipeline = count_rows(PEOPLE) >> Laplace(epsilon=1, sensitivity=1)
    with pytest.raises(InvalidData, match="not_a_table"):
        pipeline.release(table)
    with pytest.raises(InvalidData, match="not_a_table"):
        filter_rows(PEOPLE, bool)(table)


@pytest.mark.parametrize("table", [[], [1, 2], (1,), np.array([1, 2, 3])])
def test_lists_tuples_and_columns_are_tables(table: Any) -> None:
    assert count_rows(PEOPLE)(table) == len(table)


def test_a_record_must_be_described() -> None:
    with pytest.raises(InvalidParameter, match="not_a_domain"):
        Rows(int)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameter, match="not_a_domain"):
        Record.of({"age": int})  # type: ignore[dict-item]


def test_an_identifier_must_be_a_column() -> None:
    visits = Rows(Record.of({"patient": Integers()}))
    Space(visits, metric_of(dp.Person("patient", max_rows=2)))
    with pytest.raises(Mismatch, match="metric_does_not_fit"):
        Space(visits, metric_of(dp.Person("nope", max_rows=2)))


@pytest.mark.parametrize("randomness", [np.random.default_rng(0), 3, None, "seed"])
def test_randomness_comes_from_a_source_that_says_whether_it_is_private(randomness: Any) -> None:
    for build in (
        lambda r: Laplace(epsilon=1, sensitivity=1, randomness=r),
        lambda r: PermuteAndFlip(epsilon=1, sensitivity=1, randomness=r),
        lambda r: RandomizedResponse(epsilon=1, categories=2, randomness=r),
        lambda r: Sparse.pure(epsilon=1, cutoff=1, threshold=0, sensitivity=1, randomness=r),
        lambda r: StableMode(epsilon=1, delta=0.1, randomness=r),
    ):
        assert build(Seeded(1)).event is not None
        with pytest.raises(InvalidParameter, match="not_a_source"):
            build(randomness)
