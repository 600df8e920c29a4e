"""Distances and contents: adjacency is a type, and rows are compared by what they contain."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit.testers import awkward_values
from discreet.core.content import content
from discreet.core.domain import (
    Categories,
    Domain,
    Graph,
    Graphs,
    Integers,
    Nullable,
    Parts,
    Reals,
    Rows,
    Tables,
    Vector,
)
from discreet.core.errors import DiscreetError, InvalidParameter, Mismatch
from discreet.core.metric import (
    L1,
    L2,
    AddRemove,
    AddRemoveEdges,
    AddRemoveNodes,
    AddRemovePeople,
    ChangeOne,
    Hamming,
    LInf,
    Metric,
    SumOverParts,
    metric_of,
)
from discreet.core.space import Space
from discreet.core.unit import Edge, Node, Person, Replace, Row


class Colour(Enum):
    RED = 1
    ROUGE = "1"


@dataclass(frozen=True)
class Visit:
    ward: str
    day: int


DISTINCT: list[Any] = [
    *(None, True, False, 1, 1.0, np.float64(1), np.int64(1), np.float32(1), Fraction(1)),
    *(0, 0.0, -0.0, Decimal("1"), Decimal("1.0"), 1 + 0j, 10**5000, -1),
    *(math.nan, math.inf, -math.inf, "NaN", "nan", "", "1", "i1", b"", b"1", "None"),
    *(date(2024, 1, 1), datetime(2024, 1, 1), Colour.RED, Colour.ROUGE),
    *((), [], {}, (1,), [1], (1, 2), ((1,), 2), (1, (2,)), ("1", "2"), ("12", "")),
    *({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 1}, ("a", 1)),
    *(Visit("a", 1), Visit("a", 2), np.array([1.0, 2.0]), np.array([[1.0, 2.0]]), np.array([1, 2])),
]


def test_contents_differ_wherever_rows_do() -> None:
    contents = [content(row) for row in DISTINCT]
    assert None not in contents
    assert len(set(contents)) == len(DISTINCT)


def test_contents_agree_where_rows_do() -> None:
    assert content(float("nan")) == content(math.nan)
    assert content((1, {"a": [2.5]})) == content((1, {"a": [2.5]}))
    assert content({1, 2}) is None
    assert content((1, object())) is None
    assert content(np.array([object()])) is None


@given(awkward_values(), awkward_values())
def test_equal_contents_mean_equal_text_and_type(one: Any, other: Any) -> None:
    assert (content(one) == content(other)) == (repr(one) == repr(other))


rows = st.lists(awkward_values(), max_size=4).map(tuple)


@given(rows, rows, rows)
def test_table_metrics_are_metrics(x: Any, y: Any, z: Any) -> None:
    for metric in (AddRemove(), ChangeOne()):
        assert metric.distance(x, x[::-1]) == 0
        assert metric.distance(x, y) == metric.distance(y, x)
        assert metric.distance(x, z) <= metric.distance(x, y) + metric.distance(y, z)
        assert (metric.distance(x, y) == 0) == (sorted(map(repr, x)) == sorted(map(repr, y)))


def test_an_exchange_is_two_additions_or_removals() -> None:
    one, other = ("a", "b", "b"), ("a", "a", "b")
    assert ChangeOne().distance(one, other) == 1
    assert AddRemove().distance(one, other) == 2
    assert ChangeOne().distance(one, ("a",)) == math.inf


def test_neighbours_are_at_distance_one() -> None:
    domain = Rows(Categories(("a", "b")))
    for metric, table in ((AddRemove(), domain), (ChangeOne(), Rows(domain.record, 3))):
        near = list(metric.neighbours(("a", "b", "b"), table))
        assert near
        assert {metric.distance(("a", "b", "b"), other) for other in near} == {1}


def test_people_leave_and_join_with_all_their_rows() -> None:
    metric = AddRemovePeople("id")
    p, q = [{"id": "p", "v": v} for v in (1, 2, 2)], [{"id": "q", "v": 1}]
    assert metric.distance(p + q, q) == 1
    assert metric.distance(p + q, [*q, *p][::-1]) == 0
    assert metric.distance(p, p[:2]) == 2, "changing one's rows is leaving and joining"
    assert metric.distance(p, q) == 2
    assert metric.distance((p, q), ([], q)) == 1
    assert metric.distance((p, p), ((), ())) == 1, "one person in two silos is one person"
    assert metric.distance((p, ()), ((), p)) == 2
    assert {len(rest) for rest in metric.neighbours(p + q, Rows(Reals()))} == {1, 3}
    silos = Tables((Rows(Reals()), Rows(Reals())))
    assert list(metric.neighbours((tuple(p), tuple(p + q)), silos)) == [
        ((), tuple(q)),
        (tuple(p), tuple(p)),
    ]


def test_a_node_leaves_with_its_edges() -> None:
    complete = Graph.of(range(4), list(itertools.combinations(range(4), 2)))
    smaller = complete.without(0)
    assert len(complete.edges ^ smaller.edges) == 3
    assert AddRemoveNodes().distance(complete, smaller) == 1
    assert AddRemoveEdges().distance(complete, smaller) == math.inf
    for metric in (AddRemoveNodes(), AddRemoveEdges()):
        near = list(metric.neighbours(complete, Graphs()))
        assert {metric.distance(complete, other) for other in near} == {1}
    with pytest.raises(InvalidParameter, match="not_a_simple_graph"):
        Graph.of([1], [(1, 1)])
    with pytest.raises(InvalidParameter, match="not_a_simple_graph"):
        Graph.of([1], [(1, 2)])


def test_vectors() -> None:
    assert L1().distance((1, 2), (3, 0)) == 4
    assert L2().distance((0, 0), (3, 4)) == 5
    assert LInf().distance((1, 2), (3, 0)) == 2
    assert Hamming().distance((math.nan, None, 1), (math.nan, None, 1.0)) == 1
    assert SumOverParts().distance({"a": (1,), "b": ()}, {"a": (), "b": (2, 3)}) == 3


@pytest.mark.parametrize(
    ("unit", "metric"),
    [
        (Row(), AddRemove()),
        (Replace(Row()), ChangeOne()),
        (Person("id", max_rows=1), AddRemovePeople("id")),
        (Edge(), AddRemoveEdges()),
        (Node(), AddRemoveNodes()),
    ],
)
def test_a_unit_has_its_metric(unit: Any, metric: Metric) -> None:
    assert metric_of(unit) == metric


def test_a_unit_without_a_metric_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="unit_without_metric"):
        metric_of(Replace(Person("id")))


@pytest.mark.parametrize(
    ("domain", "metric"),
    [
        (Rows(Integers(), 3), AddRemove()),
        (Rows(Integers()), ChangeOne()),
        (Rows(Integers(), 3), AddRemovePeople(0)),
        (Rows(Integers()), L1()),
        (Integers(), AddRemove()),
        (Categories(("a",)), L1()),
        (Vector(Nullable(Integers()), 2), L2()),
        (Rows(Integers()), SumOverParts()),
        (Graphs(), AddRemove()),
        (Rows(Integers()), AddRemoveNodes()),
    ],
)
def test_a_metric_that_makes_no_sense_is_refused(domain: Domain, metric: Metric) -> None:
    with pytest.raises(Mismatch, match="metric_does_not_fit"):
        Space(domain, metric)


def test_domains_know_their_members() -> None:
    assert Integers(0, 5).contains(np.int64(3))
    assert not Integers(0, 5).contains(3.0)
    assert not Integers().contains(True)  # noqa: FBT003
    assert Reals().contains(10**400)
    assert not any(map(Reals().contains, (math.nan, math.inf, True, "1", None)))
    assert Nullable(Reals(0, 1)).contains(None)
    assert Rows(Reals()).contains(np.array([1.0]))
    assert not Rows(Reals()).contains(np.array([[1.0]]))
    assert not Rows(Categories(("a",))).contains("a")
    assert Rows(Reals(), 2).contains((1, 2))
    assert not Rows(Reals(), 2).contains((1,))
    assert Parts(("a", "b"), Rows(Reals())).contains({"a": (1,), "b": ()})
    assert not Parts(("a", "b"), Rows(Reals())).contains({"a": (1,)})
    assert list(Nullable(Integers(0, 2)).elements()) == [None, 0, 1, 2]
    assert not Categories(("a",)).contains(np.array(["a", "b"]))


@pytest.mark.parametrize(
    ("code", "build"),
    [
        ("bounds_crossed", lambda: Integers(2, 1)),
        ("bounds_not_whole", lambda: Integers(0.5, 1)),  # type: ignore[arg-type]
        ("not_finite", lambda: Reals(math.nan, 1)),
        ("not_a_number", lambda: Reals("0")),  # type: ignore[arg-type]
        ("categories_not_distinct", lambda: Categories(())),
        ("categories_not_distinct", lambda: Parts(("a", "a"), Rows(Reals()))),
        ("not_a_count", lambda: Rows(Reals(), -1)),
        ("not_a_count", lambda: Vector(Reals(), 0)),
        ("domain_not_finite", lambda: Reals().elements()),
        ("neighbours_not_listed", lambda: L1().neighbours(1, Reals())),
    ],
)
def test_ill_formed_domains_are_refused(code: str, build: Any) -> None:
    with pytest.raises(DiscreetError) as refusal:
        build()
    assert refusal.value.code == code
