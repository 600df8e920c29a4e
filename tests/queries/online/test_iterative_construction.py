"""Offline iterative construction: it finds what is wrong, ends in time, and costs its spend."""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.core.guarantee import Guarantee
from discreet.mechanisms import Exponential
from discreet.noise import Noiseless
from discreet.queries.net import small_databases
from discreet.queries.online.iterative_construction import IterativeConstruction
from discreet.queries.online.multiplicative_updaters import MultiplicativeUpdater
from discreet.queries.online.updaters import MedianUpdater, PerceptronUpdater, Updater
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.families import Ranges
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload


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
