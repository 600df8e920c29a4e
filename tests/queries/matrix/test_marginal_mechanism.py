"""Marginals of universes that nobody could write down."""

import json
import math
import time
import tracemalloc
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.core.domain import Categories
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidData, InvalidParameter
from discreet.queries.matrix.marginal_mechanism import MarginalMechanism
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.synopses.synopsis import synopsis_from_dict
from discreet.queries.workload.families import Each, Listed, Prefixes, Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

UNIVERSE = Universe.of(a=range(2), b=range(3), c=range(4), one=["only"])
COUNTS = (np.arange(24) * 31) % 17
N = int(COUNTS.sum())
WORKLOAD = Workload.union(
    Workload.marginals(UNIVERSE, 2),
    Workload.of(UNIVERSE, {"c": Ranges(4), "a": Listed([[1.0, 0.0], [0.5, -2.0]])}),
)
SPENDS = [dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta=1e-6), dp.ZCDP(rho=0.5)]


class Rows:
    """A table of records that counts by columns, as an engine would."""

    def __init__(self, universe: Universe, records: NDArray[np.int64]) -> None:
        self.universe, self.records = universe, records
        self.unit = dp.Row()
        self.asked: list[tuple[str, ...]] = []

    def domain(self, column: str) -> Categories:
        return Categories(self.universe.attributes[self.universe.place(column)].values)

    def counts(self, columns: Sequence[str]) -> NDArray[np.int64]:
        self.asked.append(tuple(columns))
        places = [self.universe.place(column) for column in columns]
        shape = [self.universe.shape[place] for place in places]
        cells = np.ravel_multi_index(self.records[:, places].T.tolist(), shape)
        return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)


@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
@pytest.mark.parametrize("size", [NoisyRecordCount(), PublicCount(N)], ids=["bought", "public"])
def test_the_error_is_the_one_that_was_predicted(spend: Guarantee, size: RecordCount) -> None:
    """250 releases; in total within 5 sigma, each query's variance within 7: 1e-6 false alarms."""
    mechanism = MarginalMechanism(WORKLOAD, spend, size=size)
    exact = WORKLOAD.answers(COUNTS)
    errors = np.array([mechanism.release(COUNTS).answers(WORKLOAD) - exact for _ in range(250)])
    totals = (errors**2).sum(axis=1)
    spread = float(totals.std()) / math.sqrt(len(totals))
    assert abs(totals.mean() - mechanism.expected_error) < 5 * spread
    assert mechanism.rmse == pytest.approx((mechanism.expected_error / WORKLOAD.queries) ** 0.5)
    squares = (errors**2).mean(axis=0)
    each = (errors**2).std(axis=0) / math.sqrt(len(errors))
    assert (np.abs(squares - mechanism.deviations(WORKLOAD) ** 2) <= 7 * each + 1e-9).all()


def test_a_marginal_states_its_error_before_anything_is_spent() -> None:
    mechanism = MarginalMechanism(WORKLOAD, SPENDS[2])
    marginal = Workload.marginal(UNIVERSE, ["b", "c"])
    assert mechanism.deviation(["b", "c"]) == pytest.approx(mechanism.deviations(marginal)[5])
    assert mechanism.deviation(["b"]) == pytest.approx(
        mechanism.release(COUNTS).deviations(Workload.marginal(UNIVERSE, ["b"]))[0]
    )


def test_thirty_attributes_are_released_in_no_time_and_no_space() -> None:
    universe = Universe.of(**{f"x{i}": range(2 if i < 20 else 5) for i in range(30)})
    workload = Workload.marginals(universe, 2)
    assert universe.size > 10**12
    records = np.random.default_rng(5).integers(0, 2, (1000, 30))
    source = Rows(universe, records)
    tracemalloc.start()
    began = time.process_time()
    mechanism = MarginalMechanism(workload, SPENDS[2])
    answers = mechanism.release(source).answers(workload)
    took = time.process_time() - began
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert took < 4  # a fifth of a second; tracing memory takes the rest
    assert most < 8e6
    assert len(source.asked) == 435
    assert MarginalMechanism(workload, SPENDS[0]).release(source).answers(workload).size == (
        workload.queries
    )
    exact = np.concatenate(
        [
            source.counts([universe.names[p] for p in product.kept_places]).ravel()
            for product in workload.products
        ]
    )
    error = float(np.sqrt(((answers - exact) ** 2).mean()))
    assert error == pytest.approx(mechanism.rmse, rel=0.15)


