"""Mutation tests of the kit: it accepts the truth and rejects every sampler spoilt on purpose.

The false-alarm rate of each test is its share of ``conftest.SUITE`` (1e-6 in all).
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, kstest

from discreet.audit import BrokenTwin, ContinuousLaw, DiscreteLaw, accepts, check_pair, three_sided
from discreet.audit.testers import Evidence, ThreeSided, Verdict, sample_size, scaled
from discreet.audit.testers.partition import IMPOSSIBLE
from discreet.core.errors import InvalidParameter

Floats = NDArray[np.float64]
Generator = np.random.Generator


def geometric_law(scale: float, shift: int = 0) -> DiscreteLaw:
    """Two-sided geometric: Pr[z] proportional to exp(−|z|/scale)."""
    a = math.exp(-1 / scale)
    reach = math.ceil(40 * scale)
    return DiscreteLaw.on_integers(
        lambda z: (1 - a) / (1 + a) * a ** abs(z - shift), low=-reach, high=reach
    )


def geometric(rng: Generator, scale: float, size: int) -> NDArray[np.int64]:
    success = 1 - math.exp(-1 / scale)
    return rng.geometric(success, size) - rng.geometric(success, size)


def laplace_cdf(x: Floats) -> Floats:
    return np.where(x < 0, np.exp(-np.abs(x)) / 2, 1 - np.exp(-np.abs(x)) / 2)


LAPLACE = ContinuousLaw(laplace_cdf)
SIZE = 100_000


@pytest.mark.parametrize("scale", [0.3, 2.0, 50.0])
def test_a_discrete_sampler_passes_and_its_neighbours_in_scale_fail(
    rng: Generator, alpha: float, scale: float
) -> None:
    wrong = [geometric_law(0.8 * scale), geometric_law(1.25 * scale)]
    result = three_sided(
        lambda n: geometric(rng, scale, n), geometric_law(scale), wrong, alpha=alpha
    )
    assert result.passes, result
    assert result.truth.size < 100_000


def test_a_continuous_sampler_passes_and_its_neighbours_in_scale_fail(
    rng: Generator, alpha: float
) -> None:
    wrong = [scaled(LAPLACE, 0.8), scaled(LAPLACE, 1.25)]
    result = three_sided(lambda n: rng.laplace(size=n), LAPLACE, wrong, alpha=alpha)
    assert result.passes, result


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_a_sampler_of_the_wrong_scale_fails_the_three_sided_test(
    rng: Generator, alpha: float, factor: float
) -> None:
    wrong = [geometric_law(1.6), geometric_law(2.5)]
    result = three_sided(
        lambda n: geometric(rng, 2 * factor, n), geometric_law(2), wrong, alpha=alpha
    )
    assert not result.truth.passes


DISCRETE_MUTANTS: dict[str, Callable[[Generator], object]] = {
    "scale x0.8": lambda rng: geometric(rng, 1.6, SIZE),
    "scale x1.25": lambda rng: geometric(rng, 2.5, SIZE),
    "shifted by one": lambda rng: geometric(rng, 2, SIZE) + 1,
    "tail cut at 12": lambda rng: np.clip(geometric(rng, 2, SIZE), -12, 12),
    "tail redrawn": lambda rng: [z for z in geometric(rng, 2, 2 * SIZE).tolist() if abs(z) < 13],
    "each draw twice": lambda rng: np.repeat(geometric(rng, 2, SIZE // 2), 2),
    "second half copies the first": lambda rng: np.tile(geometric(rng, 2, SIZE // 2), 2),
    "a buffer of 1000 reused": lambda rng: np.tile(geometric(rng, 2, 1000), SIZE // 1000),
    "one half-integer": lambda rng: [*geometric(rng, 2, SIZE).tolist(), 0.5],
    "one NaN": lambda rng: [*geometric(rng, 2, SIZE).tolist(), math.nan],
    "zero twice as heavy on one side": lambda rng: np.abs(geometric(rng, 2, SIZE)),
    "constant": lambda _: np.zeros(SIZE, dtype=np.int64),
}


@pytest.mark.parametrize("mutant", DISCRETE_MUTANTS)
def test_every_discrete_mutant_is_caught_and_the_truth_is_not(
    rng: Generator, alpha: float, mutant: str
) -> None:
    def judge(sampler: Callable[[Generator], object]) -> Verdict:
        return accepts(sampler(rng), geometric_law(2), alpha=alpha)

    twin = BrokenTwin(mutant, lambda g: geometric(g, 2, SIZE), DISCRETE_MUTANTS[mutant], why=mutant)
    check_pair(twin, judge)


CONTINUOUS_MUTANTS: dict[str, Callable[[Generator], object]] = {
    "scale x0.8": lambda rng: rng.laplace(scale=0.8, size=SIZE),
    "scale x1.25": lambda rng: rng.laplace(scale=1.25, size=SIZE),
    "shifted by a tenth": lambda rng: rng.laplace(0.1, size=SIZE),
    "tail cut at 6": lambda rng: np.clip(rng.laplace(size=SIZE), -6, 6),
    "normal of equal variance": lambda rng: rng.normal(scale=math.sqrt(2), size=SIZE),
    "each draw twice": lambda rng: np.repeat(rng.laplace(size=SIZE // 2), 2),
    "second half copies the first": lambda rng: np.tile(rng.laplace(size=SIZE // 2), 2),
    "one infinity": lambda rng: np.append(rng.laplace(size=SIZE), math.inf),
}


@pytest.mark.parametrize("mutant", CONTINUOUS_MUTANTS)
def test_every_continuous_mutant_is_caught_and_the_truth_is_not(
    rng: Generator, alpha: float, mutant: str
) -> None:
    def judge(sampler: Callable[[Generator], object]) -> Verdict:
        return accepts(sampler(rng), LAPLACE, alpha=alpha)

    twin = BrokenTwin(
        mutant, lambda g: g.laplace(size=SIZE), CONTINUOUS_MUTANTS[mutant], why=mutant
    )
    check_pair(twin, judge)


def test_a_three_sided_test_needs_the_truth_accepted_and_every_wrong_law_rejected() -> None:
    def verdict(p_value: float) -> Verdict:
        return Verdict((Evidence("cells", 0.0, p_value),), 0.01, 100)

    good, bad = verdict(0.5), verdict(1e-6)
    assert ThreeSided(good, (bad, bad)).passes
    assert not ThreeSided(good, (bad, good)).passes
    assert not ThreeSided(bad, (bad, bad)).passes


def test_the_kolmogorov_smirnov_distance_is_exact_and_its_p_value_an_upper_bound(
    rng: Generator,
) -> None:
    uniform = ContinuousLaw(lambda x: np.clip(x, 0, 1))
    (pair,) = uniform.own_tests(np.array([0.5, 0.9]))
    assert pair.statistic == pytest.approx(0.5)
    for size in (5, 50, 500):
        sample = rng.beta(1.2, 1, size)
        (evidence,) = uniform.own_tests(sample)
        reference = kstest(sample, "uniform", method="exact")
        assert evidence.statistic == pytest.approx(reference.statistic)
        assert reference.pvalue <= evidence.p_value <= max(4 * reference.pvalue, 0.2)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_no_cell_and_no_distance_admits_a_value_that_is_not_finite(bad: float) -> None:
    sample = np.array([-1.0, bad])
    assert LAPLACE.partition(np.array([0.5])).locate(sample).tolist() == [0, IMPOSSIBLE]
    assert LAPLACE.own_tests(sample)[0].p_value == 0


def test_categories_are_judged_too(rng: Generator, alpha: float) -> None:
    law = DiscreteLaw.of({"yes": 0.75, "no": 0.25})
    assert accepts(rng.choice(["yes", "no"], 10_000, p=[0.75, 0.25]), law, alpha=alpha).passes
    assert not accepts(rng.choice(["yes", "no"], 10_000, p=[0.8, 0.2]), law, alpha=alpha).passes
    assert not accepts(["yes", "perhaps"], law, alpha=alpha).passes


def test_true_samplers_are_rejected_no_more_often_than_stated(rng: Generator, alpha: float) -> None:
    law = geometric_law(2)
    rejected = sum(not accepts(geometric(rng, 2, 500), law, alpha=0.1).passes for _ in range(1000))
    assert rejected <= binom.isf(alpha, 1000, 0.1)


def test_wrong_laws_are_missed_no_more_often_than_the_power_allows(
    rng: Generator, alpha: float
) -> None:
    law, wrong = geometric_law(2), geometric_law(2.5)
    size = sample_size(law, wrong, alpha=1e-3, power=0.9)
    missed = sum(accepts(geometric(rng, 2, size), wrong, alpha=1e-3).passes for _ in range(200))
    assert missed <= binom.isf(alpha, 200, 0.1)


def test_closer_laws_and_more_power_need_more_draws() -> None:
    law = geometric_law(2)
    easy = sample_size(law, geometric_law(2.5), alpha=1e-6, power=0.99)
    assert sample_size(law, geometric_law(2.2), alpha=1e-6, power=0.99) > 3 * easy
    assert sample_size(law, geometric_law(2.5), alpha=1e-9, power=0.999) > easy


def test_a_sample_too_small_for_the_power_is_refused_before_drawing() -> None:
    def sampler(_: int) -> object:
        raise AssertionError

    with pytest.raises(InvalidParameter, match="sample_too_small"):
        three_sided(sampler, geometric_law(2), [geometric_law(2.5)], alpha=1e-6, size=100)


def test_a_wrong_law_equal_to_the_true_one_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="laws_too_close"):
        sample_size(LAPLACE, LAPLACE, alpha=1e-6, power=0.9)


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="empty_sample"):
        accepts([], LAPLACE, alpha=0.1)


def test_a_function_that_is_no_law_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="not_a_law"):
        accepts([0.0], ContinuousLaw(lambda x: 0 * x), alpha=0.1)
    with pytest.raises(InvalidParameter, match="not_a_law"):
        accepts([0], DiscreteLaw.on_integers(lambda _: 1.0, low=0, high=3), alpha=0.1)
    with pytest.raises(InvalidParameter, match="laws_differ_in_kind"):
        sample_size(LAPLACE, geometric_law(2), alpha=0.1, power=0.9)
