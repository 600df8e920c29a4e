"""The split of a spend as it is kept: everything that values are read with is in it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import discreet as dp
from discreet.curator.batch import planned_batch
from discreet.curator.sql import planned_sql
from discreet.relational.aggregates.measures import Total
from discreet.relational.planning.allocation import Allocation, Noised
from discreet.relational.planning.planned_query import Settled
from discreet.relational.planning.stored_allocation import allocated, allocated_together
from tests.relational.frontends.hospital import curator

PURE = dp.PureDP(epsilon=1)
ASKED = "SELECT COUNT(*) AS n, SUM(cost) AS s, MEDIAN(age) AS m FROM visits"


@pytest.fixture(scope="module")
def source() -> dp.Curator:
    return curator()


def made(source: dp.Curator, spend: Any = PURE, text: str = ASKED) -> Any:
    return planned_sql(source.context, text, spend)[1]


def test_equal_questions_have_equal_splits(source: dp.Curator) -> None:
    assert allocated(made(source)) == allocated(made(source))
    other = made(source, dp.PureDP(epsilon=2))
    assert allocated(made(source)) != allocated(other)


def test_a_grid_a_law_and_a_choice_are_each_part_of_it(source: dp.Curator) -> None:
    planned = made(source)
    split = planned.allocation
    place = next(n for n, item in enumerate(split.noised) if not _whole(item))
    item = split.noised[place]
    coarser = replace(item, measure=replace(item.measure, exponent=item.measure.exponent + 1))
    noisier = replace(item, mechanism=replace(item.mechanism, sensitivity=7))
    finer = replace(item, places=(item.places or 0) + 1)
    others = [
        replace(split, noised=(*split.noised[:place], other, *split.noised[place + 1 :]))
        for other in (coarser, noisier, finer)
    ]
    others.append(replace(split, choices=(split.choices[0] / 2,)))
    others.append(replace(split, noised=split.noised[::-1]))
    kept = [allocated(_with(planned, each)) for each in (split, *others)]
    assert kept[0]["linear"] == allocated(planned)["linear"]
    assert all(each != kept[0] for each in kept[1:])
    # Each of these by itself, whatever follows from it: noise in other units tells a grid, too.
    told = [each["linear"][place] for each in kept]
    assert [part for part in told[0] if told[1][part] != told[0][part]] == ["exponent", "noise"]
    assert [part for part in told[0] if told[3][part] != told[0][part]] == ["noise", "places"]


def _whole(item: Noised) -> bool:
    return not isinstance(item.measure, Total) or item.measure.whole


def _with(planned: Any, split: Allocation) -> Any:
    return replace(planned, settled=Settled(split, tuple(f"m{n}" for n in range(9))))


def test_a_batch_tells_which_measures_its_questions_share(source: dp.Curator) -> None:
    texts = (ASKED, "SELECT COUNT(*) AS n FROM visits")
    queries = tuple(map(source.context.query, texts))
    plan = planned_batch(source.context, queries, (1.0, 1.0), PURE)
    kept = allocated_together(plan)
    assert kept["slots"] == [[0, 1], [0]]
    assert kept != allocated_together(replace(plan, importance=(1.0, 5.0)))
    assert len(kept["linear"]) == 2
    assert kept["form"] == 1
