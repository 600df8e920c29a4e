"""Rare values are merged, counted together, and shared out again."""

import numpy as np

from discreet.noise.randomness import Seeded
from discreet.synthetic.merged import MergedValues, merge_rare


def test_values_below_three_deviations_are_merged_and_the_others_are_not() -> None:
    counts = [np.array([500.0, 20.0, -7.0, 90.0, 40.0]), np.array([10.0, 900.0])]
    merged = merge_rare(counts, [30.0, 30.0], threshold=3.0)
    assert merged.sizes == (3, 2)
    np.testing.assert_array_equal(merged.codes[0], [0, 2, 2, 1, 2])
    np.testing.assert_array_equal(merged.codes[1], [0, 1])  # one rare value stays as it is
    kept = merge_rare(counts, [30.0, 30.0], threshold=3.0, kept={0})
    assert kept.sizes == (5, 2)


def test_counts_are_merged_along_their_own_axis() -> None:
    merged = merge_rare([np.array([500.0, 2.0, 3.0]), np.array([9.0, 9.0])], [10.0, 1], threshold=3)
    table = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(merged.merge(table, (1, 0)), [[0, 3], [3, 9]])


def test_spreading_gives_every_value_its_share_and_keeps_the_sum() -> None:
    merged = merge_rare([np.array([500.0, 20.0, 20.0, -90.0])], [30.0], threshold=3)
    spread = merged.spread(np.array([0.9, 0.1]), (0,))
    assert spread.sum() == 1
    assert spread[0] == 0.9
    assert (spread >= 0).all()
    assert spread[1] == spread[2] > spread[3]


def test_shares_are_even_where_noise_alone_could_tell_values_apart() -> None:
    merged = merge_rare([np.array([500.0, 20.0, 10.0, 0.0])], [30.0], threshold=3)
    np.testing.assert_allclose(merged.shares[0], [1, 1 / 3, 1 / 3, 1 / 3])


def test_rows_are_split_by_shares_and_other_rows_stay() -> None:
    merged = MergedValues((np.array([0, 1, 1]),), (np.array([1.0, 0.25, 0.75]),))
    rows = np.repeat([[0], [1]], [50, 40], axis=0)
    split = merged.split(rows, Seeded(1))
    assert (split[:50] == 0).all()
    np.testing.assert_array_equal(np.bincount(split[50:, 0]), [0, 10, 30])


def test_all_values_below_the_threshold_leave_one() -> None:
    merged = merge_rare([np.array([1.0, -2.0, 0.5])], [30.0], threshold=3)
    assert merged.sizes == (1,)
