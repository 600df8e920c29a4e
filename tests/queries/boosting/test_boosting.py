"""Boosting for queries as a whole: price, privacy by enumeration, accuracy, and its synopsis."""

import json
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property

import numpy as np
import pytest
from numpy.typing import NDArray

import discreet as dp
from discreet.audit import min_epsilon
from discreet.core.errors import InvalidData, InvalidParameter
from discreet.core.guarantee import Guarantee
from discreet.noise import Seeded
from discreet.queries.boosting.base import ExponentialNet, NoisySample
from discreet.queries.boosting.boosting import BoostingForQueries, MedianSynopsis
from discreet.queries.boosting.bounds import draws_rho, rounds_needed
from discreet.queries.boosting.fits import LeastSquaresFit, Sample
from discreet.queries.boosting.reweighting import STEPS, Reweighting, in_steps
from discreet.queries.net import small_databases
from discreet.queries.record_count import NoisyRecordCount, PublicCount, RecordCount
from discreet.queries.workload.families import Each, Listed, Ranges
from discreet.queries.workload.linear_query import query_of
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

Floats = NDArray[np.float64]
Transcript = tuple[int, ...]

SIXTEEN = Workload.of(Universe.of(x=range(16)), {"x": Ranges(16)})
SPENDS = [dp.PureDP(epsilon=2), dp.ZCDP(rho=0.1), dp.ApproxDP(epsilon=1, delta=1e-6)]


class TestPrice:
    @pytest.mark.parametrize("size", [PublicCount(100), NoisyRecordCount()])
    @pytest.mark.parametrize("spend", SPENDS, ids=str)
    def test_the_event_costs_the_spend_and_no_more(
        self, spend: Guarantee, size: RecordCount
    ) -> None:
        plan = BoostingForQueries(SIXTEEN, spend, size, sample=7, rounds=5, records=2)
        if isinstance(spend, dp.PureDP):
            assert 1.999 < plan.event.epsilon(delta=0) <= 2
        elif isinstance(spend, dp.ZCDP):
            assert 0.0999 < plan.event.zcdp().rho <= 0.1
        else:
            # Planned by zCDP; through the privacy loss of its own noise it is a little cheaper.
            assert 0.98 < plan.event.epsilon(delta=1e-6) <= 1

    def test_draws_pay_for_their_own_range_and_the_first_round_for_none(self) -> None:
        spend = dp.ZCDP(rho=Fraction(1, 10))
        plan = BoostingForQueries(SIXTEEN, spend, PublicCount(100), sample=7, rounds=5)
        drawn = sum(
            7 * plan.reweighting.selector(before).event.epsilon(delta=0) ** 2 / 8
            for before in range(1, 5)
        )
        paid = draws_rho(sample=7, rounds=5, slack=plan.reweighting.slack, advantage=Fraction(1, 3))
        assert drawn == pytest.approx(float(paid))
        assert drawn == pytest.approx(0.05, rel=1e-6)

    def test_half_of_the_spend_draws_unless_said_otherwise(self) -> None:
        """000a:H7: what all generators cost together is what the draws cost."""
        plan = BoostingForQueries(
            SIXTEEN, dp.PureDP(epsilon=1), PublicCount(100), sample=7, rounds=5
        )
        assert 5 * plan.base.event(plan.terms).epsilon(delta=0) == pytest.approx(0.5)
        thrifty = BoostingForQueries(
            SIXTEEN, dp.PureDP(epsilon=1), PublicCount(100), sample=7, rounds=5, drawing=0.25
        )
        assert thrifty.slack == 2 * plan.slack

    def test_rounds_and_bound_are_those_of_the_theorem(self) -> None:
        plan = BoostingForQueries(SIXTEEN, dp.ZCDP(rho=0.1), PublicCount(100), sample=7, within=3)
        assert plan.rounds == rounds_needed(queries=136, advantage=Fraction(1, 3)) == 17
        assert plan.bound == pytest.approx(3 + float(plan.slack), abs=1e-5)

    def test_a_release_in_test_mode_is_marked(self) -> None:
        plan = BoostingForQueries(
            SIXTEEN, dp.ZCDP(rho=0.1), PublicCount(32), sample=3, rounds=2, randomness=Seeded(1)
        )
        assert "Unprotected" in plan.release(np.full(16, 2)).event.to_json()


class Unattenuated(Reweighting):
    """The broken twin of the reweighting."""

    def excess(self, truth: NDArray[np.int64], answers: Floats) -> NDArray[np.int64]:
        beyond = np.abs(truth - in_steps(answers)) > int(Fraction(self.within) * STEPS)
        return np.where(beyond, int(Fraction(self.slack) * STEPS), 0)


