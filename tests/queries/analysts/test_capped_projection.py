"""The lemmas on the projection, as tests on random and on extreme instances."""

import math

import numpy as np
import pytest

from discreet.core.errors import InvalidParameter
from discreet.queries.analysts.capped_projection import capped, group_capped, pair_logs
from discreet.queries.log_weights import log_sums

RNG = np.random.default_rng(7)


def law(weights: list[float] | np.ndarray, s: int, width: int = 1) -> np.ndarray:
    logs = np.log(np.asarray(weights, dtype=float))
    return (capped(logs, s).masses if width == 1 else group_capped(logs, width, s)) / s


def variation(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.abs(first - second).sum() / 2)


def test_oracles() -> None:
    weights = [1 / 2, 1 / 4, 1 / 8, 1 / 8]
    assert 2 * law(weights, 2) == pytest.approx([1, 0.5, 0.25, 0.25])
    assert 3 * law(weights, 3) == pytest.approx([1, 1, 0.5, 0.5])
    assert 4 * law(weights, 4) == pytest.approx([1, 1, 1, 1])
    # Groups {1/2, 1/4}, {1/8}, {1/8}, the latter two written with an empty place.
    tiny = 1e-300
    grouped = law([1 / 2, 1 / 4, 1 / 8, tiny, 1 / 8, tiny], 2, width=2)
    assert grouped == pytest.approx([1 / 3, 1 / 6, 1 / 4, 0, 1 / 4, 0])


def test_masses_sum_to_s_stay_below_one_and_keep_ratios_below_the_cap() -> None:
    for _ in range(300):
        size = int(RNG.integers(2, 60))
        s = int(RNG.integers(1, size + 1))
        logs = RNG.normal(0, RNG.choice([0.1, 3, 100]), size)
        found = capped(logs, s)
        assert found.masses.sum() == pytest.approx(s)
        assert found.masses.max() <= 1 + 1e-12
        if s < size:
            free = ~found.full
            scale = found.masses[free] / np.exp(found.scores[free])
            assert scale == pytest.approx(scale[0])
            if found.full.any():
                assert scale[0] * np.exp(found.scores[found.full].min()) >= 1 - 1e-9


def test_almost_all_weight_on_s_groups_leaves_something_for_the_others() -> None:
    for s, gap in ((2, 60.0), (5, 200.0), (1, 690.0)):
        masses = capped(np.concatenate([np.zeros(s), np.full(3, -gap)]), s).masses
        assert masses[-1] > 0
        assert masses[-1] == pytest.approx(masses[0] * math.exp(-gap), rel=1e-6)
        assert masses.max() <= 1


def test_weights_as_far_apart_as_logarithms_allow() -> None:
    masses = capped(np.array([0.0, 1e6, -1e6, 3.0]), 2).masses
    assert masses[1] == 1
    assert masses.sum() == pytest.approx(2)
    assert (masses > 0).all()


def test_more_than_all_groups_is_refused() -> None:
    with pytest.raises(InvalidParameter) as refused:
        capped(np.zeros(3), 4)
    assert refused.value.code == "cap_unreachable"


def test_the_range_of_log_ratios_never_grows() -> None:
    worst = 0.0
    for _ in range(4000):
        size = int(RNG.integers(2, 12))
        s = int(RNG.integers(1, size + 1))
        logs = RNG.normal(0, RNG.choice([0.3, 2]), size)
        moved = RNG.uniform(-1, 1, size) * RNG.choice([0.01, 1])
        ratio = np.log(capped(logs + moved, s).masses / capped(logs, s).masses)
        spread = max(ratio.max(), 0) - min(ratio.min(), 0)
        worst = max(worst, spread / np.ptp(moved))
    assert worst <= 1 + 1e-9
    assert worst > 0.99


def test_the_half_width_can_double() -> None:
    """200 of 10 000 equal weights, all moved up but one: that one falls by nearly 2 epsilon."""
    moved = np.full(10_000, 1e-3)
    moved[0] = -1e-3
    ratio = np.log(capped(moved, 200).masses / capped(np.zeros(10_000), 200).masses)
    assert np.abs(ratio).max() == pytest.approx(1.9998e-3, rel=1e-4)


