"""PrivTree: the exact law of its shapes, its scales, and what happens without the clamp."""

import itertools
import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.core.events.event import Nothing
from discreet.core.guarantee import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.noise.randomness import Noiseless, Seeded
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.synopses.synopsis import Synopsis
from discreet.queries.trees.box_counts import BoxCounts
from discreet.queries.trees.points import Points
from discreet.queries.trees.privtree import PrivTree, splitting, way_cost
from discreet.queries.trees.space_filling import Interleaving
from discreet.queries.workload.families import Each, Listed, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from tests.queries.trees.exact_shapes import (
    clamped,
    log_chance,
    log_split,
    loss_on_a_way,
    rule_for,
    shapes,
    unclamped,
    worst_way,
)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 8.0])
def test_the_exact_law_of_all_shapes_over_four_cells_is_private(epsilon: float) -> None:
    every = list(shapes(2))
    assert len(every) == 5
    worst = 0.0
    for threshold in (0, 3):
        for counts in itertools.product((0, 1, 4), (0, 2), (0, 3), (0,)):
            for size in (NoisyRecordCount(), PublicCount(9)):
                rule = rule_for(epsilon, size, threshold)
                here = [log_chance(rule, clamped, counts, shape) for shape in every]
                assert math.fsum(map(math.exp, here)) == pytest.approx(1)
                for place in range(4):
                    more = tuple(c + (i == place) for i, c in enumerate(counts))
                    if isinstance(size, PublicCount):
                        base = tuple(c + (i == 3 - place) for i, c in enumerate(counts))
                        one = [log_chance(rule, clamped, base, shape) for shape in every]
                    else:
                        one = here
                    other = [log_chance(rule, clamped, more, shape) for shape in every]
                    worst = max(worst, *(abs(a - b) for a, b in zip(one, other, strict=True)))
    assert 0.2 * epsilon < worst <= epsilon


@pytest.mark.parametrize(("epsilon", "near"), [(0.1, 0.97), (1.0, 0.8), (3.0, 0.4), (10.0, 0.2)])
def test_long_ways_cost_no_more_than_epsilon_and_nearly_that(epsilon: float, near: float) -> None:
    found = worst_way(rule_for(epsilon, NoisyRecordCount()), clamped)
    assert near * epsilon < found <= epsilon


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_twin_without_the_clamp_is_caught(epsilon: float) -> None:
    rule = rule_for(epsilon, NoisyRecordCount())
    way = [0] * 20
    assert loss_on_a_way(rule, clamped, way) <= epsilon
    assert loss_on_a_way(rule, unclamped, way) > 3 * epsilon


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_the_twin_with_noise_of_one_over_epsilon_is_caught(epsilon: float) -> None:
    good = rule_for(epsilon, NoisyRecordCount())
    scale = Fraction(1) / Fraction(epsilon)
    fall = math.ceil(float(scale) * math.log(2) * (1 << good.places))
    weak = replace(good, scale=scale, fall=fall)
    assert worst_way(weak, clamped) > 1.5 * epsilon
    # And the twin that is right for records that come or go, under exchange.
    exchanged = rule_for(epsilon, PublicCount(9))
    leaf = log_split(good, clamped(good, 0, 40))[1] - log_split(good, good.threshold)[1]
    assert worst_way(good, clamped) + min(leaf, 1 / float(good.scale)) > epsilon
    assert worst_way(exchanged, clamped) + 1 / float(exchanged.scale) <= epsilon


def test_scales_are_no_larger_than_those_of_the_catalogue() -> None:
    for fan, published in ((4, 7 / 3), (2, 3.0)):
        rule = splitting(Fraction(1), fan=fan, size=NoisyRecordCount(), records=1, threshold=0)
        assert 0.86 * published < float(rule.scale) < published
        fall = float(rule.scale) * math.log(fan) * (1 << rule.places)
        assert fall <= rule.fall <= fall + 1
        empty = math.exp(log_split(rule, clamped(rule, 0, 9))[0])
        assert empty == pytest.approx(1 / (2 * fan), rel=1e-3)
    exchanged = splitting(Fraction(1), fan=4, size=PublicCount(9), records=2, threshold=0)
    assert exchanged.scale == 2 * (way_cost(4) + 1)
    # A fall below one record would let two nodes of a way pass the clamp at once.
    sharp = splitting(Fraction(50), fan=2, size=NoisyRecordCount(), records=1, threshold=0)
    assert sharp.scale * Fraction(7, 10) < 1
    assert sharp.fall == 1 << sharp.places


def test_splits_come_out_as_often_as_the_law_says() -> None:
    """Of 40 000 seeded draws; five standard deviations, false alarms below one in a million."""
    rule = replace(rule_for(1.0, NoisyRecordCount(), 2), randomness=Seeded(3))
    for count, depth in ((0, 3), (3, 0), (9, 2)):
        chance = math.exp(log_split(rule, clamped(rule, count, depth))[0])
        share = rule.chosen(np.full(40_000, count), depth).mean()
        assert abs(share - chance) < 5 * math.sqrt(chance * (1 - chance) / 40_000)


