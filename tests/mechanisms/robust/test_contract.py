"""What every robust mechanism keeps: its price, its form, its silence about data."""

import dataclasses
import inspect
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.audit.testers import awkward_values, replace_pairs
from discreet.core.domain import Graph
from discreet.core.errors import InvalidParameter
from discreet.core.events.event import from_json
from discreet.core.events.mechanisms import Unprotected
from discreet.mechanisms import robust
from discreet.mechanisms.robust import (
    BlockConsensus,
    EdgeCount,
    Mean,
    ProposedMedian,
    ProposeTestRelease,
    SampledConsensus,
    Scale,
    SmoothCauchy,
    SmoothLaplace,
    SmoothMedian,
    StableMode,
    StableValue,
    SubgraphCount,
    SubsampleAggregate,
    SubsampleVote,
    Triangles,
)
from discreet.mechanisms.robust.lattice import Lattice
from discreet.noise import Seeded

ARGUMENTS: dict[Any, dict[str, Any]] = {
    SubsampleAggregate: {"function": max, "blocks": 5, "bounds": (0, 1), "aggregator": Mean()},
    SubsampleVote: {"function": max, "blocks": 5, "options": (0, 1)},
    ProposeTestRelease: {"value": max, "distance": len, "bound": 1, "bounds": (0, 1), "delta": 0.1},
    ProposedMedian: {"bound": 1, "bounds": (0, 1), "delta": 0.1},
    Scale: {"bounds": (0, 1), "base": 2, "delta": 0.1},
    StableValue: {"value": max, "distance": len, "delta": 0.1},
    StableMode: {"delta": 0.1},
    BlockConsensus: {"function": max, "blocks": 5, "delta": 0.1},
    SampledConsensus: {"function": max, "size": 20, "delta": 0.3, "epsilon": 30},
    SmoothMedian: {"bounds": (0, 1), "noise": SmoothLaplace(delta=0.1)},
    EdgeCount: {"max_degree": 3},
    SubgraphCount: {"max_degree": 3, "pattern": Triangles()},
}
MECHANISMS = [pytest.param(kind, id=kind.__name__) for kind in ARGUMENTS]
ON_ROWS = [kind for kind in ARGUMENTS if kind not in (EdgeCount, SubgraphCount)]
GRAPH = Graph.of("abc", [("a", "b")])


def build(kind: Any, **changes: Any) -> Any:
    return kind(**{"epsilon": 1, **ARGUMENTS[kind], **changes})


@pytest.mark.parametrize("kind", MECHANISMS)
def test_privacy_parameters_are_keywords_without_defaults(kind: Any) -> None:
    parameters = inspect.signature(kind).parameters
    for name in ("epsilon", "delta", "bounds", "bound"):
        if name in parameters:
            assert parameters[name].default is inspect.Parameter.empty
    assert all(p.kind is inspect.Parameter.KEYWORD_ONLY for p in parameters.values())


@pytest.mark.parametrize("kind", MECHANISMS)
def test_mechanisms_are_frozen(kind: Any) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        build(kind).epsilon = 2


@pytest.mark.parametrize("kind", MECHANISMS)
def test_the_epsilon_and_delta_passed_are_the_whole_price(kind: Any) -> None:
    mechanism = build(kind)
    delta = ARGUMENTS[kind].get("delta", 0.1 if kind is SmoothMedian else 0)
    assert mechanism.event.epsilon(delta=delta) == mechanism.epsilon
    assert from_json(mechanism.event.to_json()) == mechanism.event


@pytest.mark.parametrize("kind", MECHANISMS)
def test_test_mode_is_marked_and_cannot_be_charged(kind: Any) -> None:
    event = build(kind, randomness=Seeded(1)).event
    parts = getattr(event, "parts", (event,))
    assert all(isinstance(part, Unprotected) for part in parts)


@pytest.mark.parametrize("kind", MECHANISMS)
@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, "1", None])
def test_bad_prices_are_refused_when_built(kind: Any, epsilon: object) -> None:
    with pytest.raises(InvalidParameter):
        build(kind, epsilon=epsilon)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_every_docstring_names_adjacency_guarantee_source_and_proof(kind: Any) -> None:
    text = inspect.getdoc(kind) or ""
    for word in ("Assumptions", "Contract", "Guarantee", "Source", "proofs/robust-"):
        assert word in text
    assert any(word in text for word in ("added", "replaced", "adjacency"))


@pytest.mark.parametrize("kind", [pytest.param(kind, id=kind.__name__) for kind in ON_ROWS])
@settings(max_examples=15, deadline=None, derandomize=True)
@given(rows=st.lists(awkward_values(), min_size=1, max_size=8))
def test_awkward_rows_raise_nothing(kind: Any, rows: list[Any]) -> None:
    build(kind, randomness=Seeded(2)).release(rows)


@pytest.mark.parametrize("kind", [EdgeCount, SubgraphCount])
def test_graphs_are_released(kind: Any) -> None:
    assert isinstance(build(kind).release(GRAPH), float)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(pair=replace_pairs(awkward_values(), max_rows=6))
def test_on_the_lattice_neighbours_still_differ_in_one_row(
    pair: tuple[list[Any], list[Any]],
) -> None:
    lattice = Lattice.between((-1, 3), bits=4)
    one, other = lattice.steps(pair[0]), lattice.steps(pair[1])
    assert len(one) == len(pair[0])
    assert int((one != other).sum()) <= 1
    assert one.min() >= 0
    assert one.max() <= lattice.width


@pytest.mark.parametrize("bounds", [(1, 1), (2, 1), (0, math.inf), (math.nan, 1), (0, 1e300)])
def test_bad_bounds_are_refused(bounds: tuple[float, float]) -> None:
    with pytest.raises(InvalidParameter):
        Scale(bounds=bounds, base=2, epsilon=1, delta=0.1)


def test_lattice_values_come_back() -> None:
    lattice = Lattice.between((-2, 6))
    assert lattice.value(0) == -2
    assert lattice.value(lattice.width) == 6
    assert lattice.value(lattice.width * 5) == 6
    assert lattice.value(int(lattice.steps(np.array([1.5]))[0])) == pytest.approx(1.5)
    assert lattice.steps(np.array([3], dtype=np.uint8)) == lattice.steps([3])


def test_the_cauchy_median_costs_no_delta() -> None:
    assert build(SmoothMedian, noise=SmoothCauchy()).event.epsilon(delta=0) == 1


def test_every_public_name_exists() -> None:
    assert all(hasattr(robust, name) for name in robust.__all__)
