"""No records, one or two: every mechanism answers them as it answers many.

The mechanisms are those of ``test_records_per_person``, which has a row for each public one.
Compared is what is no noisy number: whether there is an answer or a refusal, and its words;
warnings are errors. Nothing here can fail by chance.
"""

from __future__ import annotations

import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.trees.points import Points
from discreet.queries.trees.privtree import PrivTree
from discreet.queries.trees.quadtree import QuadTree
from discreet.queries.workload.workload import Workload
from tests.queries.analysts import test_records_per_person as of_analysts
from tests.queries.mechanism_rows import COME_OR_GO, EXCHANGED, PURE, Row, Wholes
from tests.queries.test_records_per_person import PREFIXES, ROWS, SQUARE

EVERY = (*ROWS, *of_analysts.ROWS)
CASES = [(row, relation) for row in EVERY for relation in row.relations]


def outcome(row: Row, mechanism: Any, counts: Wholes) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            row.play(mechanism, counts)
        except dp.errors.DiscreetError as refused:
            return str(refused)
    return "answered"


def tables(cells: int, records: int) -> list[Wholes]:
    """All records in the first cell, in the last, and in both."""
    first, last = np.zeros((2, cells), dtype=np.int64)
    first[0], last[-1] = records, records
    return [first, last, *([(first + last) // 2] if records > 1 else [])]


@pytest.mark.parametrize(
    ("row", "relation"), CASES, ids=[f"{row.title}, {relation}" for row, relation in CASES]
)
def test_few_records_are_answered_like_any_others(row: Row, relation: str) -> None:
    cells, told = len(row.counts), Counter[str]()
    if relation == COME_OR_GO:
        mechanism = row.build(row.spend, NoisyRecordCount(), 1)
        few = [table for records in (0, 1, 2) for table in tables(cells, records)]
        told.update(outcome(row, mechanism, table) for table in few)
        assert set(told) == {"answered"}, told
    for records in (1, 2) if relation == EXCHANGED else ():
        try:
            mechanism = row.build(row.spend, PublicCount(records), 1)
        except dp.errors.DiscreetError:
            continue  # refused by the public number, whatever the records are
        each = {outcome(row, mechanism, table) for table in tables(cells, records)}
        assert len(each) == 1, each


@pytest.mark.parametrize("kind", [PrivTree, QuadTree])
@pytest.mark.parametrize("workload", [PREFIXES, Workload.marginals(SQUARE, 1)], ids=["1", "2"])
def test_points_may_be_none(kind: Any, workload: Workload) -> None:
    sides = len(workload.universe.shape)
    tree = kind(workload, PURE, NoisyRecordCount())
    for points in ([], np.empty((0, sides), dtype=int), [[0] * sides], [[9] * sides] * 2):
        assert len(tree.release(Points(points)).answers(workload)) == workload.queries
