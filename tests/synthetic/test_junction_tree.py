"""Junction trees hold every set, run through every attribute, and say what is too large."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameter
from discreet.synthetic.graphical.junction_tree import (
    Elimination,
    JunctionTree,
    Places,
    elimination_order,
)

sets_of = st.lists(
    st.sets(st.integers(0, 7), min_size=1, max_size=3).map(lambda s: tuple(sorted(s))), max_size=9
)
SIZES = (2, 3, 4, 5, 2, 3, 4, 2)


@given(sets_of)
def test_every_set_lies_in_a_clique_and_every_attribute_is_added_once(sets: list[Places]) -> None:
    tree = JunctionTree.of(SIZES, sets)
    assert all(tree.holding(places) is not None for places in sets)
    assert sorted(place for node in tree.nodes for place in node.rest) == list(range(8))


@given(sets_of)
def test_what_two_cliques_share_lies_in_all_between(sets: list[Places]) -> None:
    """The running intersection: a separator lies within the parent, which comes first."""
    tree = JunctionTree.of(SIZES, sets)
    for i, node in enumerate(tree.nodes):
        assert node.parent < i
        above = () if node.parent < 0 else tree.nodes[node.parent].places
        assert node.separator == tuple(place for place in above if place in node.separator)
        assert set(node.separator) <= set(above)
        assert not set(node.rest) & set(node.separator)


@given(sets_of, st.sets(st.integers(0, 7), min_size=1, max_size=3))
def test_the_size_with_one_more_set_is_that_of_eliminating_anew(
    sets: list[Places], more: set[int]
) -> None:
    order = elimination_order(SIZES, sets)
    extra = tuple(sorted(more))
    found = Elimination(SIZES, sets, order)
    again = Elimination(SIZES, [*sets, extra], order)
    assert found.with_one_more(extra) == again.size
    assert again.size >= JunctionTree.along(SIZES, [*sets, extra], order).size


def test_a_chain_needs_no_more_than_its_pairs() -> None:
    tree = JunctionTree.of((10, 10, 10, 10), [(0, 1), (1, 2), (2, 3)])
    assert tree.size == 300


def test_a_cycle_of_four_is_triangulated_through_its_smallest_attributes() -> None:
    tree = JunctionTree.of((2, 10, 2, 10), [(0, 1), (1, 2), (2, 3), (0, 3)])
    assert tree.size == 2 * (2 * 2 * 10)


def test_a_tree_that_is_too_large_is_refused_by_the_name_of_its_largest_clique() -> None:
    tree = JunctionTree.of((10, 20, 30), [(0, 1), (1, 2)])
    tree.require_within(tree.size, "abc")
    with pytest.raises(InvalidParameter, match="600 are the clique of b, c") as refusal:
        tree.require_within(tree.size - 1, "abc")
    assert refusal.value.code == "junction_tree_too_large"
    assert np.sum([10 * 20, 20 * 30]) == tree.size