def test_residuals_beat_marginals_measured_alike_where_there_are_many() -> None:
    """Overlapping marginals tell small ones again and again; residuals do not."""
    universe = Universe.of(**{f"x{i}": range(2) for i in range(30)})
    workload = Workload.marginals(universe, 2)
    pairs = len(workload.products)
    found = MarginalMechanism(workload, dp.ZCDP(rho=0.5)).rmse
    # (Σ √(g_A c_A))² over 435 · 4 queries, by hand.
    total = math.sqrt(pairs / 4) + 30 * math.sqrt(29 / 4) + pairs / 2
    assert found == pytest.approx(total / math.sqrt(4 * pairs), rel=1e-3)
    assert found < 0.7 * math.sqrt(pairs)


def test_what_follows_from_the_marginals_is_answered_and_nothing_else() -> None:
    synopsis = MarginalMechanism(WORKLOAD, dp.PureDP(epsilon=1e6)).release(COUNTS)
    for asked in (
        {"c": Prefixes(4), "b": Each(3)},
        {"a": Each(2)},
        {},
        {"b": Listed([[1, -1, 0]]), "c": Ranges(4)},
    ):
        workload = Workload.of(UNIVERSE, asked)
        assert synopsis.answers(workload) == pytest.approx(workload.answers(COUNTS), abs=1e-2)
        assert (synopsis.deviations(workload) < 1e-2).all()
    three = Workload.marginals(UNIVERSE, 3)
    with pytest.raises(InvalidParameter, match="marginal_not_measured"):
        MarginalMechanism(WORKLOAD, SPENDS[2]).release(COUNTS).answers(three)
    with pytest.raises(InvalidParameter, match="workloads_differ"):
        synopsis.answers(Workload.marginals(Universe.of(a=range(2)), 1))


def test_answers_agree_and_a_public_total_is_kept() -> None:
    synopsis = MarginalMechanism(WORKLOAD, SPENDS[0], size=PublicCount(N)).release(COUNTS)
    pair = synopsis.answers(Workload.marginal(UNIVERSE, ["b", "c"])).reshape(3, 4)
    assert pair.sum(axis=1) == pytest.approx(synopsis.answers(Workload.marginal(UNIVERSE, ["b"])))
    assert pair.sum() == pytest.approx(N)
    with pytest.raises(InvalidData, match="records_differ"):
        MarginalMechanism(WORKLOAD, SPENDS[0], size=PublicCount(N + 1)).release(COUNTS)


def test_records_of_a_person_multiply_the_deviations() -> None:
    one = MarginalMechanism(WORKLOAD, SPENDS[2]).deviation(["a"])
    three = MarginalMechanism(WORKLOAD, SPENDS[2], records=3).deviation(["a"])
    assert three == pytest.approx(3 * one, rel=1e-6)


def test_a_synopsis_is_kept_and_recalled_bit_for_bit() -> None:
    synopsis = MarginalMechanism(WORKLOAD, SPENDS[1]).release(COUNTS)
    stored = json.loads(json.dumps(synopsis.to_dict()))
    again = synopsis_from_dict(stored, UNIVERSE, synopsis.event)
    assert (again.answers(WORKLOAD) == synopsis.answers(WORKLOAD)).all()
    assert json.dumps(again.to_dict()) == json.dumps(synopsis.to_dict())


def test_bad_input_is_refused() -> None:
    wide = Universe.of(**{f"x{i}": range(2) for i in range(14)})
    with pytest.raises(InvalidParameter, match="marginal_too_wide"):
        MarginalMechanism(Workload.marginals(wide, 13), SPENDS[0])
    long = Universe.of(a=range(5000), b=range(5000))
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        MarginalMechanism(Workload.marginals(long, 2), SPENDS[0])
    narrow = MarginalMechanism(Workload.marginals(UNIVERSE, 1), SPENDS[2]).strategy
    with pytest.raises(InvalidParameter, match="strategy_rank"):
        MarginalMechanism(WORKLOAD, SPENDS[2], narrow)
    with pytest.raises(InvalidParameter, match="spend_notion"):
        MarginalMechanism(WORKLOAD, dp.ApproxDP(epsilon=0, delta=1e-6))
    with pytest.raises(InvalidParameter, match="workload_public"):
        MarginalMechanism(Workload.marginal(UNIVERSE, []), SPENDS[0], size=PublicCount(N))


@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
def test_odd_workloads_are_answered_too(spend: Guarantee) -> None:
    """Attributes of one value, the total alone, sums written as lists, contrasts."""
    for asked in ({}, {"one": Each(1)}, {"b": Listed([[1, 1, 1]])}, {"b": Listed([[1, -1, 0]])}):
        workload = Workload.of(UNIVERSE, asked)
        mechanism = MarginalMechanism(workload, spend)
        answers = mechanism.release(COUNTS).answers(workload)
        assert np.isfinite(answers).all()
        squares = float((mechanism.deviations(workload) ** 2).sum())
        assert squares == pytest.approx(mechanism.expected_error)
