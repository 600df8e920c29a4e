"""Ranges, quantiles, marginals, means and distributions, on laws that are known.

Statistical tests fail wrongly with a chance below 1e-6 each, by normal tails at six errors.
"""

from __future__ import annotations

import json
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2

from discreet import local
from discreet.core.errors import DiscreetError
from discreet.local.marginals import (
    HadamardMarginals,
    SplitMarginals,
    covering_sets,
    fitted,
    reconciled,
    summed,
)
from discreet.local.masks import MaskedHadamard
from discreet.local.numeric import MeanResponse, SquareWave
from discreet.local.oracle import FrequencyOracle
from discreet.local.ranges import HaarRanges, OrderedShares, RangeTree, least_squares
from tests.local.enumeration import law, worst_ratio
from tests.local.examples import collection
from tests.local.test_channels import at_most_exp

ALMOST_NO_NOISE = 20


@pytest.mark.parametrize(
    "oracle",
    [
        MeanResponse(epsilon=1, domain=4),
        SquareWave(epsilon=1, domain=5),
        SquareWave(epsilon=Fraction(1, 4), domain=6),
        MaskedHadamard(epsilon=1, domain=4, masks=(1, 3)),
        RangeTree(epsilon=1, size=4, branching=2).oracle,
        SplitMarginals(epsilon=1, sizes=(2, 3), sets=((0,), (1,), (1, 0))).oracle,
    ],
)
def test_no_ratio_passes_exp_epsilon(oracle: FrequencyOracle) -> None:
    schema = collection(oracle).schema
    assert local.Collection.from_schema(schema).schema == schema
    worst = worst_ratio([law(schema, value) for value in range(oracle.size)])
    assert at_most_exp(worst, Fraction(oracle.epsilon))
    assert not at_most_exp(worst, Fraction(oracle.epsilon) * Fraction(99, 100))


def skewed(people: int, size: int, seed: int = 0) -> NDArray[np.int64]:
    generator = np.random.default_rng(seed)
    return np.minimum(generator.geometric(4 / size, people) - 1, size - 1)


@pytest.mark.parametrize(("size", "branching"), [(64, 2), (60, 4), (100, 3)])
def test_a_hierarchy_is_exact_without_noise_and_close_with_it(size: int, branching: int) -> None:
    values = skewed(40_000, size)
    truth = np.bincount(values, minlength=size) / len(values)
    sure = RangeTree(epsilon=ALMOST_NO_NOISE, size=size, branching=branching)
    found = sure.shares(sure.oracle.aggregate(sure.oracle.privatize_many(values)))
    # people of a level are a sample: its error is all that is left
    assert np.abs(np.cumsum(found.shares) - np.cumsum(truth)).max() < 6 * np.sqrt(
        0.25 * sure.levels / len(values)
    )
    tree = RangeTree(epsilon=1, size=size, branching=branching)
    noisy = tree.shares(tree.oracle.aggregate(tree.oracle.privatize_many(values)))
    bound = 6 * np.sqrt(branching * tree.levels**2 * 3.7 / len(values))
    assert np.abs(np.cumsum(noisy.shares) - np.cumsum(truth)).max() < bound
    assert noisy.range(0, 4) + noisy.range(5, size - 1) == pytest.approx(noisy.range(0, size - 1))


def test_least_squares_over_a_tree_is_the_dense_solution() -> None:
    generator = np.random.default_rng(2)
    levels = [generator.normal(size=2**level) for level in (1, 2, 3)]
    variances = [0.5, 1.0, 2.0]
    rows = [np.repeat(np.eye(2**level), 2 ** (3 - level), axis=1) for level in (1, 2, 3)]
    weighed = [row / np.sqrt(v) for row, v in zip(rows, variances, strict=True)]
    sides = [each / np.sqrt(v) for each, v in zip(levels, variances, strict=True)]
    design = np.concatenate([*weighed, 1e6 * np.ones((1, 8))])
    wanted = np.concatenate([*sides, [1e6]])
    solved = np.linalg.lstsq(design, wanted, rcond=None)[0]
    assert np.allclose(least_squares(levels, variances, 2), solved, atol=1e-6)


def test_haar_wavelets_rebuild_the_distribution() -> None:
    """Simulated in 004a:C19: 16 values, N = 4e5, epsilon 1, worst prefix error about .01."""
    values = skewed(400_000, 16)
    truth = np.cumsum(np.bincount(values, minlength=16) / len(values))
    for epsilon, bound in ((ALMOST_NO_NOISE, 0.02), (1, 0.045)):
        haar = HaarRanges(epsilon=epsilon, levels=4)
        tallies = [
            question.aggregate(
                question.privatize_many(haar.map_values_to_level(level, values[level - 1 :: 4]))
            )
            for level, question in enumerate(haar.questions, start=1)
        ]
        found = haar.shares(tallies)
        assert found.shares.sum() == pytest.approx(1)
        assert np.abs(np.cumsum(found.shares) - truth).max() < bound


