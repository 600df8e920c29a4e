"""TopDown: whole counts, no negative ones, all levels add up, public totals stay exact."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st

import discreet as dp
from discreet.core.unit import Row
from discreet.errors import InvalidParameter
from discreet.events import Composed, DiscreteLaplace
from discreet.noise.randomness import Noiseless, Seeded
from discreet.queries.record_count import PublicCount
from discreet.queries.synopses.synopsis import synopsis_from_dict
from discreet.queries.workload.coded_records import CodedRecords
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.hierarchy.cell_table import CellTable
from discreet.synthetic.hierarchy.kept_blocks import KeptBlocks
from discreet.synthetic.hierarchy.levels import Hierarchy, Level
from discreet.synthetic.hierarchy.tables import level_counts
from discreet.synthetic.hierarchy.topdown import TopDown, ToyDown
from tests.synthetic.hierarchy.towns import COUNTRY, PLACES, REGIONS, given, levels, people


@settings(max_examples=25)
@drawn(
    seed=st.integers(0, 1000),
    mean=st.sampled_from([0.0, 0.3, 20.0]),
    epsilon=st.sampled_from([0.05, 1.0, 20.0]),
    kept=st.booleans(),
)
def test_levels_add_up_in_whole_counts(seed: int, mean: float, epsilon: float, kept: bool) -> None:  # noqa: FBT001
    counts = people(COUNTRY, seed, mean)
    by_town = dict(zip(COUNTRY.attributes[1].values, counts.sum(axis=(0, 2)).tolist(), strict=True))
    east = by_town["t1"] + by_town["t6"]
    public = levels(region={"east": east}, town={"t1": by_town["t1"], "t5": by_town["t5"]})
    hierarchy = public if kept else levels()
    released = TopDown(**given(epsilon=epsilon, hierarchy=hierarchy)).release(counts)
    assert (released.counts > 0).all()
    assert released.counts.dtype == np.int64
    tables = [level_counts(hierarchy, released, name) for name in hierarchy.names]
    assert {sum(table.values()) for table in tables} == {released.total}
    for region, number in tables[2].items():
        assert number == sum(tables[3][town,] for town in REGIONS if REGIONS[town] == region[0])
    if kept:
        assert tables[2]["east",] == east
        assert (tables[3]["t1",], tables[3]["t5",]) == (by_town["t1"], by_town["t5"])


def test_without_noise_it_is_the_data() -> None:
    counts = people(COUNTRY)
    made = TopDown(**given(randomness=Noiseless()))
    assert np.array_equal(made.release(counts).marginal(COUNTRY.names), counts)
    assert np.allclose(
        ToyDown(**given(randomness=Noiseless())).release(counts).counts, counts.ravel()
    )


def test_the_price_is_that_of_the_levels_that_were_measured() -> None:
    made = TopDown(**given())
    assert made.event == Composed(parts=tuple(noise.event for noise in made.noises if noise))
    assert made.event == Composed(parts=(DiscreteLaplace(epsilon=Fraction(1, 4), steps=1),) * 4)
    unmeasured = Hierarchy((replace(levels().levels[0], share=0), *levels().levels[1:]))
    fewer = TopDown(**given(hierarchy=unmeasured))
    assert fewer.noises[0] is None
    assert fewer.event == Composed(parts=(DiscreteLaplace(epsilon=Fraction(1, 3), steps=1),) * 3)


@pytest.mark.parametrize(
    "spend", [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.1), dp.ApproxDP(epsilon=1, delta=1e-6)]
)
def test_every_spend_pays(spend: Any) -> None:
    made = TopDown(**given(spend=spend))
    match spend:
        case dp.ZCDP():
            assert made.event.zcdp().rho == pytest.approx(0.1, rel=1e-6)
        case _:
            assert made.event.epsilon(delta=float(getattr(spend, "delta", 0))) <= 1 + 1e-9
    assert made.release(people(COUNTRY)).total >= 0


def test_blocks_give_what_one_block_gives() -> None:
    """Noise is drawn block by block; without any, small blocks and a large one agree."""
    counts = people(COUNTRY)
    whole, parts = (TopDown(**given(randomness=Noiseless())) for _ in range(2))
    vars(parts)["tree"] = replace(parts.tree, block=12)
    assert len(list(parts.tree.blocks())) == 3
    one, many = whole.release(counts), parts.release(counts)
    assert np.array_equal(one.cells, many.cells)
    assert np.array_equal(one.counts, many.counts)
    assert np.array_equal(many.marginal(COUNTRY.names), counts)


def test_blocks_outside_of_memory_are_read_as_they_were_kept() -> None:
    rng = np.random.default_rng(1)
    blocks = [rng.integers(-reach, reach, (3, 5)) for reach in (3, 200, 70_000, 1 << 40)]
    with KeptBlocks(in_memory=8) as kept:
        for block in blocks:
            kept.keep(block)
        for _ in range(2):
            assert all(map(np.array_equal, kept.read_blocks(), blocks))


def test_records_in_memory_and_their_table_are_released_alike() -> None:
    rng = np.random.default_rng(2)
    codes = np.stack([rng.integers(0, side, 300) for side in COUNTRY.shape], axis=1)
    table = np.zeros(COUNTRY.shape, dtype=np.int64)
    np.add.at(table, tuple(codes.T), 1)
    ones = [
        TopDown(**given(randomness=Seeded(4))).release(data)
        for data in (table, CodedRecords(COUNTRY, codes, Row()))
    ]
    assert np.array_equal(ones[0].cells, ones[1].cells)
    assert np.array_equal(ones[0].counts, ones[1].counts)


def test_a_kept_table_is_read_again_as_it_was() -> None:
    made = TopDown(**given())
    for data in (people(COUNTRY), np.zeros(COUNTRY.shape, dtype=np.int64)):
        released = made.release(data)
        again = synopsis_from_dict(dict(released.to_dict()), COUNTRY, released.event)
        assert isinstance(again, CellTable)
        assert np.array_equal(again.cells, released.cells)
        assert np.array_equal(again.counts, released.counts)
        asked = Workload.marginals(COUNTRY, 2)
        assert np.array_equal(again.answers(asked), released.answers(asked))


def test_rows_are_the_records_of_the_table() -> None:
    released = TopDown(**given()).release(people(COUNTRY))
    rows = released.sample()
    table = np.zeros(COUNTRY.shape)
    np.add.at(table, tuple(rows.T), 1)
    assert np.array_equal(table, released.marginal(COUNTRY.names))
    few = released.sample(7, randomness=Seeded(1))
    assert few.shape == (7, 3)
    twice = np.zeros(COUNTRY.shape)
    np.add.at(twice, tuple(released.sample(2 * len(rows), randomness=Seeded(1)).T), 1)
    assert np.array_equal(twice, 2 * table)


def test_public_totals_that_do_not_add_up_are_refused_before_data() -> None:
    for wrong in (
        levels(nation=10, region={"east": 6, "west": 5}),
        levels(region={"east": 6}, town={"t1": 4, "t6": 3}),
        levels(part={"upper": 4}, town={"t0": 4, "t2": 1, "t7": 0}),
        levels(part={"upper": 6}, town={"t0": 4, "t2": 1, "t7": 0}),
    ):
        with pytest.raises(InvalidParameter, match="invariants_conflict"):
            TopDown(**given(hierarchy=wrong))
    with pytest.raises(InvalidParameter, match="invariants_conflict"):
        TopDown(**given(hierarchy=levels(nation=9), size=PublicCount(10)))
    with pytest.raises(InvalidParameter, match="node_unknown"):
        TopDown(**given(hierarchy=levels(region={"south": 6})))


def test_public_totals_are_not_compared_with_data() -> None:
    """Whatever is typed in holds; the data may say otherwise."""
    released = TopDown(**given(hierarchy=levels(nation=5, region={"east": 5}))).release(
        people(COUNTRY)
    )
    assert level_counts(levels(), released, "region") == {
        ("north",): 0.0,
        ("east",): 5.0,
        ("west",): 0.0,
    }


def test_a_public_number_of_records_is_the_whole() -> None:
    counts = people(COUNTRY)
    made = TopDown(**given(size=PublicCount(int(counts.sum()))))
    assert made.release(counts).total == counts.sum()


def test_sums_err_less_than_levels_released_alone() -> None:
    """A hundred runs: the mean squared error of each level, within three standard errors."""
    counts, runs = people(PLACES, mean=20), 100
    made = TopDown(**given(PLACES, epsilon=0.5, randomness=Seeded(8)))
    truth = {name: level_counts(levels(), _table(PLACES, counts), name) for name in levels().names}
    squares = {name: np.zeros(runs) for name in truth}
    for run in range(runs):
        released = made.release(counts)
        for name, wanted in truth.items():
            found = level_counts(levels(), released, name)
            squares[name][run] = np.mean([(found[key] - wanted[key]) ** 2 for key in wanted])
    for each in made.errors:
        mean, error = squares[each.level].mean(), squares[each.level].std() / np.sqrt(runs)
        assert mean <= each.alone**2 + 3 * error


def test_levels_of_an_unknown_name_and_wrong_hierarchies_are_refused() -> None:
    with pytest.raises(InvalidParameter, match="hierarchy_misfit"):
        level_counts(levels(), TopDown(**given()).release(people(COUNTRY)), "village")
    with pytest.raises(InvalidParameter, match="hierarchy_misfit"):
        TopDown(**given(hierarchy=levels().levels))
    with pytest.raises(InvalidParameter, match="attribute_unknown"):
        TopDown(**given(hierarchy=Hierarchy((Level("all"), Level("port", by="port")))))


def _table(universe: Universe, counts: Any) -> CellTable:
    cells = np.flatnonzero(counts)
    return CellTable(universe, cells, counts.ravel()[cells], dp.events.Nothing())


def test_no_rows_may_be_sampled() -> None:
    table = CellTable(COUNTRY, np.array([3]), np.array([5]), DiscreteLaplace(epsilon=1, steps=1))
    assert table.sample(0).shape == (0, len(COUNTRY.shape))
    assert len(table.sample(7)) == 7
