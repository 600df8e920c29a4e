"""The quantile tree: what a row changes, least squares, errors, prices, twins."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import events
from discreet.audit import BrokenTwin, check_pair
from discreet.core.arrays import Floats
from discreet.core.errors import InvalidParameter
from discreet.mechanisms.quantiles import EXPONENTIAL, PERMUTE_AND_FLIP, QuantileTree
from discreet.mechanisms.quantiles.tree import EstimatedRanks
from discreet.mechanisms.quantiles.tree_estimates import TreeShape, shapes
from discreet.noise import Noiseless, Seeded
from tests.mechanisms.quantiles import enumeration
from tests.mechanisms.quantiles.enumeration import BOTH, Loss

SHAPES = [TreeShape(2, 1), TreeShape(2, 3), TreeShape(3, 2), TreeShape(5, 2), TreeShape(4, 3)]


def build(**changed: Any) -> QuantileTree:
    given: dict[str, Any] = {
        "levels": [i / 20 for i in range(1, 20)],
        "candidates": range(1024),
        "rank_sensitivity": 1,
        "epsilon": 1,
    }
    return QuantileTree(**given | changed)


def matrix(shape: TreeShape) -> Floats:
    """Nodes by leaves."""
    return shape.counts(np.eye(shape.leaves, dtype=np.int64)).T.astype(float)


class TestShape:
    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_a_row_counts_in_one_node_of_each_level(self, shape: TreeShape) -> None:
        nodes = matrix(shape)
        assert nodes.shape == (shape.nodes, shape.leaves)
        assert (nodes.sum(axis=0) == shape.height).all()
        assert set(nodes.ravel().tolist()) == {0.0, 1.0}

    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_estimates_are_least_squares(self, shape: TreeShape) -> None:
        rng = np.random.default_rng(1)
        noisy = rng.integers(-50, 50, size=(3, shape.nodes))
        stated = np.linalg.lstsq(matrix(shape), noisy.T.astype(float), rcond=None)[0].T
        assert shape.estimates(noisy) == pytest.approx(stated)

    @pytest.mark.parametrize("shape", SHAPES, ids=str)
    def test_variances_and_weights(self, shape: TreeShape) -> None:
        """Of every rank less its share of all rows: their mean, bounds, and weights within one."""
        inverse = np.linalg.pinv(matrix(shape))
        ranks = np.cumsum(inverse, axis=0)
        shares = np.arange(1, shape.leaves + 1) / shape.leaves
        off = ranks - shares[:, None] * ranks[-1]
        assert (off**2).sum(axis=1).mean() == pytest.approx(shape.mean_variance(), rel=0.3)
        for level in (0.05, 0.5, 0.9):
            each = ranks - level * ranks[-1]
            assert (each**2).sum(axis=1).max() <= shape.largest_variance(level) + 1e-9
            assert np.abs(each).max() <= 1 + 1e-9

    def test_every_number_of_candidates_has_shapes_that_hold_them(self) -> None:
        for candidates in (1, 2, 3, 10, 100, 1023, 1024, 1025, 1 << 16):
            found = shapes(candidates)
            assert found
            assert all(candidates <= shape.leaves <= max(8, 4 * candidates) for shape in found)


class TestPrivacy:
    @pytest.mark.parametrize("rows", [1, 3])
    def test_noise_and_event_are_for_all_levels_of_the_tree(self, rows: int) -> None:
        pure = build(rank_sensitivity=rows, fan_out=4)
        height = pure.shape.height
        assert height == 5
        assert pure.noise.scale(kind=int) == height * rows
        assert pure.event == events.DiscreteLaplace(epsilon=1, steps=height * rows)
        assert pure.event.epsilon(delta=0) == 1
        assert pure.event_for(rows=3 * rows).epsilon(delta=0) == 3
        dense = build(rank_sensitivity=rows, fan_out=4, by=EXPONENTIAL, epsilon=2)
        assert dense.event.zcdp().rho == pytest.approx(0.5)
        assert dense.event_for(rows=3 * rows).zcdp().rho == pytest.approx(4.5)
        assert math.isinf(dense.event.epsilon(delta=0)), "not pure"

    @pytest.mark.parametrize("change", [1, 2])
    def test_rows_move_counts_by_no_more_than_the_noise_is_for(self, change: int) -> None:
        shape = TreeShape(2, 2)
        for here, there in enumeration.pairs(4, 2, change):
            apart = shape.counts(np.array([there])) - shape.counts(np.array([here]))
            assert np.abs(apart).sum() == change * shape.height
            assert (apart**2).sum() <= change**2 * shape.height

    def test_noise_of_one_level_is_refuted(self) -> None:
        """Each node's loss is one over the scale, and there is one node in every level."""
        sound = build(fan_out=2, candidates=range(8))

        def auditor(scale: float) -> Loss:
            here, there = (sound.shape.counts(np.eye(8, dtype=np.int64)[[i]]) for i in (0, 0))
            there = there + sound.shape.counts(np.eye(8, dtype=np.int64)[[5]])
            far = -1000
            logs = [-np.abs(far - nodes).sum() / scale for nodes in (here, there)]
            return Loss(abs(logs[0] - logs[1]), claimed=1)

        pair = BrokenTwin("tree", sound.noise.scale(kind=int), 1.0, why="noise for one level")
        check_pair(pair, auditor)

    def test_noise_is_drawn_once_for_all_quantiles(self) -> None:
        """modern-data:Q3: the twin draws a node anew for every quantile, and is averaged out."""
        counts = np.full(1024, 10)
        tree = build(randomness=Seeded(1))
        ranks = tree.ranks(counts)
        again = [ranks.quantiles([0.5]).item() for _ in range(3)]
        assert len(set(again)) == 1
        fresh = {tree.release(counts)[9] for _ in range(20)}
        assert len(fresh) > 1

    def test_test_mode_is_marked(self) -> None:
        assert build(randomness=Seeded(1)).event.kind == "Unprotected"