def test_quantiles_are_read_off_a_monotone_fit() -> None:
    shares = OrderedShares(np.array([0.2, 0.4, -0.1, 0.3, 0.2]))
    assert np.all(np.diff(shares.prefixes) >= 0)
    assert [shares.quantile(q) for q in (0.1, 0.5, 0.9, 0.999)] == [0, 1, 4, 4]


RECORDS = np.random.default_rng(3).choice(
    8, 200_000, p=[0.3, 0.02, 0.05, 0.03, 0.1, 0.2, 0.05, 0.25]
)


def truth_of(attributes: tuple[int, ...]) -> NDArray[np.float64]:
    table = np.zeros((2,) * len(attributes))
    for record, n in enumerate(np.bincount(RECORDS, minlength=8)):
        table[tuple(record >> i & 1 for i in attributes)] += n
    return table / len(RECORDS)


@pytest.mark.parametrize("attributes", [(0,), (2, 0), (0, 1, 2), (1, 2, 0)])
def test_hadamard_marginals(attributes: tuple[int, ...]) -> None:
    question = HadamardMarginals(epsilon=2, attributes=3, order=3)
    tally = question.oracle.aggregate(question.oracle.privatize_many(RECORDS))
    found = question.marginal(tally, attributes)
    assert found.sum() == pytest.approx(1)
    _, variances = question.oracle.coefficients(tally)
    bound = 6 * np.sqrt(variances.max() / 2 ** len(attributes))
    assert np.abs(found - truth_of(attributes)).max() < bound


def test_the_printed_number_of_coefficients_is_too_small() -> None:
    assert len(HadamardMarginals(epsilon=1, attributes=10, order=3).oracle.masks) == 175
    only = [mask for mask in range(1, 1024) if mask.bit_count() == 3]
    assert len(only) == 120


def split_records(sizes: tuple[int, ...], people: int) -> NDArray[np.int64]:
    generator = np.random.default_rng(4)
    first = generator.integers(0, sizes[0], people)
    second = (first + (generator.random(people) < 0.3)) % sizes[1]
    third = (second + generator.integers(0, 2, people)) % sizes[2]
    return np.stack([first, second, third], axis=1)


@pytest.mark.parametrize("sets", [((0, 1), (0, 2), (1, 2)), ((0, 1, 2),), ((0, 1), (1, 2))])
def test_marginals_of_split_people(sets: tuple[tuple[int, ...], ...]) -> None:
    sizes = (3, 4, 5)
    records = split_records(sizes, 90_000)
    question = SplitMarginals(epsilon=3, sizes=sizes, sets=sets)
    tally = question.oracle.aggregate(question.oracle.privatize_many(question.numbers(records)))
    for pair in combinations(range(3), 2):
        truth = np.zeros([sizes[i] for i in pair])
        np.add.at(truth, tuple(records[:, i] for i in pair), 1 / len(records))
        found = question.marginal(tally, pair)
        assert found.sum() == pytest.approx(1, abs=1e-6)
        covered = any(set(pair) <= set(each) for each in sets)
        assert np.abs(found - truth).max() < (0.02 if covered else 0.06)
        assert np.allclose(question.marginal(tally, pair[::-1]), found.T)
    tables = question.tables(tally)
    for one, two in combinations(sets, 2):
        common = tuple(sorted(set(one) & set(two)))
        assert np.allclose(summed(tables[one], one, common), summed(tables[two], two, common))


def test_reconciling_keeps_what_agrees_and_fitting_finds_a_chain() -> None:
    joint = np.einsum(
        "a,ab,bc->abc", [0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.4, 0.6]]
    )
    tables: dict[tuple[int, ...], NDArray[np.float64]]
    tables = {(0, 1): joint.sum(axis=2), (1, 2): joint.sum(axis=0)}
    for chosen, table in reconciled(tables).items():
        assert np.allclose(table, tables[chosen])
    assert np.allclose(fitted(tables, (0, 1, 2), (2, 2, 2)), joint)


def test_sets_cover_all_marginals_and_follow_the_noise() -> None:
    for people in (1_000, 10_000_000):
        sets = covering_sets(epsilon=1, sizes=[2] * 6, order=2, people=people)
        inside = {pair for each in sets for pair in combinations(each, 2)}
        assert inside == set(combinations(range(6), 2))


def test_means_are_unbiased_with_the_variance_of_the_catalogue() -> None:
    question = MeanResponse(epsilon=1, domain=101)
    values = np.repeat([90, 20, 55], [30_000, 20_000, 50_000])
    found = question.mean(question.aggregate(question.privatize_many(values)))
    assert abs(found.mean - values.mean()) < 6 * found.standard_error
    assert found.standard_error == pytest.approx(50 * 2.16395 / np.sqrt(100_000), rel=0.05)
    assert question.scale == pytest.approx(2.16395, abs=1e-5)


