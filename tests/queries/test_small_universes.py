"""Tiny universes: laws by enumeration, bounds by the book, programs that say when they fail."""

import math
from itertools import product

import numpy as np
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidData, InvalidParameter
from discreet.mechanisms import Exponential
from discreet.noise import Noiseless
from discreet.queries import bounds
from discreet.queries.halving import Halving
from discreet.queries.net import NetMechanism, small_databases, small_db
from discreet.queries.online.iterative_construction import (
    IterativeConstruction,
    construction_error,
    step_epsilon,
)
from discreet.queries.online.updaters import (
    MedianUpdater,
    MultiplicativeUpdater,
    PerceptronUpdater,
    Updater,
)
from discreet.queries.record_count import PublicCount
from discreet.queries.release_game import game_value, play
from discreet.queries.synopses.lp_synthesis import synthesise, whole_rows
from discreet.queries.workload.families import Listed, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

THREE = Universe.of(x=range(3))
FOUR = Workload.of(THREE, {"x": Listed([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])})


def exchanges(cells: int, records: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """All pairs of tables that differ in one record."""
    tables = (small_databases(cells, records) * records).round().astype(int)
    return [(x, y) for x, y in product(tables, repeat=2) if np.abs(x - y).sum() == 2]


def test_small_db_is_private_by_enumeration() -> None:
    """000a:F2: |X| = 3, |Q| = 4, alpha = .5: 28 candidates."""
    mechanism = small_db(FOUR, error=0.5, epsilon=1, size=PublicCount(3))
    assert mechanism.net.shape == (28, 3)
    worst = 0.0
    for x, y in exchanges(3, 3):
        ratio = np.abs(np.log(mechanism.law(x) / mechanism.law(y))).max()
        worst = max(worst, float(ratio))
    assert 0.4 < worst <= 1 + 1e-12
    assert mechanism.event.epsilon(delta=0) == 1


def test_a_net_of_all_small_databases_is_small_db() -> None:
    """000a:G1."""
    counts = np.array([3, 2, 1])
    net = NetMechanism(FOUR, small_databases(3, 6), 2, PublicCount(6))
    db = small_db(FOUR, error=0.5, epsilon=2, size=PublicCount(6))
    assert net.law(counts) == pytest.approx(db.law(counts))
    errors = [max(abs(FOUR.answers(6 * row) - FOUR.answers(counts))) for row in net.net]
    odds = np.exp(-np.array(errors))
    assert net.law(counts) == pytest.approx(odds / odds.sum())


def test_the_net_of_the_book_s_toy_is_private() -> None:
    """004b:A11: |X| = 4, n = 3."""
    line = Workload.of(Universe.of(x=range(4)), {"x": Ranges(4)})
    mechanism = NetMechanism(line, small_databases(4, 3), 1, PublicCount(3))
    for x, y in exchanges(4, 3):
        assert np.abs(np.log(mechanism.law(x) / mechanism.law(y))).max() <= 1 + 1e-12


def test_samples_of_the_net_follow_its_law() -> None:
    """2000 releases; every frequency within 6 sigma: false alarms below 1e-7."""
    mechanism = small_db(FOUR, error=0.5, epsilon=3, size=PublicCount(6))
    counts = np.array([3, 2, 1])
    law = mechanism.law(counts)
    seen = np.zeros(len(law))
    for _ in range(2000):
        released = mechanism.release(counts).counts / 6
        seen[int(np.abs(mechanism.net - released).sum(axis=1).argmin())] += 1
    assert (np.abs(seen / 2000 - law) <= 6 * np.sqrt(law / 2000) + 1e-3).all()


def test_twin_with_half_the_noise_is_caught_by_the_law() -> None:
    honest = small_db(FOUR, error=0.5, epsilon=1, size=PublicCount(3))
    twin = small_db(FOUR, error=0.5, epsilon=4, size=PublicCount(3))
    lost = max(float(np.abs(np.log(twin.law(x) / twin.law(y))).max()) for x, y in exchanges(3, 3))
    assert lost > float(honest.epsilon)


def test_bounds_of_the_catalogue() -> None:
    assert bounds.sampling_rows(queries=1000, error=0.05) == 2764
    assert bounds.sampling_failure(queries=1000, rows=2764, error=0.05) <= 0.002
    given = {"cells": 32, "queries": 32, "epsilon": 1.0, "confidence": 0.95}
    assert bounds.small_db_records(error=0.1, **given) == 204165  # type: ignore[arg-type]
    assert bounds.small_db_error(records=10**6, **given) == pytest.approx(0.05888, abs=5e-6)  # type: ignore[arg-type]
    assert bounds.laplace_workload_error(queries=4, epsilon=1) == 128
    assert bounds.vc_floor(epsilon=1) == pytest.approx(0.1345, abs=5e-5)
    found = bounds.net_error(fineness=0.5, candidates=28, records=100, epsilon=1, confidence=0.95)
    assert found == pytest.approx(0.5 + 2 * (math.log(28) + math.log(20)) / 100)


def test_the_lower_bound_is_below_what_laplace_noise_does() -> None:
    for d, cells in ((4, 8), (16, 1024), (256, 1 << 20)):
        floor = bounds.hardt_talwar(queries=d, cells=cells, epsilon=0.5)
        assert floor <= math.sqrt(bounds.laplace_workload_error(queries=d, epsilon=0.5))
        assert floor == pytest.approx(min(d**1.5, d * math.sqrt(math.log(cells / d))) / 0.5)
    with pytest.raises(InvalidParameter, match="queries_exceed_cells"):
        bounds.hardt_talwar(queries=9, cells=8, epsilon=1)


def test_vc_dimensions_of_the_catalogue() -> None:
    """000a:F3: intervals 2, singletons 1, monotone conjunctions over d bits d."""
    assert bounds.vc_dimension(Ranges(6).dense()) == 2
    assert bounds.vc_dimension(np.eye(5)) == 1
    cells = np.array(list(product((0, 1), repeat=3)))
    conjunctions = [cells[:, list(chosen)].all(axis=1) for chosen in _subsets(3)]
    assert bounds.vc_dimension(np.array(conjunctions)) == 3
    assert bounds.vc_dimension(np.ones((1, 4))) == 0


def _subsets(size: int) -> list[tuple[int, ...]]:
    return [tuple(i for i in range(size) if mask >> i & 1) for mask in range(1 << size)]


def test_the_distinguisher_finds_a_query_that_is_nearly_worst() -> None:
    """000a:G4, by the exact law: P(score < best - F) is at most gamma."""
    scores, gamma = np.array([30.0, 22, 15, 15, 3, 0]), 0.1
    selector = Exponential(epsilon=0.5, sensitivity=1)
    reach = selector.error(confidence=1 - gamma, candidates=6)
    assert reach == pytest.approx(2 * math.log(6 / gamma) / 0.5)
    odds = np.exp(float(selector.rate()) * scores)
    assert odds[scores < 30 - reach].sum() / odds.sum() <= gamma


LINE = Workload.of(Universe.of(x=range(6)), {"x": Ranges(6)})
DATA = np.array([9000, 500, 100, 200, 150, 50])


@pytest.mark.parametrize(
    "updater",
    [
        MultiplicativeUpdater(6, 0.05),
        MedianUpdater(small_databases(6, 10), 0.05),
        PerceptronUpdater(6, 0.05, 10_000, float((DATA**2).sum())),
    ],
    ids=["weights", "median", "perceptron"],
)
def test_offline_construction_ends_within_the_wanted_error(updater: Updater) -> None:
    """000a:G5 without noise: twice the updater's error."""
    mechanism = IterativeConstruction(
        LINE, updater, dp.PureDP(epsilon=1), PublicCount(10_000), randomness=Noiseless()
    )
    released = mechanism.release(DATA)
    assert released.updates <= updater.most_updates
    errors = np.abs(released.answers(LINE) - LINE.answers(DATA)) / 10_000
    assert errors.max() <= 2 * updater.error


@pytest.mark.parametrize(
    "spend", [dp.PureDP(epsilon=1), dp.ZCDP(rho=0.5), dp.ApproxDP(epsilon=1, delta=1e-6)]
)
def test_offline_construction_costs_no_more_than_its_spend(spend: Guarantee) -> None:
    updater = MultiplicativeUpdater(6, 0.3)
    mechanism = IterativeConstruction(LINE, updater, spend, PublicCount(10_000))
    match spend:
        case dp.PureDP():
            assert mechanism.event.epsilon(delta=0) <= 1
        case dp.ZCDP():
            assert mechanism.event.zcdp().rho <= 0.5 * (1 + 1e-12)
        case dp.ApproxDP():
            assert mechanism.event.epsilon(delta=1e-6) <= 1
    released = mechanism.release(DATA)
    assert np.abs(released.answers(LINE) - LINE.answers(DATA)).max() / 10_000 < 1
    assert released.event == mechanism.event


def test_constants_of_the_corrected_theorem() -> None:
    """000a:G5: 32 T and 64 sqrt(T ln(1/delta)); 200 steps at .006726 compose to .5091."""
    given = {"updates": 100, "queries": 50, "records": 10**6, "epsilon": 1.0, "confidence": 0.95}
    union = math.log(50 / (0.05 / 200))
    found = construction_error(**given)  # type: ignore[arg-type]
    assert found == pytest.approx(32 * 100 * union / 10**6)
    found = construction_error(**given, delta=1e-6)  # type: ignore[arg-type]
    assert found == pytest.approx(64 * math.sqrt(100 * math.log(1e6)) * union / 10**6)
    each = step_epsilon(updates=100, epsilon=1, delta=1e-6)
    assert each == pytest.approx(0.006726, abs=5e-7)
    composed = math.sqrt(400 * math.log(1e6)) * each + 200 * each * math.expm1(each)
    assert composed == pytest.approx(0.5091, abs=5e-5)


def test_synthetic_data_from_exact_answers_is_exact_up_to_rounding() -> None:
    """000a:H5."""
    means = LINE.answers(DATA / DATA.sum())
    found = synthesise(LINE, means, error=0.01)
    assert found.feasible
    assert found.violation == pytest.approx(0, abs=1e-7)
    assert found.rows.sum() == 600
    assert np.abs(found.answers(LINE) - means).max() <= 0.01
    assert "within 0.01" in str(found)


def test_infeasible_answers_fall_back_and_say_so() -> None:
    means = np.zeros(LINE.queries)  # the whole line has mean one
    found = synthesise(LINE, means, error=0.1)
    assert not found.feasible
    assert found.violation == pytest.approx(1)
    assert "no data is within 0.1" in str(found)
    with pytest.raises(InvalidParameter, match="answers_misfit"):
        synthesise(LINE, means[:-1], error=0.1)


def test_whole_rows_keep_their_number_and_stay_within_one() -> None:
    numbers = np.random.default_rng(1)
    for _ in range(50):
        shares = numbers.dirichlet(np.ones(7))
        rows = whole_rows(shares, 100)
        assert rows.sum() == 100
        assert np.abs(rows - 100 * shares).max() < 1
    floors = np.floor(100 * shares).sum()
    assert floors < 100, "rounding down, as printed, loses rows"


def test_the_game_has_value_zero_and_is_learnt() -> None:
    """000a:G9."""
    data = DATA / DATA.sum()
    means = LINE.answers(data)
    assert game_value(LINE, means).value == pytest.approx(0, abs=1e-7)
    played = play(LINE, means, error=0.05)
    assert played.value <= 0.05
    assert np.abs(LINE.answers(played.distribution) - means).max() == pytest.approx(played.value)


def test_halving_makes_at_most_log_mistakes() -> None:
    """000a:G3: 16 concepts, at most 4."""
    concepts = np.array(list(product((0, 1), repeat=4)))
    for right in concepts:
        learner = Halving(concepts)
        for example, label in enumerate(right):
            learner.learn(example, label)
        assert learner.mistakes <= 4
    with pytest.raises(InvalidData, match="no_concept_fits"):
        Halving([[0], [0]]).learn(0, 1)
    with pytest.raises(InvalidParameter, match="concepts_misshapen"):
        Halving([])


def test_bad_input_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="net_too_large"):
        small_databases(100, 100)
    with pytest.raises(InvalidParameter, match="net_misshapen"):
        NetMechanism(FOUR, np.ones((2, 5)) / 5, 1, PublicCount(3))
    with pytest.raises(InvalidParameter, match="updater_misfit"):
        IterativeConstruction(
            LINE, MultiplicativeUpdater(7, 0.1), dp.PureDP(epsilon=1), PublicCount(10)
        )
    with pytest.raises(InvalidData, match="records_differ"):
        small_db(FOUR, error=0.5, epsilon=1, size=PublicCount(3)).release(np.array([1, 1, 2]))
    wide = Workload.marginals(Universe.of(a=range(512), b=range(512)), 2)
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        game_value(wide, np.zeros(wide.queries))