class Leaky(BoostingForQueries):
    """The broken twin of the whole."""

    @cached_property
    def reweighting(self) -> Reweighting:
        sound = BoostingForQueries.reweighting.func(self)  # type: ignore[attr-defined]
        return Unattenuated(sound.within, sound.slack, sound.advantage)


class TestPrivacyByEnumeration:
    """Three rounds of one draw over three queries and a net of three: every transcript's law."""

    UNIVERSE = Universe.of(x=range(3))
    WORKLOAD = Workload.of(UNIVERSE, {"x": Listed([[1, 0, 0], [0, 1, 0], [0, 1, 1]])})
    NET = small_databases(3, 1)
    N = 3

    def transcripts(self, plan: BoostingForQueries, counts: Floats) -> dict[Transcript, float]:
        truth = self.WORKLOAD.answers(counts)
        base = plan.base
        assert isinstance(base, ExponentialNet)
        rate = float(base.selector(plan.terms).rate())

        chances, more = [], []
        for place in range(3):
            sample = Sample((query_of(plan.workload, place),), 3, float(self.N))
            odds = np.exp(rate * base.scores(sample, truth[[place]]))
            chances.append((odds / odds.sum()).tolist())
            answers = self.WORKLOAD.answers(self.N * self.NET[place])
            more.append(plan.reweighting.excess(in_steps(truth), answers))

        def grow(before: int, excesses: NDArray[np.int64]) -> Iterator[tuple[Transcript, float]]:
            if before == plan.rounds:
                yield (), 1.0
                return
            drawn = plan.reweighting.weights(excesses).distribution.tolist()
            for chosen in range(3):
                for rest, after in grow(before + 1, excesses + more[chosen]):
                    for place in range(3):
                        yield (place, chosen, *rest), drawn[place] * chances[place][chosen] * after

        return dict(grow(0, np.zeros(3, dtype=np.int64)))

    def worst(self, kind: type[BoostingForQueries], spend: Guarantee) -> tuple[float, float]:
        """The largest log-ratio, and the largest Rényi divergence over its order."""
        plan = kind(
            self.WORKLOAD,
            spend,
            PublicCount(self.N),
            sample=1,
            base=ExponentialNet(self.NET),
            rounds=3,
            within=0,
            drawing=0.5,
        )
        tables = [
            np.array([a, b, self.N - a - b], dtype=float)
            for a in range(self.N + 1)
            for b in range(self.N + 1 - a)
        ]
        laws = [self.transcripts(plan, table) for table in tables]
        loss, divergence = 0.0, 0.0
        for i, x in enumerate(tables):
            for j, y in enumerate(tables):
                if np.abs(x - y).sum() != 2:
                    continue
                loss = max(loss, min_epsilon(laws[i], laws[j]))
                p, q = (np.array(list(law.values())) for law in (laws[i], laws[j]))
                for order in (1.5, 4.0, 16.0):
                    moment = float(np.sum(p**order * q ** (1 - order)))
                    divergence = max(divergence, math.log(moment) / (order - 1) / order)
        return loss, divergence

    def test_a_pure_claim_holds_and_is_not_far_off(self) -> None:
        loss, _ = self.worst(BoostingForQueries, dp.PureDP(epsilon=1))
        assert 0.4 < loss <= 1

    def test_a_concentrated_claim_holds(self) -> None:
        _, divergence = self.worst(BoostingForQueries, dp.ZCDP(rho=0.125))
        assert 0.02 < divergence <= 0.125

    def test_the_twin_without_attenuation_breaks_both(self) -> None:
        loss, _ = self.worst(Leaky, dp.PureDP(epsilon=1))
        assert loss > 3
        _, divergence = self.worst(Leaky, dp.ZCDP(rho=0.125))
        assert divergence > 0.25


