"""Whether classifiers of the real and of the synthetic table use the same columns."""

import numpy as np
import pytest

from discreet.noise import Seeded
from discreet.synthetic.evaluation.classifiers import (
    ClassifierScores,
    RealSplit,
    classifier_scores,
    rank_agreement,
)

pytest.importorskip("sklearn")

NAMES = ("target", "strong", "middle", "weak", "none")


def rows(seed: int, size: int = 4000) -> np.ndarray:
    """A target that follows three columns, each less than the one before, and not the fourth."""
    rng = np.random.default_rng(seed)
    others = rng.integers(0, 2, (size, 4))
    chance = others @ np.array([0.5, 0.28, 0.14, 0.0]) + 0.04
    return np.column_stack([rng.random(size) < chance, others]).astype(np.int64)


def scores(synthetic: np.ndarray, seed: int = 1) -> ClassifierScores:
    source = Seeded(seed)
    split = RealSplit.of(rows(7), source)
    return classifier_scores("target", NAMES, split, synthetic, source)


def test_the_real_table_agrees_with_itself() -> None:
    found = scores(rows(7))
    assert found.agreement == pytest.approx(1)
    real, synthetic = np.array(list(found.importances.values())).T
    assert list(found.importances) == list(NAMES[1:])
    assert real == pytest.approx(synthetic, abs=0.02)
    assert real[0] > real[1] > real[3]


def test_columns_that_are_swapped_are_told_by_their_ranks() -> None:
    swapped = rows(8)[:, [0, 4, 3, 2, 1]]
    found = scores(swapped)
    assert found.agreement is not None
    assert found.agreement <= -0.6
    assert found.importances["none"][1] > 0.1 > found.importances["none"][0]


def test_permuted_columns_agree_about_as_often_as_not() -> None:
    """Nothing is left to learn: the mean of 30 agreements, each of deviation below 3**-.5, is
    beyond .45 once in 50 000 runs.
    """
    rng = np.random.default_rng(3)
    agreements = []
    for seed in range(30):
        permuted = rng.permuted(rows(9, 1000), axis=0)
        found = scores(permuted, seed)
        assert found.agreement is not None
        assert max(abs(each) for _, each in found.importances.values()) < 0.12
        agreements.append(found.agreement)
    assert abs(np.mean(agreements)) < 0.45


def test_agreement_of_ranks() -> None:
    assert rank_agreement([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert rank_agreement([1, 2, 3], [5, 5, 5]) == 0
    assert rank_agreement([1, 2, 2, 4], [1, 3, 2, 4]) == pytest.approx(0.9486833)


def test_a_synthetic_target_that_never_varies_uses_no_column() -> None:
    constant = rows(7)
    constant[:, 0] = 1
    found = scores(constant)
    assert {each for _, each in found.importances.values()} == {0.0}
    assert found.agreement == 0