@pytest.mark.parametrize("shape", [(8,), (5, 7), (2, 16), (3, 1, 4)])
def test_leaves_share_out_the_universe(shape: tuple[int, ...]) -> None:
    universe = Universe.of(**{f"a{i}": range(side) for i, side in enumerate(shape)})
    counts = np.random.default_rng(1).integers(0, 30, shape)
    tree = PrivTree(
        Workload.marginals(universe, 1), PureDP(epsilon=2), NoisyRecordCount(), randomness=Seeded(2)
    )
    found: Synopsis = tree.release(counts)
    assert isinstance(found, BoxCounts)
    covered = np.zeros(shape, dtype=int)
    for low, high in zip(found.lows, found.highs, strict=True):
        covered[tuple(slice(a, b) for a, b in zip(low, high, strict=True))] += 1
    assert (covered == 1).all()


def test_without_noise_leaves_hold_exact_counts() -> None:
    universe = Universe.of(x=range(64), y=range(64))
    rng = np.random.default_rng(2)
    points = np.vstack([rng.integers(0, 8, (500, 2)), rng.integers(0, 64, (30, 2))])
    counts = np.zeros(universe.shape, dtype=np.int64)
    np.add.at(counts, tuple(points.T), 1)
    workload = Workload.of(universe, {"x": Prefixes(64), "y": Each(64)})
    tree = PrivTree(workload, PureDP(epsilon=1), PublicCount(530), randomness=Noiseless())
    for data in (counts, Points(points)):
        found = tree.release(data)
        sums = [
            counts[a:c, b:d].sum() for (a, b), (c, d) in zip(found.lows, found.highs, strict=True)
        ]
        assert found.counts.tolist() == sums
        assert found.boxes([[0, 0]], [[64, 64]]) == pytest.approx([530])
        # The crowded corner is halved further than the rest.
        widths = (found.highs - found.lows)[:, 0]
        assert widths[(found.lows < 8).all(axis=1)].max() < widths.max()


def test_boxes_answer_alike_painted_and_by_structure() -> None:
    lows, highs = np.array([[0, 0], [2, 0], [2, 3]]), np.array([[2, 5], [4, 3], [4, 5]])
    small = Universe.of(x=range(4), y=range(5))
    synopsis = BoxCounts(small, lows, highs, np.array([3.0, 5.0, -1.0]), Nothing())
    rows = np.random.default_rng(3).random((3, 5))
    workload = Workload.of(small, {"x": Ranges(4), "y": Listed(rows)}, {"y": Prefixes(5)})
    parts = [synopsis._answers(product) for product in workload.products]
    assert np.concatenate(parts) == pytest.approx(synopsis.answers(workload))
    assert synopsis.boxes([[1, 2]], [[3, 4]]) == pytest.approx([0.6 + 5 / 6 - 1 / 4])


def test_a_universe_of_a_trillion_cells_takes_points_and_survives_storing() -> None:
    side = 1 << 20
    universe = Universe.of(x=range(side), y=range(side))
    rng = np.random.default_rng(4)
    points = np.vstack([rng.integers(77_000, 77_400, (3000, 2)), rng.integers(0, side, (300, 2))])
    tree = PrivTree(Workload.of(universe, {}), PureDP(epsilon=1), NoisyRecordCount())
    found = tree.release(Points(points))
    crowd = found.boxes([[76_000, 76_000]], [[78_400, 78_400]])[0]
    # Some twenty leaves of spread 2.8 each, and cut leaves: 600 is far beyond both.
    assert abs(crowd - 3000) < 600
    again = BoxCounts.from_dict(json.loads(json.dumps(found.to_dict())), universe, found.event)
    assert again.answers(tree.workload).tolist() == found.answers(tree.workload).tolist()
    with pytest.raises(InvalidParameter):
        BoxCounts.from_dict(found.to_dict(), Universe.of(x=range(9), y=range(9)), found.event)


@pytest.mark.parametrize(
    "spend", [PureDP(epsilon=1), ZCDP(rho=0.1), ApproxDP(epsilon=1, delta=1e-6)]
)
@pytest.mark.parametrize("size", [NoisyRecordCount(), PublicCount(4)])
def test_the_event_costs_no_more_than_the_spend(spend: Guarantee, size: RecordCount) -> None:
    universe = Universe.of(x=range(8))
    tree = PrivTree(Workload.marginals(universe, 1), spend, size, part=0.3, depth=2)
    match spend:
        case PureDP():
            assert tree.event.epsilon(delta=0) == pytest.approx(1)
            assert float(tree.splitting.scale) == pytest.approx(
                float(way_cost(2) + (size.changed_cells - 1)) / 0.3
            )
        case ZCDP(rho=rho):
            assert 0.999 * rho < tree.event.zcdp().rho <= rho
        case ApproxDP(epsilon=epsilon, delta=delta):
            assert tree.event.epsilon(delta=float(delta)) <= epsilon
    assert tree.release(np.array([4, 0, 0, 0, 0, 0, 0, 0])).event == tree.event


def test_interleaving_makes_boxes_intervals() -> None:
    order = Interleaving((5, 2, 8))
    cells = np.array(list(itertools.product(range(5), range(2), range(8))))
    codes = order.codes(cells)
    assert len(set(codes.tolist())) == 80
    for length in range(order.bits + 1):
        prefixes = np.unique(codes >> (order.bits - length))
        lows, highs = order.boxes(prefixes, length)
        for prefix, low, high in zip(prefixes, lows, highs, strict=True):
            inside = cells[codes >> (order.bits - length) == prefix]
            assert np.prod(high - low) == len(inside)
            assert ((inside >= low) & (inside < high)).all()
    with pytest.raises(InvalidParameter, match="62 bits"):
        Interleaving((1 << 32, 1 << 31))
