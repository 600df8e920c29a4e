"""Nodes in one order, families next to each other, blocks that share out all leaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from discreet.core.unit import Row
from discreet.errors import InvalidParameter
from discreet.queries.workload.cell_counts import block_counts
from discreet.queries.workload.coded_records import CodedRecords
from discreet.queries.workload.universe import Universe
from discreet.synthetic.hierarchy.levels import Hierarchy, Level
from discreet.synthetic.hierarchy.tree import Tree
from tests.synthetic.hierarchy.towns import COUNTRY, REGIONS, TOWNS, levels, people


def test_nodes_follow_their_groups() -> None:
    tree = Tree(levels(), COUNTRY)
    assert tree.nodes == (1, 2, 3, 8)
    assert tree.detail == 6
    assert tree.keys(1) == [("upper",), ("lower",)]
    assert tree.keys(2) == [("north",), ("east",), ("west",)]
    assert [fan.tolist() for fan in tree.fans] == [[2], [1, 2], [3, 2, 3]]
    assert [REGIONS[str(town)] for (town,) in tree.keys(3)] == ["north"] * 3 + ["east"] * 2 + [
        "west"
    ] * 3
    assert [tree.node(3, key) for key in tree.keys(3)] == list(range(8))


def test_a_second_attribute_refines_every_node() -> None:
    universe = Universe.of(month=range(4), town=TOWNS, sex=["f", "m"])
    months = {0: "early", 1: "early", 2: "late", 3: "late"}
    hierarchy = Hierarchy(
        (
            Level("all"),
            Level("region", by="town", groups=REGIONS),
            Level("town", by="town"),
            Level("half", by="month", groups=months),
            Level("month", by="month"),
        )
    )
    tree = Tree(hierarchy, universe)
    assert tree.nodes == (1, 3, 8, 16, 32)
    assert tree.keys(3)[1] == ("t0", "late")
    assert tree.node(4, ("t2", 3)) == 7
    counts = people(universe)
    for limit in (1, 5, 40, 10_000):
        blocks = list(replace(tree, block=limit).blocks())
        assert [block.first for block in blocks] == [0, *(block.last for block in blocks[:-1])]
        assert blocks[-1].last == 32
        for block in blocks:
            found = block_counts(counts, universe, tree.names, block.within).reshape(-1, 2)
            leaves, detail = np.indices(found.shape).reshape(2, -1)
            cells = tree.cells(leaves + block.first, detail)
            assert np.array_equal(counts.ravel()[cells], found.ravel())
            families = tree.starts[-1][block.parents.start : block.parents.stop + 1]
            assert (families[0], families[-1]) == (block.first, block.last)
    assert len(list(replace(tree, block=1).blocks())) == 16


def test_records_as_codes_are_counted_like_their_table() -> None:
    rng = np.random.default_rng(5)
    codes = np.stack([rng.integers(0, side, 500) for side in COUNTRY.shape], axis=1)
    source = CodedRecords(COUNTRY, codes, Row())
    table = np.zeros(COUNTRY.shape, dtype=np.int64)
    np.add.at(table, tuple(codes.T), 1)
    assert np.array_equal(source.counts(COUNTRY.names), table)
    within = {"town": [5, 2], "age": [1]}
    names = ["town", "sex", "age"]
    assert np.array_equal(
        block_counts(source, COUNTRY, names, within), block_counts(table, COUNTRY, names, within)
    )
    assert source.counts(["age"]).tolist() == table.sum(axis=(0, 1)).tolist()


@pytest.mark.parametrize(
    "wrong",
    [
        (Level("nation"),),
        (Level("town", by="town"), Level("age", by="age")),
        (Level("nation"), Level("region", by="town", groups=REGIONS)),
        (Level("nation"), Level("town", by="town"), Level("town", by="town")),
        (Level("nation"), Level("a", by="town"), Level("age", by="age"), Level("b", by="town")),
        (Level("nation"), Level("one", by="town"), Level("two", by="town")),
        (Level("nation"), Level("none")),
        (Level("nation"), Level("town", by="town", share=0)),
    ],
)
def test_levels_that_do_not_refine_each_other_are_refused(wrong: tuple[Level, ...]) -> None:
    with pytest.raises(InvalidParameter, match="hierarchy_misfit"):
        Hierarchy(wrong)


def test_groups_must_be_complete_and_nested() -> None:
    partly = {town: region for town, region in REGIONS.items() if town != "t3"}
    mixed = REGIONS | {"t0": "west"}
    for coarse, fine in (
        (partly, REGIONS),
        (REGIONS, {t: REGIONS[t][0] for t in TOWNS} | {"t0": "w"}),
    ):
        made = Hierarchy(
            (
                Level("nation"),
                Level("coarse", by="town", groups=coarse),
                Level("fine", by="town", groups=fine),
                Level("town", by="town"),
            )
        )
        with pytest.raises(InvalidParameter, match="hierarchy_misfit"):
            Tree(made, COUNTRY)
    assert mixed != REGIONS


def test_a_family_too_wide_for_memory_is_refused() -> None:
    wide = Universe.of(town=range(1 << 13), age=range(1 << 12))
    with pytest.raises(InvalidParameter, match="hierarchy_too_wide"):
        Tree(Hierarchy((Level("nation"), Level("town", by="town"))), wide)


def test_an_unknown_node_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="node_unknown"):
        Tree(levels(), COUNTRY).node(2, ("south",))