def test_a_distribution_is_found_from_square_waves() -> None:
    wave = SquareWave(epsilon=2, domain=64)
    generator = np.random.default_rng(6)
    values = np.clip(generator.normal(20, 6, 60_000).round(), 0, 63).astype(np.int64)
    truth = np.bincount(values, minlength=64) / len(values)
    found = wave.estimate(wave.aggregate(wave.privatize_many(values)))
    assert found.shares.sum() == pytest.approx(1)
    assert np.abs(np.cumsum(found.shares) - np.cumsum(truth)).max() < 0.05
    assert "smoothed: no intervals" in str(found)
    for asked in (lambda: found.variances, lambda: found.intervals(confidence=0.9)):
        with pytest.raises(DiscreetError) as refused:
            asked()
        assert refused.value.code == "error_not_known"


@pytest.mark.parametrize(("epsilon", "size"), [(1, 4), (2, 9)])
def test_square_waves_have_an_unbiased_estimate_with_its_variances(epsilon: int, size: int) -> None:
    """400 rounds: means within 6 deviations, variances within 40 %; below 1e-6 false alarms."""
    wave = SquareWave(epsilon=epsilon, domain=size)
    values = np.repeat(np.arange(size), 50 * np.arange(1, size + 1))
    truth = np.bincount(values, minlength=size) / len(values)
    rounds = [wave.unbiased(wave.aggregate(wave.privatize_many(values))) for _ in range(400)]
    shares = np.array([found.shares for found in rounds])
    stated = np.mean([found.variances for found in rounds], axis=0)
    assert np.isfinite(stated).all()
    assert (np.abs(shares.mean(axis=0) - truth) < 6 * np.sqrt(stated / len(rounds))).all()
    # People are drawn anew in what is stated, and the same here: it may be smaller by little.
    assert (shares.var(axis=0) < 1.4 * stated).all()
    assert (shares.var(axis=0) > 0.6 * stated - truth * (1 - truth) / len(values)).all()


@pytest.mark.parametrize(("size", "people"), [(2, 1), (40, 20), (300, 50)])
def test_places_that_nobody_named_are_not_taken_for_impossible(size: int, people: int) -> None:
    """Without their chance one person's share has no variance, and that of a value of 300 1e-25.

    60 rounds; deviations are known to a tenth, and no stated one is below a third of what is seen.
    """
    wave = SquareWave(epsilon=1, domain=size)
    values = np.arange(people) % 2 * (size // 2)
    rounds = [wave.unbiased(wave.aggregate(wave.privatize_many(values))) for _ in range(60)]
    seen = np.array([found.shares for found in rounds]).std(axis=0)
    assert all((found.standard_errors > seen / 3).all() for found in rounds)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: OrderedShares(np.ones(3)).range(2, 1), "local_range"),
        (lambda: HaarRanges(epsilon=1, levels=13), "local_haar_levels"),
        (lambda: HaarRanges(epsilon=1, levels=3).map_values_to_level(4, [1]), "local_haar_levels"),
        (lambda: HaarRanges(epsilon=1, levels=3).map_values_to_level(0, [1]), "not_a_count"),
        (lambda: HaarRanges(epsilon=1, levels=3).map_values_to_level(-1, [1]), "not_a_count"),
        (lambda: MaskedHadamard(epsilon=1, domain=4, masks=(0,)), "local_masks"),
        (lambda: MaskedHadamard(epsilon=1, domain=5, masks=(1,)), "local_masks"),
        (lambda: SplitMarginals(epsilon=1, sizes=(2, 2), sets=((0, 0),)), "local_attributes"),
        (
            lambda: covering_sets(epsilon=1, sizes=[1000] * 3, order=2, people=10),
            "local_marginals_too_large",
        ),
    ],
)
def test_refusals(make: Any, code: str) -> None:
    with pytest.raises(DiscreetError) as refusal:
        make()
    assert refusal.value.code == code


def test_questions_about_other_things_refuse_shares() -> None:
    mean = MeanResponse(epsilon=1, domain=4)
    masks = MaskedHadamard(epsilon=1, domain=4, masks=(1,))
    for oracle, code in ((mean, "local_mean_only"), (masks, "local_coefficients_only")):
        tally = oracle.aggregate(oracle.privatize_many([0, 1]))
        with pytest.raises(DiscreetError, match=code):
            oracle.estimate(tally)


@pytest.mark.parametrize("value", [0, 1, 2])
@pytest.mark.parametrize(
    "oracle",
    [
        MeanResponse(epsilon=3, domain=3),
        SquareWave(epsilon=1, domain=5),
        MaskedHadamard(epsilon=1, domain=4, masks=(1, 3)),
    ],
)
def test_reports_drawn_together_have_the_law_of_the_client(
    oracle: FrequencyOracle, value: int
) -> None:
    truth = law(collection(oracle).schema, value)
    batch = oracle.privatize_many(np.full(20_000, value))
    columns = [batch.columns[field.name].tolist() for field in oracle.fields]
    drawn = [list(row) if len(row) > 1 else row[0] for row in zip(*columns, strict=True)]
    counts = dict.fromkeys(truth, 0)
    for told in drawn:
        counts[json.dumps([told])] += 1
    expected = np.array([20_000 * float(chance) for chance in truth.values()])
    statistic = float((((np.array(list(counts.values())) - expected) ** 2) / expected).sum())
    assert statistic < chi2.isf(1e-10, len(truth) - 1)
