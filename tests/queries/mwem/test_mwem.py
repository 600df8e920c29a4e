"""MWEM: exact sensitivities, honest prices, and better than noise on every answer."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet import events
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidData, InvalidParameter
from discreet.mechanisms import DiscreteLaplace, Exponential, PermuteAndFlip
from discreet.mechanisms.selection import Selection
from discreet.noise import Noiseless, Seeded
from discreet.queries.mwem.fitting import (
    SmallSteps,
)
from discreet.queries.mwem.mwem import MWEM, AverageIterate, suggested_rounds
from discreet.queries.mwem.rounds import MarginalRound, QueryRound, SelectedRound, exact_answers
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.families import Listed, Ranges
from discreet.queries.workload.linear_query import on_grid
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

SMALL = Universe.of(a=range(2), b=range(3))

PAIRS = Workload.union(Workload.marginals(SMALL, 1), Workload.marginals(SMALL, 2))

SPENDS = [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5), dp.ApproxDP(epsilon=1, delta=1e-6)]

SIZES: list[RecordCount] = [PublicCount(4), NoisyRecordCount()]


def neighbours(counts: np.ndarray, size: RecordCount) -> list[np.ndarray]:
    """All tables that one record can lead to."""
    units = np.eye(len(counts), dtype=int)
    if isinstance(size, NoisyRecordCount):
        return [counts + unit for unit in units]
    return [
        counts - units[i] + units[j]
        for i, j in product(range(len(counts)), repeat=2)
        if i != j and counts[i]
    ]


@pytest.mark.parametrize("size", SIZES, ids=["replace", "add"])
@pytest.mark.parametrize("each", [QueryRound(), MarginalRound()], ids=["query", "marginal"])
def test_one_record_moves_scores_and_measurements_no_further_than_declared(
    size: RecordCount, each: SelectedRound
) -> None:
    """By enumeration, against estimates that are no round numbers."""
    mixed = Workload.of(SMALL, {"b": Listed([[0.3, 0.7, 1.0]])})
    workload = PAIRS if isinstance(each, MarginalRound) else Workload.union(PAIRS, mixed)
    workload = on_grid(workload)
    numbers = np.random.default_rng(2)
    reached = 0.0
    for _ in range(10):
        counts = numbers.multinomial(4, np.ones(6) / 6)
        estimate = [4 * numbers.random(p.queries) for p in workload.products]
        truth = exact_answers(workload, counts)
        scores = each.scores(estimate, truth, 3.0)
        for other in neighbours(counts, size):
            theirs = exact_answers(workload, other)
            moved = np.abs(each.scores(estimate, theirs, 3.0) - scores).max()
            assert moved <= each.score_sensitivity(size)
            reached = max(reached, float(moved) / each.score_sensitivity(size))
            for ours, other_part in zip(truth, theirs, strict=True):
                steps = np.abs(ours - other_part) / each.step(workload)
                if isinstance(each, MarginalRound):
                    assert steps.sum() <= each.l1(workload, size)
                    assert (steps**2).sum() <= each.l2(workload, size) ** 2
                else:
                    assert steps.max() <= each.l1(workload, size)
    assert reached > 0.9, "the declared sensitivity is no larger than it must be"


def test_twin_that_forgets_that_an_exchange_moves_two_cells_is_caught() -> None:
    """A marginal measured under Replace as if one cell changed: more than epsilon is lost."""
    before, after = np.array([4, 0, 0, 0, 0, 0]), np.array([3, 1, 0, 0, 0, 0])
    honest = MarginalRound().l1(PAIRS, PublicCount(4))
    twin = MarginalRound().l1(PAIRS, NoisyRecordCount())
    moved = max(
        np.abs(x - y).sum()
        for x, y in zip(exact_answers(PAIRS, before), exact_answers(PAIRS, after), strict=True)
    )
    assert twin < moved <= honest


def selection_law(selector: Selection, scores: np.ndarray) -> np.ndarray:
    """Exact probabilities of the exponential mechanism, or of permute-and-flip."""
    odds = np.exp(float(selector.rate()) * (scores - scores.max()))
    if isinstance(selector, Exponential):
        return np.asarray(odds / odds.sum())
    law = np.zeros(len(odds))
    for heads in product((False, True), repeat=len(odds)):
        chance = math.prod(p if h else 1 - p for p, h in zip(odds, heads, strict=True))
        law[np.array(heads)] += chance / sum(heads) if any(heads) else 0
    return law


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_the_law_of_a_round_is_private_by_enumeration(kind: type[Selection]) -> None:
    """Selection and measurement, every outcome, every neighbour: ratios within e**epsilon."""
    workload = Workload.of(SMALL, {"a": Ranges(2)}, {"b": Ranges(3)})
    mechanism = MWEM(
        workload, dp.PureDP(epsilon=0.7), PublicCount(4), 1, each=QueryRound(), selection=kind
    )
    assert isinstance(mechanism.noise, DiscreteLaplace)
    rate = float(mechanism.noise.epsilon) / mechanism.noise.steps
    values = np.arange(-60, 70)

    def law(counts: np.ndarray) -> np.ndarray:
        truth = exact_answers(mechanism.workload, counts)
        estimate = [4 * np.ones_like(part) / 3 for part in truth]
        chosen = selection_law(mechanism.selector, mechanism.each.scores(estimate, truth, 1.0))
        centres = np.concatenate(truth)
        noise = np.exp(-rate * np.abs(values[None, :] - centres[:, None])) * math.tanh(rate / 2)
        return chosen[:, None] * noise

    worst = 0.0
    for counts in (np.array([4, 0, 0, 0, 0, 0]), np.array([1, 1, 0, 2, 0, 0])):
        for other in neighbours(counts, PublicCount(4)):
            worst = max(worst, float(np.abs(np.log(law(counts) / law(other))).max()))
    assert 0.5 < worst <= 0.7 * (1 + 1e-9)


@pytest.mark.parametrize("size", SIZES, ids=["replace", "add"])
@pytest.mark.parametrize("spend", SPENDS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip, None])
def test_the_event_costs_no_more_than_the_spend_and_nearly_all_of_it(
    size: RecordCount, spend: Guarantee, kind: type[Selection] | None
) -> None:
    event = MWEM(PAIRS, spend, size, 7, selection=kind).event
    match spend:
        case dp.PureDP(epsilon=epsilon):
            assert event.epsilon(delta=0) == pytest.approx(float(epsilon), abs=1e-12)
            assert event.epsilon(delta=0) <= epsilon
        case dp.ZCDP(rho=rho):
            assert 0.999 * rho < event.zcdp().rho <= rho * (1 + 1e-12)
        case dp.ApproxDP(epsilon=epsilon, delta=delta):
            assert event.epsilon(delta=float(delta)) <= epsilon


def test_twin_that_prices_permute_and_flip_as_the_exponential_mechanism_overspends() -> None:
    """modern-data:N2: with epsilon = sqrt(8 rho) the true divergence is above rho."""
    rho = 0.125
    epsilon = math.sqrt(8 * rho)
    event = MWEM(PAIRS, dp.ZCDP(rho=1), PublicCount(4), 1, selection=PermuteAndFlip).selector.event
    assert isinstance(event, events.PermuteAndFlip)
    assert event.zcdp().rho <= Fraction(1, 5)
    twin = events.PermuteAndFlip(epsilon=epsilon)
    assert twin.zcdp().rho > 3 * rho
    left, right = (
        selection_law(PermuteAndFlip(epsilon=epsilon, sensitivity=1), np.array(scores, dtype=float))
        for scores in ([1, 1], [2, 0])
    )
    divergence = float((left * np.log(left / right)).sum())
    assert divergence == pytest.approx(0.25506, abs=1e-5)
    assert divergence > rho


def test_more_budget_for_each_cell_suggests_more_rounds_and_never_more_than_marginals() -> None:
    """Rules of thumb, in the notion of the spend."""

    def rounds(spend: Guarantee, cells: float) -> int:
        return suggested_rounds(spend, records=20_000, most=28, cells=cells)

    pure = [rounds(dp.PureDP(epsilon=e), 64) for e in (1e-6, 0.1, 1, 1000)]
    assert pure == sorted(pure)
    assert pure[0] == 2
    assert pure[-1] == 28
    assert rounds(dp.PureDP(epsilon=1), 8) > rounds(dp.PureDP(epsilon=1), 200)
    assert rounds(dp.ZCDP(rho=0.5), 64) > rounds(dp.PureDP(epsilon=1), 64)
    with pytest.raises(InvalidParameter, match="cells"):
        rounds(dp.PureDP(epsilon=1), 0)


@pytest.mark.parametrize("spend", SPENDS, ids=lambda s: type(s).__name__)
def test_with_a_round_for_every_marginal_nothing_is_selected_nor_paid_for(spend: Guarantee) -> None:
    """Three marginals: three rounds cost three measurements, two or four cost selections too."""
    costs = {rounds: MWEM(PAIRS, spend, PublicCount(4), rounds).event for rounds in (2, 3, 4)}
    every = MWEM(PAIRS, spend, PublicCount(4), 3)
    assert every.takes_turns
    assert costs[3] == every.noise.event * 3
    assert "Exponential" in repr(costs[2]) or "PermuteAndFlip" in repr(costs[2])
    assert "Exponential" in repr(costs[4]) or "PermuteAndFlip" in repr(costs[4])
    match spend:
        case dp.PureDP(epsilon=epsilon):
            assert costs[3].epsilon(delta=0) <= epsilon
        case dp.ZCDP(rho=rho):
            assert 0.999 * rho < costs[3].zcdp().rho <= rho * (1 + 1e-12)
        case dp.ApproxDP(epsilon=epsilon, delta=delta):
            assert costs[3].epsilon(delta=float(delta)) <= epsilon


def test_taking_turns_measures_every_marginal_once() -> None:
    """Without noise, the answers are those of the data."""
    workload, counts = Workload.marginals(TABLE, 2), correlated(5000)
    mechanism = MWEM(
        workload, dp.PureDP(epsilon=1000), PublicCount(5000), 6, randomness=Noiseless()
    )
    assert mechanism.takes_turns
    found = mechanism.release(counts).answers(workload)
    assert np.abs(found - workload.answers(counts)).max() < 50


def test_selection_probabilities_are_those_of_the_catalogue() -> None:
    """Proportional to exp(epsilon score / 4T)."""
    mechanism = MWEM(
        PAIRS, dp.PureDP(epsilon=2), PublicCount(4), 5, each=QueryRound(), selection=Exponential
    )
    assert mechanism.selector.rate() == Fraction(2, 20)
    assert mechanism.noise.event == events.DiscreteLaplace(epsilon=Fraction(1, 5), steps=1)


TABLE = Universe.of(a=range(4), b=range(4), c=range(4), d=range(4))


def correlated(records: int) -> np.ndarray:
    """Records whose attributes mostly repeat the first one."""
    numbers = np.random.default_rng(8)
    first = numbers.choice(4, records, p=[0.5, 0.3, 0.15, 0.05])
    columns = [first]
    for _ in range(3):
        fresh = numbers.choice(4, records, p=[0.4, 0.3, 0.2, 0.1])
        columns.append(np.where(numbers.random(records) < 0.7, columns[-1], fresh))
    counts = np.zeros(TABLE.shape, dtype=np.int64)
    np.add.at(counts, tuple(columns), 1)
    return counts


@pytest.mark.parametrize("each", [QueryRound(), MarginalRound()], ids=["query", "marginal"])
@pytest.mark.parametrize("size", [PublicCount(5000), NoisyRecordCount()], ids=["replace", "add"])
def test_many_marginals_are_answered_better_than_one_by_one(
    each: SelectedRound, size: RecordCount
) -> None:
    workload = Workload.union(Workload.marginals(TABLE, 2), Workload.marginals(TABLE, 3))
    counts = correlated(5000)
    mechanism = MWEM(workload, dp.PureDP(epsilon=0.03), size, 6, each=each, randomness=Seeded(1))
    errors = mechanism.release(counts).answers(workload) - workload.answers(counts)
    alone = math.sqrt(2) * len(workload.products) / 0.03
    assert math.sqrt(float((errors**2).mean())) < 0.9 * alone


def test_without_noise_it_learns_the_data() -> None:
    workload, counts = Workload.marginals(TABLE, 2), correlated(5000)
    mechanism = MWEM(
        workload, dp.PureDP(epsilon=1000), PublicCount(5000), 30, randomness=Noiseless()
    )
    released = mechanism.release(counts)
    assert np.abs(released.answers(workload) - workload.answers(counts)).max() < 50
    with pytest.raises(dp.errors.DiscreetError):
        released.event.epsilon(delta=0)


def test_a_public_start_and_the_average_of_all_rounds() -> None:
    workload, counts = Workload.marginals(TABLE, 2), correlated(5000)
    near = counts.ravel() + 1.0
    errors = []
    for start in (None, near):
        mechanism = MWEM(
            workload,
            dp.PureDP(epsilon=0.01),
            PublicCount(5000),
            2,
            each=QueryRound(stepping=SmallSteps()),
            iterate=AverageIterate(),
            start=start,
            passes=1,
            randomness=Seeded(4),
        )
        found = mechanism.release(counts)
        assert found.counts.sum() == pytest.approx(5000)
        errors.append(float(np.abs(found.answers(workload) - workload.answers(counts)).max()))
    assert errors[1] < errors[0] / 2


def test_records_per_person_multiply_every_sensitivity() -> None:
    one, three = (MWEM(PAIRS, SPENDS[0], NoisyRecordCount(), 2, records=k) for k in (1, 3))
    assert three.spread == pytest.approx(3 * one.spread, rel=0.05)
    assert three.selector.rate() == one.selector.rate() / 3
    assert three.event.epsilon(delta=0) <= 1


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="marginals_only"):
        MWEM(Workload.of(SMALL, {"b": Ranges(3)}), SPENDS[0], SIZES[0], 3)
    with pytest.raises(InvalidParameter, match="spend_notion"):
        MWEM(PAIRS, dp.ApproxDP(epsilon=0, delta=1e-6), SIZES[0], 3)
    with pytest.raises(InvalidParameter, match="start_misfit"):
        MWEM(PAIRS, SPENDS[0], SIZES[0], 3, start=np.zeros(6))
    mechanism = MWEM(PAIRS, SPENDS[0], SIZES[0], 3)
    with pytest.raises(InvalidParameter, match="counts_misfit"):
        mechanism.release(np.zeros(6))  # type: ignore[arg-type]
    with pytest.raises(InvalidData, match="records_differ"):
        mechanism.release(np.ones(6, dtype=np.int64))
    huge = Universe.of(**{f"a{i}": range(32) for i in range(6)})
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        MWEM(Workload.marginals(huge, 2), SPENDS[0], SIZES[0], 3)


def test_an_empty_table_is_answered() -> None:
    found = MWEM(PAIRS, SPENDS[0], NoisyRecordCount(), 2).release(np.zeros(6, dtype=np.int64))
    assert found.counts.sum() >= 1 - 1e-9
