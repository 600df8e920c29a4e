"""Two passes are the least-squares solution, and their stated error is its covariance."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.noise.randomness import Seeded
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.synthetic.hierarchy.kept_blocks import KeptBlocks
from discreet.synthetic.hierarchy.level_noise import variances_of
from discreet.synthetic.hierarchy.levels import Hierarchy, Level
from discreet.synthetic.hierarchy.measured import measure
from discreet.synthetic.hierarchy.topdown import ToyDown
from discreet.synthetic.hierarchy.tree import Tree
from tests.synthetic.hierarchy.towns import COUNTRY, PARTS, PLACES, REGIONS, levels, people

UNEVEN = Hierarchy(
    (
        Level("nation", share=0),
        Level("part", by="town", groups=PARTS, share=3, totals={"lower": 20}),
        Level("region", by="town", groups=REGIONS, share=1),
        Level("town", by="town", share=2, totals={"t1": 4, "t4": 7}),
    )
)


def rows(tree: Tree) -> list[NDArray[np.float64]]:
    """For each level the matrix that takes leaf cells to its cells."""
    found = [np.eye(tree.nodes[-1])]
    for level in range(len(tree.nodes) - 2, -1, -1):
        found.insert(0, np.add.reduceat(found[0], tree.starts[level][:-1], axis=0))
    return [np.asarray(np.kron(each, np.eye(tree.detail)), dtype=np.float64) for each in found]


def dense(mechanism: ToyDown) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What takes all measured numbers to leaves, and the offset that public totals add."""
    tree, fixed = mechanism.tree, mechanism.invariants.fixed
    variances = variances_of(mechanism.noises)
    matrices = rows(tree)
    measured = [(m, v) for m, v in zip(matrices, variances, strict=True) if np.isfinite(v)]
    a = np.concatenate([m for m, _ in measured])
    precision = np.concatenate([np.full(len(m), 1 / v) for m, v in measured])
    every = np.ones((1, tree.detail))
    held, known = [], []
    for matrix, told in zip(matrices, fixed, strict=True):
        if told is not None:
            nodes = np.kron(np.eye(len(told)), every) @ matrix
            held += [row for row, total in zip(nodes, told, strict=True) if total >= 0]
            known += [float(total) for total in told if total >= 0]
    normal = a.T @ (precision[:, None] * a)
    right = a.T * precision
    if not held:
        return np.linalg.solve(normal, right), np.zeros(len(normal))
    c = np.array(held)
    inverse = np.linalg.inv(normal)
    gain = inverse @ c.T @ np.linalg.pinv(c @ inverse @ c.T)
    project = np.eye(len(normal)) - gain @ c
    return project @ inverse @ right, gain @ np.array(known)


CASES = list(product((COUNTRY, PLACES), (levels(), levels(nation=300, region={"east": 9}), UNEVEN)))


@pytest.mark.parametrize(("universe", "hierarchy"), CASES)
def test_estimates_are_those_of_dense_least_squares(
    universe: Universe, hierarchy: Hierarchy
) -> None:
    made = toy(universe, hierarchy, Seeded(3))
    again = toy(universe, hierarchy, Seeded(3))
    counts = people(universe)
    estimates = made.release(counts).counts
    tree = again.tree
    with KeptBlocks() as kept:
        measured = measure(tree, again.noises, counts, kept)
        (leaves,) = kept.read_blocks()
    noisy = [table for table in (*measured.above, leaves) if table is not None]
    solution, offset = dense(again)
    wanted = solution @ np.concatenate([table.ravel() for table in noisy]) + offset
    nodes, detail = np.indices((tree.nodes[-1], tree.detail)).reshape(2, -1)
    assert np.allclose(estimates[tree.cells(nodes, detail)], wanted)


@pytest.mark.parametrize(("universe", "hierarchy"), CASES)
def test_stated_errors_are_the_exact_ones(universe: Universe, hierarchy: Hierarchy) -> None:
    made = toy(universe, hierarchy)
    solution, _ = dense(made)
    spread = np.concatenate(
        [
            np.full(nodes * made.tree.detail, variance)
            for nodes, variance in zip(made.tree.nodes, variances_of(made.noises), strict=True)
            if np.isfinite(variance)
        ]
    )
    covariance = (solution * spread) @ solution.T
    for matrix, stated in zip(rows(made.tree), made.errors, strict=True):
        here = matrix @ covariance @ matrix.T
        assert stated.cell == pytest.approx(np.sqrt(max(np.diag(here).mean(), 0)), abs=1e-6)
        total = np.kron(np.eye(stated.nodes), np.ones((1, made.tree.detail)))
        assert stated.node == pytest.approx(
            np.sqrt(max(np.diag(total @ here @ total.T).mean(), 0)), abs=1e-6
        )
        assert stated.cell <= stated.alone + 1e-9


def test_unbiased_with_the_stated_deviation() -> None:
    """Two thousand runs; each of eight means is off by five deviations with chance below 1e-5."""
    made = toy(PLACES, levels(), Seeded(11))
    counts = people(PLACES, mean=0.5)
    runs = np.array([made.release(counts).counts for _ in range(2000)]) - counts
    standard = made.errors[-1].cell / np.sqrt(2000)
    assert np.abs(runs.mean(axis=0)).max() < 5 * standard
    assert np.sqrt((runs**2).mean()) == pytest.approx(made.errors[-1].cell, rel=0.05)


def test_where_records_are_exchanged_the_whole_is_known() -> None:
    made = ToyDown(
        Workload.marginal(PLACES, ["town"]), dp.PureDP(epsilon=1), PublicCount(40), levels()
    )
    assert made.errors[0].cell == 0
    assert made.release(people(PLACES)).counts.sum() == pytest.approx(40)


def toy(universe: Universe, hierarchy: Hierarchy, randomness: Any = None) -> ToyDown:
    others = {} if randomness is None else {"randomness": randomness}
    asked = Workload.marginal(universe, ["town"])
    return ToyDown(
        asked,
        dp.ZCDP(rho=0.5),
        dp.queries.NoisyRecordCount(),
        hierarchy,
        **others,
    )
