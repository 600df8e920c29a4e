"""Bounds, people, exact sums and the noise for them."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.learn.bounded_noise import BoundedNoise, SumGroup
from discreet.learn.box import BITS, ONE, Box
from discreet.learn.estimators.base import class_numbers
from discreet.learn.estimators.kmeans import nearest_centre
from discreet.learn.exact_sums import ROWS, products, slices, sums
from discreet.learn.privacy import Privacy, identifiers
from discreet.learn.statistical_queries import StatisticalQueries
from discreet.noise import Noiseless, Seeded

ROW = Privacy(dp.PureDP(epsilon=1), dp.Row())
values = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(values, min_size=1, max_size=5), values, values)
def test_every_number_becomes_steps_within_one(row: list[float], a: float, b: float) -> None:
    try:
        box = Box.of((a, b), len(row))
    except InvalidParameter:
        assert not (a < b and max(abs(a), abs(b)) <= 2.0**400 and b - a >= 2.0**-400)
        return
    steps = box.steps(np.array([row]))
    assert (abs(steps) <= ONE).all()
    assert (steps == np.rint(steps)).all()


def test_bad_values_have_fixed_places() -> None:
    box = Box.of(([0, 0, 0, 0], [1, 2, 4, 8]), 4)
    steps = box.steps(np.array([[np.nan, np.inf, -np.inf, 6.0]]))
    assert steps.tolist() == [[0, ONE, -ONE, ONE / 2]]


@pytest.mark.parametrize(
    "bounds", [None, 3, (1, 0), (0, np.inf), ([0, 0], [1]), ("a", "b"), (0, 0)]
)
def test_what_is_no_interval_is_refused(bounds: object) -> None:
    with pytest.raises(InvalidParameter, match="bounds_missing"):
        Box.of(bounds, 3)


@pytest.mark.parametrize("rows", [1, ROWS - 1, ROWS, ROWS + 1])
def test_products_are_exact(rows: int) -> None:
    drawn = np.random.default_rng(3).integers(-(2**36), 2**36 + 1, (3, rows))
    drawn[0] = 2**36  # the largest there is, throughout
    drawn[1, ::2] = -(2**36)
    found = products((drawn[:, part].astype(float) for part in slices(rows)), 3)
    whole = drawn.astype(object)
    assert (found == whole @ whole.T).all()


def test_sums_of_blocks_are_exact_and_leave_out_strangers() -> None:
    rng = np.random.default_rng(4)
    steps = rng.integers(-(2**36), 2**36 + 1, (2 * ROWS + 5, 2))
    block = rng.integers(-1, 3, len(steps))
    found = sums(steps.astype(float), block, 2)
    for place in (0, 1):
        assert found[place].tolist() == steps[block == place].astype(object).sum(axis=0).tolist()


def test_the_rows_of_a_person_are_chosen_evenly_and_apart_from_others() -> None:
    privacy = Privacy(dp.PureDP(epsilon=1), dp.Person("id", max_rows=2), Seeded(5))
    people = np.array(["a"] * 4 + ["b"] * 2 + [None], dtype=object)
    chosen = Counter(
        tuple(np.flatnonzero(privacy.choose_rows_to_keep(7, people)).tolist()) for _ in range(1200)
    )
    # Six pairs of a's rows, each with probability 1/6: beyond 5.5 deviations once in 1e7.
    assert len(chosen) == 6
    assert all(abs(times - 200) < 5.5 * np.sqrt(1200 * 5 / 36) for times in chosen.values())
    assert all({4, 5} <= set(kept) and 6 not in kept for kept in chosen)


@pytest.mark.parametrize(
    ("unit", "moved"),
    [
        (dp.Row(), 1),
        (dp.Replace(dp.Row()), 2),
        (dp.Person("id", max_rows=3), 3),
        (dp.Replace(dp.Person("id", max_rows=3)), 6),
    ],
)
def test_rows_that_differ(unit: dp.Row, moved: int) -> None:
    privacy = Privacy.from_spend_and_unit(dp.PureDP(epsilon=1), unit)
    assert privacy.rows_that_differ == moved
    one = BoundedNoise(privacy, (SumGroup(4),)).deviation(0)
    assert one == pytest.approx(moved * BoundedNoise(ROW, (SumGroup(4),)).deviation(0))


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("share", [Fraction(1), Fraction(1, 4)])
def test_pure_noise_has_its_law(size: int, share: Fraction) -> None:
    """The largest coordinate is Gamma(size, 1/(epsilon share)): tested on three sides.

    False alarms: 1e-9 for the true law; wrong ones are found with near certainty.
    """
    from scipy import stats

    groups = (SumGroup(size, share), *([SumGroup(1, 1 - share)] if share < 1 else []))
    noise = BoundedNoise(Privacy(dp.PureDP(epsilon=2), dp.Row(), Seeded(7)), groups)
    zeros = np.zeros((20000, size), dtype=object)
    largest = abs(noise.release(0, zeros, bits=BITS)).max(axis=1)
    scale = 1 / (2 * float(share))
    found = {
        factor: stats.kstest(largest, stats.gamma(size, scale=scale * factor).cdf).pvalue
        for factor in (0.8, 1, 1.25)
    }
    assert found[1] > 1e-9
    assert max(found[0.8], found[1.25]) < 1e-9
    assert noise.deviation(0) == pytest.approx(np.sqrt((size + 1) * (size + 2) / 3) * scale)


def test_gaussian_noise_has_its_law_and_groups_share_one_event() -> None:
    from scipy import stats

    spend = dp.ZCDP(rho=0.125)  # a multiplier of two
    groups = (SumGroup(4, Fraction(1, 4)), SumGroup(9, Fraction(3, 4)))
    noise = BoundedNoise(Privacy(spend, dp.Row(), Seeded(8)), groups)
    deviations = [2 * np.sqrt(4 * 4), 2 * np.sqrt(9 * 4 / 3)]
    assert [noise.deviation(0), noise.deviation(1)] == pytest.approx(deviations)
    moved = sum(group.size / d**2 for group, d in zip(groups, deviations, strict=True))
    assert moved == pytest.approx(1 / 2**2)
    drawn = noise.release(1, np.zeros((5000, 9), dtype=object), bits=BITS).ravel()
    found = {f: stats.kstest(drawn / deviations[1] / f, "norm").pvalue for f in (0.8, 1, 1.25)}
    assert found[1] > 1e-9
    assert max(found[0.8], found[1.25]) < 1e-9


def test_a_spend_with_delta_takes_the_smaller_noise() -> None:
    few = BoundedNoise(Privacy(dp.ApproxDP(epsilon=1, delta=1e-6), dp.Row()), (SumGroup(2),))
    many = BoundedNoise(Privacy(dp.ApproxDP(epsilon=1, delta=1e-6), dp.Row()), (SumGroup(400),))
    assert type(few.event).__name__ == "Pure"
    assert type(many.event).__name__ == "Gaussian"
    assert many.event.epsilon(delta=1e-6) <= 1


@given(st.integers(-(2**100), 2**100), st.integers(0, 3 << BITS), st.integers(1, 60))
def test_rounding_to_coarser_steps_never_widens_the_distance(a: int, moved: int, e: int) -> None:
    """Neighbouring totals that are k units apart are at most k units of steps apart."""
    privacy = Privacy(dp.PureDP(epsilon=Fraction(1, e)), dp.Row(), Noiseless())
    noise = BoundedNoise(privacy, (SumGroup(2),))
    near = np.array([a % (1 << 60), a % (1 << 60) + moved], dtype=object)
    found = noise.release(0, near, bits=BITS)
    units = -(-moved >> BITS) if moved % (1 << BITS) else moved >> BITS
    assert abs(found[1] - found[0]) <= max(units, -(-moved // (1 << BITS)))


def test_noise_beyond_the_grid_is_refused() -> None:
    for epsilon in (1e6, 1e-12):
        with pytest.raises(InvalidParameter, match="noise_beyond_grid"):
            BoundedNoise(Privacy(dp.PureDP(epsilon=epsilon), dp.Row()), (SumGroup(3),))
    with pytest.raises(InvalidParameter, match="shares_do_not_fit"):
        BoundedNoise(ROW, (SumGroup(3, Fraction(1, 2)),))


def test_blocks_of_rows_cover_all() -> None:
    parts = list(slices(3 * ROWS + 1))
    assert [part.start for part in parts] == [0, ROWS, 2 * ROWS, 3 * ROWS]
    assert all(a.stop == b.start for a, b in pairwise(parts))


def testidentifiers_are_told_apart_exactly_and_missing_ones_are_dropped() -> None:
    def people(values: Any) -> list[int]:
        return [int(each) for each in identifiers(values, len(values))]

    assert people(["a", "a\0", "a"]) == [0, 1, 0]
    assert people([2**53, 2**53 + 1, 0.5]) == [0, 1, 2]
    assert people([1, 1.0, np.int64(1), "1"]) == [0, 0, 0, 1]
    assert people([None, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]) == [-1] * 5
    assert people(pd.array([1, None, 2], dtype="Int64")) == [0, -1, 1]
    assert people(pd.Series(["u", pd.NA, "u"], dtype="string")) == [0, -1, 0]
    assert people(np.array(["2020", "NaT"], dtype="datetime64[ns]")) == [0, -1]


def test_the_nearest_centre_of_a_row_does_not_depend_on_other_rows() -> None:
    """To the last bit: rows alone, and among others, in any memory layout."""
    rng = np.random.default_rng(3)
    rows, centres = rng.uniform(-1, 1, (200, 9)), rng.uniform(-1, 1, (3, 9))
    centres[1] = centres[0][::-1]
    ties = np.concatenate([rows, (centres[[0]] + centres[[1]]) / 2 * np.ones((40, 1))])
    together = nearest_centre(np.asfortranarray(ties), centres)
    alone = [int(nearest_centre(row[None], centres)[0]) for row in ties]
    assert together.tolist() == alone


@pytest.mark.parametrize("odd", ["word", None, 10**400, complex(1, 2), [1, 2], float("nan")])
def test_an_answer_that_is_no_number_counts_as_one_half(odd: object) -> None:
    """Whatever one row gives, nothing is raised, and no other row is read differently."""
    privacy = Privacy(dp.PureDP(epsilon=40), dp.Row(), Noiseless())
    asked = StatisticalQueries(np.zeros(100), 2, privacy)

    def query(rows: object) -> list[object]:
        return [odd, *([1.0] * 99)]

    assert asked.answer(query) == pytest.approx(0.995)
    assert asked.answer(lambda rows: np.array([*query(rows)[1:], 0.5])) == pytest.approx(0.995)


def test_labels_are_numbered_alike_one_by_one_and_all_at_once() -> None:
    labels: list[Any] = [0, 1, 2, 7, -1, 1.5, True, math.nan, math.inf]
    for classes in ([0, 1], [2, 0.0, 1], [True, False], list(range(40))):
        together, found = class_numbers(classes, np.array(labels, dtype=float))
        apart, each = class_numbers(classes, np.array(labels, dtype=object))
        assert found.tolist() == each.tolist()
        assert together.tolist() == apart.tolist()