class TestAnswers:
    @pytest.mark.parametrize("by", BOTH)
    def test_shapes_order_and_kind(self, by: Any) -> None:
        tree = build(by=by, epsilon=0.2)
        counts = np.random.default_rng(2).integers(0, 3, size=(7, 1024))
        found = tree.release(counts)
        assert found.shape == (7, 19)
        assert found.dtype == np.int64
        assert (np.diff(found) >= 0).all()
        assert tree.release(counts[0]).shape == (19,)
        assert tree.release(counts[:0]).shape == (0, 19)
        assert tree.release(np.zeros((2, 1024), dtype=np.int64)).shape == (2, 19)

    def test_without_noise_they_are_the_quantiles(self) -> None:
        silent = build(randomness=Noiseless(), candidates=range(100), levels=[0.25, 0.5, 0.755])
        assert silent.release(np.ones(100, dtype=np.int64)).tolist() == [24, 49, 75]
        heavy = np.array([600, *(1,) * 99])
        assert silent.release(heavy).tolist() == [0, 0, 0]

    def test_ranks_are_released_whole(self) -> None:
        tree = build(randomness=Noiseless(), candidates=range(10))
        ranks = tree.ranks(np.arange(10))
        assert ranks.rows == pytest.approx([45])
        assert ranks.ranks[0] == pytest.approx(np.cumsum(np.arange(10)))
        assert ranks.quantiles([0.1, Fraction(1, 2), 0.99]).tolist() == [[3, 7, 9]]

    def test_estimates_out_of_order_are_put_between_two_that_are(self) -> None:
        found = EstimatedRanks.of((0, 1, 2, 3), np.array([[1.0, 5.0, 3.0, 8.0]]))
        assert found.ranks.tolist() == [[1.0, 4.0, 4.0, 8.0]]
        none = EstimatedRanks.of((0, 1), np.array([[-3.0, -4.0]]))
        assert none.quantiles([0.5]).tolist() == [[1]]

    @pytest.mark.parametrize("by", BOTH)
    def test_stated_rank_errors_hold_and_forecasts_are_near(self, by: Any) -> None:
        """On 60 groups; more than 42 % above the allowed tenth has a chance below 1e-9."""
        tree = build(by=by, randomness=Seeded(6))
        rng = np.random.default_rng(6)
        counts = np.stack([np.bincount(rng.integers(0, 1024, 4000), minlength=1024)] * 60)
        found = tree.release(counts)
        upto = np.cumsum(counts, axis=1)
        wanted = upto[:, -1:] * np.array([float(q) for q in tree.levels])
        group = np.arange(60)[:, None]
        high = upto[group, found]
        off = np.maximum(high - counts[group, found] - wanted, wanted - high).clip(0)
        bound = tree.rank_error(confidence=0.9, tied=100)
        assert np.mean(off.max(axis=1) > bound) < 0.1
        assert bound < 14 * tree.forecast()
        # A candidate holds four rows: errors are counted from its nearer end.
        assert 0.6 < (off.mean() + 2) / tree.forecast() < 1.4


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"fan_out": 1}, "not_a_count"),
        ({"fan_out": 1500, "candidates": range(2000)}, "tree_too_wide"),
        ({"epsilon": -1}, "not_positive"),
        ({"levels": []}, "levels_not_increasing"),
        ({"by": "laplace"}, "not_a_choice"),
    ],
)
def test_refused(change: dict[str, Any], code: str) -> None:
    with pytest.raises(InvalidParameter) as refusal:
        build(**change)
    assert refusal.value.code == code


def test_the_shape_with_the_least_expected_error_is_chosen() -> None:
    for by in (PERMUTE_AND_FLIP, EXPONENTIAL):
        best = build(by=by)
        others = [build(by=by, fan_out=shape.fan_out) for shape in shapes(1024)]
        assert best.forecast() == min(other.forecast() for other in others)
    assert build().fan_out == 32
    assert build(by=EXPONENTIAL).fan_out == 4
