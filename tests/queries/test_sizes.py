"""How many records there are is said by an object: a plain number is refused by every mechanism."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.queries import NoisyRecordCount, PublicCount, Universe, Workload
from discreet.queries.boosting.boosting import BoostingForQueries
from discreet.queries.independent import IndependentNoise
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.matrix.mechanism import MatrixMechanism
from discreet.queries.mwem.mwem import MWEM
from discreet.queries.online.pmw import private_gap_weights
from discreet.queries.planning.plan import plan
from discreet.queries.projection import ProjectionMechanism
from discreet.queries.record_count import require_size
from discreet.queries.trees.dawa import DAWA
from discreet.queries.trees.privtree import PrivTree
from discreet.queries.trees.quadtree import QuadTree

UNIVERSE = Universe.of(x=range(4), y=range(4))
GIVEN: dict[str, Any] = {
    "workload": Workload.marginals(UNIVERSE, 2),
    "spend": dp.ZCDP(rho=0.5),
}
LINE: dict[str, Any] = {
    "workload": Workload.marginals(Universe.of(x=range(8)), 1),
    "spend": dp.PureDP(epsilon=1),
}
PURE: dict[str, Any] = GIVEN | {"spend": dp.PureDP(epsilon=1)}

MADE: dict[str, Callable[..., Any]] = {
    "MWEM": partial(MWEM, rounds=2, **PURE),
    "matrix": partial(MatrixMechanism, **GIVEN),
    "marginals": partial(MarginalMechanism, **GIVEN),
    "independent": partial(IndependentNoise, **GIVEN),
    "projection": partial(ProjectionMechanism, **GIVEN),
    "boosting": partial(BoostingForQueries, sample=5, rounds=2, **GIVEN),
    "DAWA": partial(DAWA, **LINE),
    "PrivTree": partial(PrivTree, **PURE),
    "quad-tree": partial(QuadTree, **PURE),
    "online": partial(
        private_gap_weights, cells=16, spend=PURE["spend"], questions=9, confidence=0.9, about=99
    ),
    "plan": partial(plan, **PURE),
}


@pytest.mark.parametrize("size", [100, "all", 1.5], ids=repr)
@pytest.mark.parametrize("name", MADE)
def test_a_plain_number_is_refused_and_not_shown(name: str, size: Any) -> None:
    with pytest.raises(InvalidParameter, match="size_not_a_count") as refusal:
        MADE[name](size=size)
    assert refusal.value.received == type(size).__name__
    assert "PublicCount(n)" in refusal.value.remedy


def test_both_kinds_of_counts_are_taken() -> None:
    require_size(PublicCount(3))
    require_size(NoisyRecordCount())


def test_a_plan_for_a_universe_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="not_a_workload"):
        plan(UNIVERSE, spend=PURE["spend"])  # type: ignore[arg-type]
