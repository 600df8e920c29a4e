"""Marginals of junction trees are those of sums over all cells."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.core.errors import InvalidParameter
from discreet.noise.randomness import Seeded
from discreet.synthetic.graphical.elimination import ModelMarginals
from discreet.synthetic.graphical.inference import Passes
from discreet.synthetic.graphical.junction_tree import JunctionTree, Places
from discreet.synthetic.graphical.rows import sample_rows, shares
from tests.synthetic.brute_force import Floats, joint, summed

SIZES = (3, 4, 2, 5, 3, 2)
sets_of = st.lists(
    st.sets(st.integers(0, 5), min_size=1, max_size=3).map(lambda s: tuple(sorted(s))),
    min_size=1,
    max_size=6,
    unique=True,
)


def drawn(sets: list[Places], seed: int, spread: float = 1.0) -> dict[Places, Floats]:
    rng = np.random.default_rng(seed)
    return {s: rng.normal(0, spread, [SIZES[place] for place in s]) for s in sets}


@settings(max_examples=60)
@given(sets_of, st.integers(0, 1000), st.sampled_from([1.0, 200.0]))
def test_two_passes_agree_with_a_sum_over_all_cells(
    sets: list[Places], seed: int, spread: float
) -> None:
    potentials = drawn(sets, seed, spread)
    passes = Passes(JunctionTree.of(SIZES, sets), sets)
    found = passes.calibrate(list(potentials.values()))
    law, mass = joint(SIZES, potentials)
    assert found.log_mass == pytest.approx(mass, rel=1e-12)
    for places, probabilities in zip(sets, passes.expectations(found), strict=True):
        np.testing.assert_allclose(probabilities, summed(law, places), atol=1e-12)


@settings(max_examples=30)
@given(sets_of, st.integers(0, 1000))
def test_marginals_that_no_clique_holds_come_by_elimination(sets: list[Places], seed: int) -> None:
    potentials = drawn(sets, seed)
    law, _ = joint(SIZES, potentials)
    model = Passes(JunctionTree.of(SIZES, sets), sets).calibrate(list(potentials.values()))
    marginal = ModelMarginals(model)
    for ways in range(1, 7):
        for places in combinations(range(6), ways):
            np.testing.assert_allclose(marginal(places), summed(law, places), atol=1e-12)
    np.testing.assert_allclose(marginal((5, 0, 3)), summed(law, (0, 3, 5)).transpose(2, 0, 1))


def test_marginals_that_need_too_many_cells_are_refused() -> None:
    model = Passes(JunctionTree.of(SIZES, [(0, 1)]), [(0, 1)]).calibrate([np.zeros((3, 4))])
    with pytest.raises(InvalidParameter, match="marginal_too_large"):
        ModelMarginals(model, limit=100)((0, 1, 3, 4))


def test_cells_of_minus_infinity_have_no_probability_and_leave_the_rest_its_proportions() -> None:
    zeros = np.zeros((3, 4))
    zeros[0, :] = -np.inf
    zeros[1, 2] = -np.inf
    potentials = drawn([(0, 1), (1, 2), (2, 3)], 1)
    sets = list(potentials)
    passes = Passes(JunctionTree.of(SIZES, sets), sets, {(0, 1): zeros})
    found = passes.calibrate(list(potentials.values()))
    law, mass = joint(SIZES, {**potentials, (0, 1): potentials[0, 1] + zeros})
    assert found.log_mass == pytest.approx(mass)
    for places, probabilities in zip(sets, passes.expectations(found), strict=True):
        np.testing.assert_allclose(probabilities, summed(law, places), atol=1e-12)
    rows = sample_rows(found, 5000, Seeded(1))
    assert (rows[:, 0] > 0).all()
    assert not ((rows[:, 0] == 1) & (rows[:, 1] == 2)).any()


def test_zeros_that_leave_nothing_are_refused() -> None:
    nothing = {(0,): np.array([-np.inf, 0, 0]), (0, 1): np.where(np.eye(3, 4) > 2, 0, -np.inf)}
    with pytest.raises(InvalidParameter, match="constraints_infeasible"):
        Passes(JunctionTree.of(SIZES, nothing), [], nothing).calibrate([])


def test_systematic_shares_have_exactly_the_law_and_vary_by_less_than_one() -> None:
    """Fractions .9, .6, .5 of a remainder of 2; deviations of 5 in 2e5 draws: false alarm 1e-6."""
    law = np.array([[0.9, 0.6, 0.5]]) / 2
    found = shares(np.repeat(law, 200_000, axis=0), np.full(200_000, 2), Seeded(1))
    assert set(found.sum(axis=1)) == {2}
    assert found.max() <= 1
    np.testing.assert_allclose(found.mean(axis=0), [0.9, 0.6, 0.5], atol=5 / np.sqrt(4 * 200_000))


def test_rows_of_a_model_keep_its_counts_to_within_a_row_for_each_separator() -> None:
    potentials = drawn([(0, 1), (1, 2), (3, 4)], 3)
    sets = list(potentials)
    model = Passes(JunctionTree.of(SIZES, sets), sets).calibrate(list(potentials.values()))
    n = 20_000
    rows = sample_rows(model, n, Seeded(5))
    law, _ = joint(SIZES, potentials)
    for places in sets:
        counted = np.zeros([SIZES[place] for place in places])
        np.add.at(counted, tuple(rows[:, place] for place in places), 1)
        assert np.abs(counted - n * summed(law, places)).max() <= 6
    assert sample_rows(model, 0, Seeded(1)).shape == (0, 6)


def test_pairs_that_no_clique_holds_have_their_law_in_the_rows() -> None:
    """Random matching within groups: a chi-square like bound with a false alarm below 1e-6."""
    potentials = drawn([(0, 1), (1, 2)], 4)
    sets = list(potentials)
    model = Passes(JunctionTree.of(SIZES, sets), sets).calibrate(list(potentials.values()))
    rows = sample_rows(model, 50_000, Seeded(2))
    law, _ = joint(SIZES, potentials)
    counted = np.zeros((3, 2))
    np.add.at(counted, (rows[:, 0], rows[:, 2]), 1)
    wanted = 50_000 * summed(law, (0, 2))
    assert (np.abs(counted - wanted) < 5.5 * np.sqrt(wanted)).all()