def test_group_caps_are_mixtures_of_exponential_draws() -> None:
    """The range of one world against the other may double; Rényi divergences do not."""
    worst_variation = worst_renyi = worst_range = 0.0
    for _ in range(4000):
        groups, width = int(RNG.integers(2, 6)), int(RNG.integers(1, 4))
        s = int(RNG.integers(1, groups + 1))
        logs = RNG.normal(0, RNG.choice([0.3, 3]), groups * width)
        size = RNG.choice([0.05, 0.5, 2])
        moved = RNG.choice([-size / 2, size / 2], groups * width)
        first, second = group_capped(logs + moved, width, s) / s, group_capped(logs, width, s) / s
        ratio = np.log(first / second)
        worst_range = max(worst_range, np.abs(ratio).max() / size)
        worst_variation = max(worst_variation, variation(first, second) / math.tanh(size / 4))
        for order in (1.01, 2.0, 8.0):
            moment = (first**order * second ** (1 - order)).sum()
            worst_renyi = max(worst_renyi, math.log(moment) / ((order - 1) * order * size**2 / 8))
    assert worst_range <= 1 + 1e-9
    assert worst_variation <= 1 + 1e-9
    assert worst_renyi <= 1 + 1e-9
    assert worst_renyi > 0.95


def test_one_more_action_shifts_by_one_over_s_and_a_pair_by_two() -> None:
    worst = np.zeros(3)
    for _ in range(4000):
        size = int(RNG.integers(4, 12))
        s = int(RNG.integers(1, size - 1))
        common = RNG.normal(0, RNG.choice([0.3, 4]), size)
        new = RNG.normal(0, 6, 4)
        tails = [(new[:0], new[:1]), (new[:0], new[:2]), (new[:2], new[2:])]
        for kind, (before, after) in enumerate(tails):
            first = capped(np.concatenate([common, before]), s).masses / s
            second = capped(np.concatenate([common, after]), s).masses / s
            # Actions of different worlds differ even where their places are the same.
            shift = np.abs(first[:size] - second[:size]).sum() + first[size:].sum()
            worst[kind] = max(worst[kind], (shift + second[size:].sum()) / 2 * s)
    assert (worst <= np.array([1, 2, 2]) + 1e-9).all()
    assert (worst > np.array([0.99, 1.9, 1.9])).all()


def test_replacing_a_group_shifts_by_one_over_s() -> None:
    worst = 0.0
    for _ in range(4000):
        groups, width = int(RNG.integers(3, 7)), int(RNG.integers(1, 4))
        s = int(RNG.integers(1, groups))
        logs = RNG.normal(0, RNG.choice([0.3, 4]), groups * width)
        other = logs.copy()
        other[:width] = RNG.normal(0, 8, width)
        first, second = group_capped(logs, width, s) / s, group_capped(other, width, s) / s
        shift = np.abs(first[width:] - second[width:]).sum()
        worst = max(worst, (shift + first[:width].sum() + second[:width].sum()) / 2 * s)
    assert 0.99 < worst <= 1 + 1e-9


def test_element_caps_charged_one_over_s_are_caught_and_pair_caps_are_not() -> None:
    """The twin of the paper: a query adds two actions, which shift the law by 2/s."""
    s, others = 4, 12
    tilts = np.zeros(others + 1)
    loud, quiet = tilts.copy(), tilts.copy()
    loud[0] = 0.0
    elements = np.concatenate([loud + 9.0 * (np.arange(others + 1) == 0), -loud])
    elements[others + 1] = 9.0  # both signs of the replaced query are heavy
    before = capped(elements, s).masses / s
    rest = np.ones(2 * (others + 1), dtype=bool)
    rest[[0, others + 1]] = False
    after = capped(np.concatenate([quiet, -quiet]) - 40.0 * ~rest, s).masses / s
    shift = (np.abs(before - after)[rest].sum() + before[~rest].sum() + after[~rest].sum()) / 2
    assert shift == pytest.approx(2 / s, rel=1e-6)
    # By pairs, the heaviest replacement against the lightest.
    pairs = pair_logs(tilts)
    first, second = pairs.copy(), pairs.copy()
    first[0] += 9.0
    second[0] -= 40.0
    first, second = capped(first, s).masses / s, capped(second, s).masses / s
    assert (np.abs(first - second)[1:].sum() + first[0] + second[0]) / 2 <= 1 / s + 1e-12


def test_sums_within_groups_do_not_overflow() -> None:
    logs = np.array([1e5, 1e5, -1e5, -1e5])
    assert log_sums(logs, 2) == pytest.approx([1e5 + math.log(2), -1e5 + math.log(2)])
    assert pair_logs(np.array([1e4, -1e4, 0.0])) == pytest.approx([1e4, 1e4, math.log(2)])