class TestAccuracy:
    N = 10**7

    def counts(self, cells: int) -> NDArray[np.int64]:
        rng = np.random.default_rng(1)
        return np.asarray(rng.multinomial(self.N, rng.dirichlet(np.full(cells, 0.5))))

    def test_the_median_is_right_on_all_queries_where_no_round_is(self) -> None:
        """2080 ranges of 64 values from 128 draws a round, at (1, 1e-6)."""
        asked = Workload.of(Universe.of(x=range(64)), {"x": Ranges(64)})
        plan = BoostingForQueries(
            asked,
            dp.ApproxDP(epsilon=1, delta=1e-6),
            PublicCount(self.N),
            sample=128,
            randomness=Seeded(5),
        )
        counts = self.counts(64)
        truth = asked.answers(counts)
        found = plan.release(counts)
        assert np.abs(found.answers(asked) - truth).max() < plan.bound < 0.002 * self.N
        alone = [np.abs(asked.answers(table) - truth).max() for table in found.tables]
        assert np.median(alone) > 5 * plan.bound

    def test_weights_move_to_what_was_answered_badly(self) -> None:
        """A query that no table gets right holds almost all of the weight in the end."""
        weigh = Reweighting(10, 100, Fraction(1, 3))
        truth = np.array([500.0] * 20)
        answers = truth.copy()
        answers[7] = 0
        excesses = 10 * weigh.excess(in_steps(truth), answers)
        assert weigh.weights(excesses).distribution[7] > 0.999

    @pytest.mark.parametrize("spend", SPENDS, ids=str)
    def test_a_net_on_a_tiny_universe_is_boosted_too(self, spend: Guarantee) -> None:
        masks = np.array([[mask >> i & 1 for i in range(4)] for mask in range(1, 15)], dtype=float)
        asked = Workload.of(Universe.of(x=range(4)), {"x": Listed(masks)})
        net = small_databases(4, 6)
        counts = (600_000 * net[40]).round().astype(np.int64)
        plan = BoostingForQueries(
            asked,
            spend,
            PublicCount(int(counts.sum())),
            sample=12,
            base=ExponentialNet(net),
            randomness=Seeded(2),
        )
        error = np.abs(plan.release(counts).answers(asked) - asked.answers(counts))
        assert error.max() <= plan.bound < 600_000 / 6

    def test_a_bought_number_of_records_will_do(self) -> None:
        plan = BoostingForQueries(
            SIXTEEN,
            dp.ZCDP(rho=0.5),
            NoisyRecordCount(),
            sample=40,
            base=NoisySample(LeastSquaresFit()),
            records=2,
            randomness=Seeded(3),
        )
        counts = self.counts(16)
        error = np.abs(plan.release(counts).answers(SIXTEEN) - SIXTEEN.answers(counts))
        assert error.max() <= plan.bound


class TestSynopsis:
    def test_answers_are_medians_of_each_query_by_itself(self) -> None:
        u = Universe.of(x=range(2))
        tables = np.array([[1.0, 9.0], [2.0, 5.0], [7.0, 6.0]])
        found = MedianSynopsis(u, tables, dp.events.Gaussian(1))
        sums = Workload.of(u, {"x": Each(2)}, {})
        np.testing.assert_array_equal(found.answers(sums), [2, 6, 10])

    def test_it_is_plain_and_comes_back(self) -> None:
        plan = BoostingForQueries(SIXTEEN, dp.ZCDP(rho=0.1), PublicCount(32), sample=3, rounds=3)
        found = plan.release(np.full(16, 2))
        plain = json.loads(json.dumps(found.to_dict()))
        again = MedianSynopsis.from_dict(plain, SIXTEEN.universe, found.event)
        np.testing.assert_array_equal(again.answers(SIXTEEN), found.answers(SIXTEEN))
        assert found.event == plan.event

    def test_tables_over_other_cells_are_refused(self) -> None:
        plain = MedianSynopsis(SIXTEEN.universe, np.zeros((2, 9)), dp.events.Gaussian(1)).to_dict()
        with pytest.raises(InvalidParameter, match="synopsis_not_plain"):
            MedianSynopsis.from_dict(plain, SIXTEEN.universe, dp.events.Gaussian(1))


class TestRefusals:
    @pytest.mark.parametrize(
        ("given", "code"),
        [
            ({"sample": 0}, "not_a_count"),
            ({"rounds": 1}, "rounds_range"),
            ({"rounds": 2000}, "rounds_range"),
            ({"advantage": 0.5}, "advantage_range"),
            ({"drawing": 1}, "not_a_probability"),
            ({"within": -1}, "negative"),
            ({"records": 0.5}, "not_a_count"),
            ({"spend": dp.ApproxDP(epsilon=0, delta=1e-6)}, "spend_notion"),
            ({"base": ExponentialNet(np.eye(3))}, "net_misshapen"),
        ],
        ids=str,
    )
    def test_what_cannot_be_run_is_refused_before_data_is_seen(
        self, given: dict[str, object], code: str
    ) -> None:
        usual: dict[str, object] = {
            "workload": SIXTEEN,
            "spend": dp.ZCDP(rho=0.1),
            "size": PublicCount(32),
            "sample": 3,
        }
        with pytest.raises(InvalidParameter, match=code):
            BoostingForQueries(**(usual | given))  # type: ignore[arg-type]

    def test_other_numbers_of_records_than_the_public_one_are_refused(self) -> None:
        plan = BoostingForQueries(SIXTEEN, dp.ZCDP(rho=0.1), PublicCount(31), sample=3, rounds=2)
        with pytest.raises(InvalidData, match="records_differ"):
            plan.release(np.full(16, 2))
