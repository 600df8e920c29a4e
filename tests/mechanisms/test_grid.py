"""The public grid: chosen without data, fine, paid for, exact, and silent about what it refuses."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.core.errors import InvalidData, InvalidParameter
from discreet.mechanisms import (
    AboveThreshold,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Laplace,
    NoisyMax,
    PermuteAndFlip,
    grid,
)
from discreet.mechanisms.additive import Additive
from discreet.noise import Noiseless

SILENT = Noiseless()
REAL = [
    Laplace(epsilon=0.3, sensitivity=5),
    Gaussian(epsilon=0.3, delta=1e-6, sensitivity=5),
]
finite = st.floats(allow_nan=False, allow_infinity=False)


def steps(value: float, exponent: int) -> int:
    """The exact steps of one real number."""
    values = grid.real_steps(value, exponent)
    return values.far.get(0, int(values.steps[0]))


@given(sensitivity=st.floats(1e-30, 1e30), ratio=st.floats(1e-9, 1e9), size=st.integers(1, 10**7))
def test_the_grid_is_fine_against_the_noise_and_rounding_is_small_against_sensitivity(
    sensitivity: float, ratio: float, size: int
) -> None:
    exact, scale = Fraction(sensitivity), Fraction(sensitivity) * Fraction(ratio)
    exponent = grid.real_exponent(exact, scale, size)
    step = Fraction(2) ** exponent
    assert step <= scale / 2**30
    assert step >= scale / 2**51
    if step * 2**50 < scale:
        return
    assert size * step <= exact / 2**20 or step * 2**50 <= scale


@pytest.mark.parametrize("mechanism", REAL)
def test_the_grid_never_depends_on_data(mechanism: Additive) -> None:
    for size in (1, 3, 1000):
        step = 2.0 ** mechanism._exponent(size, float)
        for centre in (0.0, 1e-300, 1.9, -2.1, 1e6, 1e15):
            released = mechanism.release(np.full(size, centre))
            assert (released / step == np.rint(released / step)).all()


@pytest.mark.parametrize("mechanism", REAL)
def test_outputs_are_multiples_of_the_grid_and_neighbours_have_one_support(
    mechanism: Additive,
) -> None:
    # 000a:A11: whatever the input, every multiple of the grid is possible and nothing else.
    exponent = mechanism._exponent(1, float)
    one, other = (mechanism._scale_in_steps(exponent, 1, float) for _ in (steps(0.1, exponent), 5))
    assert one == other
    assert one >= 2**30


@given(x=finite, y=finite, exponent=st.integers(-200, 200))
@example(x=0.5, y=1.5, exponent=0)
@example(x=2.0**60 - 1, y=2.0**62, exponent=-3)
def test_rounding_parts_two_numbers_by_at_most_one_step_more(
    x: float, y: float, exponent: int
) -> None:
    apart = abs(Fraction(x) - Fraction(y)) / Fraction(2) ** exponent
    moved = abs(steps(x, exponent) - steps(y, exponent))
    assert moved <= apart + 1
    farthest = Fraction(2**1000)
    kept = min(max(Fraction(x) / Fraction(2) ** exponent, -farthest), farthest)
    assert abs(steps(x, exponent) - kept) <= Fraction(1, 2)


@given(
    x=st.one_of(st.integers(-(2**63), 2**64), finite),
    y=st.one_of(st.integers(-(2**63), 2**64), finite),
    exponent=st.integers(-40, 40),
    origin=st.one_of(st.integers(-(2**70), 2**70), st.just(0)),
)
def test_comparisons_are_exact_and_clamping_is_lipschitz(
    x: float, y: float, exponent: int, origin: int
) -> None:
    # Whole and real values mix freely where only comparisons are released.
    here, there = (int(grid.steps_from(origin, grid.as_array([v]), exponent)[0]) for v in (x, y))
    apart = abs(Fraction(x) - Fraction(y)) / Fraction(2) ** exponent
    assert abs(here - there) <= apart + 1
    truth = Fraction(x) / Fraction(2) ** exponent - origin
    clamped = min(max(truth, Fraction(-grid.LIMIT)), Fraction(grid.LIMIT))
    assert abs(here - clamped) <= Fraction(1, 2)


@given(values=st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5))
def test_scores_keep_their_differences_however_large_they_are(values: list[int]) -> None:
    for exponent in (-45, -30, -7, 0, 3):
        behind = grid.steps_behind(grid.clamped(np.array(values)), exponent).tolist()
        top = [max(-grid.LIMIT, min(grid.LIMIT, v)) for v in values]
        for steps, value in zip(behind, top, strict=True):
            truth = Fraction(value - max(top)) / Fraction(2) ** exponent
            assert abs(steps - max(truth, -grid.LIMIT)) <= 1
            assert steps <= 0


class TestRoundingIsPaidFor:
    """Neighbours next to each other whose every coordinate is rounded another way."""

    SIZE = 1000

    def pair(self, exponent: int) -> tuple[Any, Any]:
        low = (np.arange(self.SIZE) + 0.5) * 2.0**exponent
        return low * (1 - 2.0**-40), low * (1 + 2.0**-40)

    @pytest.mark.parametrize("sensitivity", [1, 1e-3, 77.7])
    def test_laplace(self, sensitivity: float) -> None:
        mechanism = Laplace(epsilon=2, sensitivity=sensitivity)
        exponent = mechanism._exponent(self.SIZE, float)
        low, high = self.pair(exponent)
        moved = np.abs(grid.real_steps(high, exponent).steps - grid.real_steps(low, exponent).steps)
        assert moved.sum() == self.SIZE
        assert np.abs(high - low).sum() < sensitivity * 1e-6
        # And one coordinate uses up the sensitivity as well.
        worst = self.SIZE + math.floor(Fraction(sensitivity) / Fraction(2) ** exponent)
        scale = mechanism._scale_in_steps(exponent, self.SIZE, float)
        assert worst / scale <= Fraction(2)
        naive = Fraction(sensitivity) / Fraction(2) ** exponent / 2
        assert worst / naive > 2, "the broken twin: rounding left out of the sensitivity"

    def test_gaussian(self) -> None:
        mechanism = Gaussian(epsilon=2, delta=1e-6, sensitivity=1)
        exponent = mechanism._exponent(self.SIZE, float)
        low, high = self.pair(exponent)
        moved = grid.real_steps(high, exponent).steps - grid.real_steps(low, exponent).steps
        worst = math.sqrt((moved**2).sum()) + 2.0**-exponent
        scale = mechanism._scale_in_steps(exponent, self.SIZE, float)
        assert float(scale) >= worst * mechanism.noise_multiplier * (1 - 1e-12)
        assert worst / (2.0**-exponent) > 1, "the broken twin: rounding left out"

    @given(value=st.fractions(min_value=Fraction(1, 10**6), max_value=10**12))
    def test_the_root_is_never_too_small(self, value: Fraction) -> None:
        root = grid.sqrt_above(value)
        assert value <= root**2 <= value * (1 + Fraction(1, 2**38))


class TestKindsAndShapes:
    @pytest.mark.parametrize("mechanism", REAL)
    def test_scalars_lists_and_arrays_come_back_as_they_went_in(self, mechanism: Additive) -> None:
        assert type(mechanism.release(42)) is int
        assert type(mechanism.release(42.0)) is float
        assert type(mechanism.release(np.int8(3))) is int
        assert type(mechanism.release(np.float32(3))) is float
        assert type(mechanism.release(np.True_)) is int
        assert type(mechanism.release(np.array(5))) is int
        listed = mechanism.release([1, 2, 3])
        assert listed.dtype == np.int64
        assert listed.shape == (3,)
        table = mechanism.release(np.zeros((4, 5), order="F"))
        assert table.dtype == np.float64
        assert table.shape == (4, 5)
        assert mechanism.release(((1, 2), (3, 4))).shape == (2, 2)
        assert mechanism.release([True, False]).dtype == np.int64
        assert mechanism.release([1, 2.5]).dtype == np.float64

    @pytest.mark.parametrize("kind", [Laplace, DiscreteLaplace])
    def test_integers_of_every_width_are_exact(self, kind: type[Any]) -> None:
        silent = kind(epsilon=1, sensitivity=1, randomness=SILENT)
        top = grid.LIMIT
        for value in (top, -top, top - 1, 2**53 + 1, 0):
            assert silent.release(value) == value
        assert silent.release(np.array([2**64 - 1, 7], dtype=np.uint64)).tolist() == [top, 7]
        assert silent.release(np.array([255], dtype=np.uint8)).tolist() == [255]
        assert silent.release([-(2**63), 2**63 - 1]).tolist() == [-top, top]
        assert silent.release([10**40, -(10**40), 3]).tolist() == [top, -top, 3]
        assert silent.release(10**400) == top

    def test_numpy_does_not_turn_integers_into_reals_where_they_are_large(self) -> None:
        # np.asarray([2**63, -1]) is a float array: neighbours would differ in kind.
        silent = Laplace(epsilon=1, sensitivity=1, randomness=SILENT)
        for large in (2**63 - 1, 2**63, 2**64, 2**70):
            assert silent.release([large, -1]).dtype == np.int64
            assert silent.release([large, 0.5]).dtype == np.float64

    def test_sums_at_the_limit_do_not_wrap_around(self) -> None:
        wide = Laplace(epsilon=2.0**-54, sensitivity=1)
        for end in (grid.LIMIT, -grid.LIMIT):
            released = wide.release(np.full(2000, end))
            assert (np.abs(released) <= grid.LIMIT).all()
            assert (np.sign(released) == np.sign(end)).mean() > 0.9

    @pytest.mark.parametrize("size", [1, 10**5])
    def test_large_reals_are_not_cut_off(self, size: int) -> None:
        # The grid of 10**5 coordinates would reach only to 2**61 * 2**-39 = 4e6.
        mechanism = Laplace(epsilon=10, sensitivity=1)
        for centre in (5e6, 1e10, -1e15, 1e280):
            values = np.zeros(size)
            values[-1] = centre
            off = abs(mechanism.release(values)[-1] - centre)
            assert off <= 30 + abs(centre) * 2.0**-52

    def test_sums_beyond_the_limit_are_rounded_like_those_below(self) -> None:
        # One function of the exact sum: the nearest double, on both sides of 2**61.
        for exact in (2**61 - 511, 2**61 - 1, 2**61, 2**61 + 257, 2**61 + 769):
            near = grid.Values(np.array([exact - 2**40]), 0, scalar=True, whole=False)
            far = grid.Values(
                np.array([grid.LIMIT]), 0, scalar=True, whole=False, far={0: exact + 2**40}
            )
            assert near.with_noise(np.array([2**40])) == float(exact)
            assert far.with_noise(np.array([-(2**40)])) == float(exact)

    def test_the_largest_doubles_stay_finite(self) -> None:
        wide = Laplace(epsilon=1e-3, sensitivity=1e100)
        released = wide.release([1.7e308, -1.7e308])
        assert np.isfinite(released).all()


REFUSED: list[tuple[str, Any]] = [
    ("not_finite_input", float("nan")),
    ("not_finite_input", [1.5, float("inf")]),
    ("not_finite_input", [-math.inf, 123456.789]),
    ("not_numbers", None),
    ("not_numbers", [123456, None]),
    ("not_numbers", "123456"),
    ("not_numbers", ["secret", "a much longer secret"]),
    ("not_numbers", [Decimal("123456"), Decimal("NaN")]),
    ("not_numbers", [1 + 2j]),
    ("not_numbers", [[123456], [1, 2]]),
    ("not_numbers", {"secret": 123456}),
    ("not_numbers", np.array(["2020-01-01"], dtype="datetime64[D]")),
    ("not_numbers", np.array([1.5], dtype=np.longdouble)),
    ("empty_input", []),
    ("empty_input", np.empty((3, 0))),
]
RELEASES = {
    "Laplace": Laplace(epsilon=1, sensitivity=1).release,
    "Gaussian": Gaussian(epsilon=1, delta=1e-6, sensitivity=1).release,
    "Exponential": Exponential(epsilon=1, sensitivity=1).release,
    "PermuteAndFlip": PermuteAndFlip(epsilon=1, sensitivity=1).release,
    "NoisyMax": NoisyMax(epsilon=1, sensitivity=1).release,
    "AboveThreshold": AboveThreshold(epsilon=1, threshold=0, sensitivity=1).open().ask_all,
}


@pytest.mark.parametrize("name", RELEASES)
@pytest.mark.parametrize(("code", "value"), REFUSED)
def test_what_is_not_numbers_is_refused_without_being_shown(
    name: str, code: str, value: Any
) -> None:
    if name not in {"Laplace", "Gaussian"} and np.ndim(value if code != "not_numbers" else 0) != 1:
        value = [value]
    with pytest.raises(InvalidData) as refused:
        RELEASES[name](value)
    assert refused.value.code == code
    assert refused.value.remedy
    for secret in ("secret", "123456", "789", "2020", "1.5", "U6", "U20"):
        assert secret not in str(refused.value)


@pytest.mark.parametrize(
    "discrete", [DiscreteLaplace(epsilon=1, sensitivity=1), DiscreteGaussian(rho=1, sensitivity=1)]
)
def test_discrete_mechanisms_refuse_reals_even_if_they_are_whole(discrete: Additive) -> None:
    messages = set()
    for value in (3.0, [3.5, 1.0], np.array([1e300])):
        with pytest.raises(InvalidData, match="integers_only") as refused:
            discrete.release(value)
        messages.add(str(refused.value))
    assert len(messages) == 1


def test_refusals_are_the_same_whatever_the_values() -> None:
    def message(value: Any) -> str:
        with pytest.raises(InvalidData) as refused:
            Laplace(epsilon=1, sensitivity=1).release(value)
        return str(refused.value)

    assert len({message([x, math.nan]) for x in (0.0, 1.5, 1e300)}) == 1
    assert len({message(x) for x in (math.nan, math.inf, -math.inf)}) == 1
    assert len({message([x]) for x in ("a", "a longer one", "")}) == 1
    assert len({message(x) for x in ([1, None], [2, "b"], [None, None])}) == 1


def test_a_noise_that_reals_cannot_hold_is_refused_before_data_is_seen() -> None:
    for scale in (Fraction(1, 10**320), Fraction(10**320), Fraction(10**290)):
        with pytest.raises(InvalidParameter, match="scale_out_of_range"):
            grid.real_exponent(scale, scale, 1)
    with pytest.raises(InvalidParameter, match="scale_out_of_range"):
        Laplace(epsilon=1e-30, sensitivity=1).release(3)
