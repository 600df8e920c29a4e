"""Queries of a round: a public shape whatever is submitted; refusals only to whom they concern."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.workload.linear_query import Region
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

UNIVERSE = Universe.of(a=range(2), b=range(3))
SHAPE = RoundShape(UNIVERSE, 3, 4)
NAMES = ["ann", "bob", "eve"]


def test_everybody_has_the_same_number_of_places() -> None:
    workload = Workload.marginal(UNIVERSE, ["b"])
    submitted = {
        "ann": SHAPE.submit(workload),
        "eve": SHAPE.submit([np.full(6, 0.5), Region((2, 3), (slice(0, 1), slice(0, 3)))]),
    }
    queries = QuerySet.of(SHAPE, NAMES, submitted)
    assert queries.rows.shape == (12, 6)
    assert (queries.rows[:3] == 255 * workload.dense()).all()
    # Ann's last place, all of Bob's and two of Eve's hold a constant query.
    assert not queries.rows[3:8].any()
    assert not queries.rows[10:].any()
    assert queries.rows[8].tolist() == [128] * 6
    assert queries.rows[9].tolist() == [255, 255, 255, 0, 0, 0]


def test_duplicates_stay_and_no_queries_are_constant_ones() -> None:
    twice = SHAPE.submit([np.ones(6), np.ones(6)])
    assert (twice[0] == twice[1]).all()
    assert not SHAPE.submit([]).any()


@pytest.mark.parametrize(
    ("queries", "code"),
    [
        ([np.ones(5)], "query_weights"),
        ([np.full(6, 1.5)], "query_weights"),
        ([np.full(6, -0.1)], "query_weights"),
        ([np.full(6, np.nan)], "query_weights"),
        ([np.ones(6)] * 5, "queries_too_many"),
        (Workload.marginal(UNIVERSE, ["a", "b"]), "queries_too_many"),
    ],
)
def test_malformed_submissions_are_refused_to_their_analyst(queries: object, code: str) -> None:
    with pytest.raises(InvalidParameter) as refused:
        SHAPE.submit(queries)  # type: ignore[arg-type]
    assert refused.value.code == code


def test_whoever_was_refused_or_left_looks_like_one_who_asked_nothing() -> None:
    ann = {"ann": SHAPE.submit([np.ones(6)])}
    silent = QuerySet.of(SHAPE, NAMES, {**ann, "bob": SHAPE.submit([])})
    assert (QuerySet.of(SHAPE, NAMES, ann).rows == silent.rows).all()


def test_sums_means_and_gains_are_exact() -> None:
    rng = np.random.default_rng(0)
    shape = RoundShape(UNIVERSE, 50, 7)
    rows = rng.integers(0, 256, (350, 6), dtype=np.uint8)
    queries = QuerySet(shape, rows)
    counts = rng.integers(0, 10**9, 6)
    wide = rows.astype(object)
    assert queries.sums(counts).tolist() == (wide @ counts.astype(object)).tolist()
    means = (wide @ counts.astype(object)).astype(float) / (255 * counts.sum())
    assert queries.means(counts) == pytest.approx(means)
    cells = np.array([1, 1, 5])
    assert queries.at(cells).tolist() == (wide[:, 1] * 2 + wide[:, 5]).tolist()
    net = rng.integers(-3, 4, 350)
    assert queries.along(net.astype(np.float32)).tolist() == (net.astype(object) @ wide).tolist()


def test_shapes_and_names_must_fit() -> None:
    cases: list[tuple[str, Callable[[], object]]] = [
        ("query_set_misfit", lambda: QuerySet(SHAPE, np.zeros((3, 6), dtype=np.uint8))),
        (
            "query_set_misfit",
            lambda: QuerySet(RoundShape(UNIVERSE, 3, 4, 1), np.full((12, 6), 2, dtype=np.uint8)),
        ),
        ("analysts_misfit", lambda: QuerySet.of(SHAPE, ["ann", "ann", "bob"], {})),
        ("analysts_misfit", lambda: QuerySet.of(SHAPE, ["ann"], {})),
        ("levels_too_many", lambda: RoundShape(UNIVERSE, 3, 4, 1 << 16)),
        ("not_a_count", lambda: RoundShape(UNIVERSE, 0, 4)),
    ]
    for code, attempt in cases:
        with pytest.raises(InvalidParameter) as refused:
            attempt()
        assert refused.value.code == code


def test_finer_grids_take_two_bytes() -> None:
    shape = RoundShape(UNIVERSE, 1, 1, levels=1000)
    held = shape.submit([np.full(6, 0.1234)])
    assert held.dtype == np.uint16
    assert held.tolist() == [[123] * 6]


@pytest.mark.parametrize(
    "garbage", ["abc", [["x", "y"]], [[0.5], [1, 2]], [None], iter(()), [1j, 2], 7]
)
def test_what_is_no_query_is_refused_to_its_own_analyst(garbage: Any) -> None:
    shape = RoundShape(Universe.of(a=range(2)), analysts=2, most=3)
    with pytest.raises(InvalidParameter) as refused:
        shape.submit(garbage)
    assert refused.value.code in {"query_unreadable", "query_weights"}


def test_a_workload_over_another_universe_is_refused() -> None:
    shape = RoundShape(Universe.of(a=range(4)), analysts=2, most=3)
    other = Universe.of(a=range(2), b=range(2))
    with pytest.raises(InvalidParameter, match="query_unreadable"):
        shape.submit(Workload.marginals(other, 1))


@pytest.mark.parametrize(
    "rows",
    [
        np.full((3, 2), 300),
        np.full((3, 2), 0.7),
        np.zeros((1, 2), dtype=np.uint8),
        np.zeros(2, dtype=np.uint8),
    ],
)
def test_malformed_rows_of_one_analyst_are_padding(rows: Any) -> None:
    shape = RoundShape(Universe.of(a=range(2)), analysts=2, most=3)
    bob = shape.submit([[1.0, 0.0]])
    found = QuerySet.of(shape, ["ann", "bob"], {"ann": rows, "bob": bob})
    assert not found.rows[:3].any()
    assert (found.rows[3:] == bob).all()
