"""Base generators: what one record moves, what a call costs, and how near the fits are."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.core.errors import InvalidParameter
from discreet.core.guarantee import ZCDP, PureDP
from discreet.noise import Noiseless, Seeded
from discreet.queries.boosting.base import (
    BaseGenerator,
    ExponentialNet,
    GeneratorTerms,
    NoisySample,
    sampled_reach,
)
from discreet.queries.boosting.fits import (
    Fit,
    LeastSquaresFit,
    LinearProgram,
    NearestOfNet,
    Sample,
    WeightsFit,
)
from discreet.queries.net import small_databases
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.families import Each, Listed, Prefixes, Ranges
from discreet.queries.workload.linear_query import query_of
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload
from discreet.theory.boosting import generalising_sample

Floats = NDArray[np.float64]

FOUR = Universe.of(x=range(4))
TWO_BY_TWO = Universe.of(a=range(2), b=range(2))
LISTED = np.array([[0.5, 1, 0, 0], [0, 0.25, 1, 1], [1, 0, 0, 0]])
WORKLOADS = {
    "cells": Workload.of(FOUR, {"x": Each(4)}),
    "prefixes": Workload.of(FOUR, {"x": Prefixes(4)}),
    "listed": Workload.of(FOUR, {"x": Listed(LISTED)}),
    "marginals": Workload.marginals(TWO_BY_TWO, 1),
}


def terms(
    workload: Workload,
    *,
    sample: int = 3,
    spend: PureDP | ZCDP | None = None,
    size: RecordCount | None = None,
    records: int = 1,
    randomness: Noiseless | Seeded | None = None,
) -> GeneratorTerms:
    return GeneratorTerms(
        workload,
        sample,
        spend or dp.PureDP(epsilon=1),
        size or PublicCount(100),
        records,
        randomness or Seeded(0),
    )


@pytest.mark.parametrize("size", [PublicCount(10), NoisyRecordCount()], ids=["exchanged", "added"])
@pytest.mark.parametrize("asked", [1, 2, 3])
@pytest.mark.parametrize("name", WORKLOADS)
def test_no_sample_of_queries_moves_further_than_its_reach(
    name: str, asked: int, size: RecordCount
) -> None:
    """By enumeration of all samples and all pairs of neighbours."""
    matrix = WORKLOADS[name].dense()
    moves = [matrix[:, i] for i in range(4)]
    if size.changed_cells == 2:
        moves = [matrix[:, i] - matrix[:, j] for i in range(4) for j in range(4)]
    worst = [
        (np.abs(move[list(rows)]).sum(), (move[list(rows)] ** 2).sum())
        for move in moves
        for rows in combinations(range(len(matrix)), asked)
    ]
    reach = sampled_reach(WORKLOADS[name], asked, size)
    assert max(l1 for l1, _ in worst) <= reach
    assert max(l2 for _, l2 in worst) <= reach


def test_cells_cost_one_record_however_many_are_sampled() -> None:
    assert sampled_reach(WORKLOADS["cells"], 4, NoisyRecordCount()) == 1
    assert sampled_reach(WORKLOADS["cells"], 4, PublicCount(9)) == 2
    assert sampled_reach(Workload.of(FOUR, {"x": Ranges(4)}), 5, NoisyRecordCount()) == 5


@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("name", WORKLOADS)
def test_noise_and_price_follow_from_one_event(name: str, records: int) -> None:
    for spend in (dp.PureDP(epsilon=Fraction(1, 2)), dp.ZCDP(rho=Fraction(1, 8))):
        given = terms(WORKLOADS[name], spend=spend, records=records)
        noise = NoisySample().noise(given)
        reach = sampled_reach(WORKLOADS[name], 3, given.size)
        step = 2.0**-20 if name == "listed" else 1.0
        if isinstance(spend, PureDP):
            moved = float(noise.sensitivity) * step
            assert moved == records * reach
        else:
            moved = float(noise.sensitivity) * step
            assert moved == pytest.approx(records * math.sqrt(reach), rel=1e-9)
            assert moved >= records * math.sqrt(reach) * (1 - 1e-15)
        choice = ExponentialNet(small_databases(4, 2)).selector(given)
        assert choice.sensitivity == records


def test_an_exponential_choice_uses_its_whole_concentrated_spend() -> None:
    given = terms(WORKLOADS["cells"], spend=dp.ZCDP(rho=0.02))
    epsilon = float(ExponentialNet(small_databases(4, 2)).selector(given).epsilon)
    assert dp.events.Exponential(epsilon=epsilon).zcdp().rho == pytest.approx(0.02, rel=1e-9)
    assert math.sqrt(8 * 0.02) < epsilon < 1.01 * math.sqrt(8 * 0.02)


FITS: dict[str, Fit] = {
    "weights": WeightsFit(200),
    "program": LinearProgram(),
    "squares": LeastSquaresFit(),
    "net": NearestOfNet(small_databases(4, 10)),
}


@pytest.mark.parametrize("name", FITS)
def test_a_fit_is_near_the_answers_it_was_given(name: str) -> None:
    asked = Workload.of(FOUR, {"x": Ranges(4)})
    truth = asked.answers(np.array([50, 30, 20, 0]))
    places = [0, 2, 5, 7]
    sample = Sample(tuple(query_of(asked, place) for place in places), 4, 100.0)
    table = FITS[name].table(sample, truth[places], spread=0.1, error=0.5)
    assert table.sum() == pytest.approx(100, abs=50 if name == "squares" else 1e-9)
    assert np.abs(asked.answers(table) - truth)[places].max() <= 1


def test_a_program_that_nothing_fits_is_answered_with_the_nearest() -> None:
    first = query_of(WORKLOADS["cells"], 0)
    sample = Sample((first, first), 4, 10.0)
    table = LinearProgram().table(sample, np.array([0.0, 8.0]), spread=1, error=0.1)
    assert table[0] == pytest.approx(4, abs=0.2)


def test_a_generator_keeps_its_promise_on_any_weights() -> None:
    """Definition 6.1 by enumeration: the accurate weight, with the sample of Lemma 6.5.

    Forty seeded runs on random weights; the theorem allows 5 % of failures, none is seen.
    """
    rng = np.random.default_rng(3)
    net = small_databases(4, 4)
    predicates = np.array([[mask >> i & 1 for i in range(4)] for mask in range(1, 15)], dtype=float)
    asked = Workload.of(FOUR, {"x": Listed(predicates)})
    failure = 0.05
    sample = generalising_sample(
        bits=math.log2(len(net)), failure=failure / 2, advantage=Fraction(1, 3)
    )
    bases: list[BaseGenerator] = [NoisySample(NearestOfNet(net)), ExponentialNet(net)]
    for base in bases:
        given = terms(asked, sample=sample, spend=dp.ZCDP(rho=0.01), size=PublicCount(10**5))
        within = base.within(given, failure=failure / 2)
        for _ in range(20):
            counts = net[rng.integers(len(net))] * 10**5
            truth = asked.answers(counts)
            weights = rng.dirichlet(np.full(14, 0.3))
            places = np.unique(rng.choice(14, sample, p=weights))
            queries = tuple(query_of(asked, int(place)) for place in places)
            table = base.table(given, Sample(queries, 4, 1e5), truth[places])
            right = np.abs(asked.answers(table) - truth) <= within
            assert weights[right].sum() >= 1 / 2 + 1 / 3


def test_without_noise_the_generator_returns_what_fits_exactly() -> None:
    given = terms(WORKLOADS["cells"], sample=4, randomness=Noiseless())
    queries = tuple(query_of(WORKLOADS["cells"], place) for place in range(4))
    truth = np.array([40.0, 30.0, 20.0, 10.0])
    found = NoisySample(LeastSquaresFit()).table(given, Sample(queries, 4, 100.0), truth)
    np.testing.assert_allclose(found, truth)


@pytest.mark.parametrize(
    "net",
    [np.ones((2, 3)) / 3, np.ones(4), np.full((1, 4), math.nan), -np.eye(4), np.eye(4) * 2],
    ids=["cells", "flat", "nan", "negative", "heavy"],
)
def test_a_net_of_other_things_is_refused(net: Floats) -> None:
    for base in (ExponentialNet(net), NoisySample(NearestOfNet(net))):
        with pytest.raises(InvalidParameter, match="net_misshapen"):
            base.check(terms(WORKLOADS["cells"]))


def test_a_fit_without_room_for_its_matrix_is_refused() -> None:
    wide = Workload.of(Universe.of(x=range(1 << 16)), {"x": Each(1 << 16)})
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        NoisySample().check(terms(wide, sample=1000))
    NoisySample(WeightsFit()).check(terms(wide, sample=1000))
