"""Noise on every answer, and the nearest answers that data could give."""

import math
from dataclasses import replace
from functools import cached_property

import numpy as np
import pytest

import discreet as dp
from discreet.audit import LearnedEvents, audit, outcome, repeated
from discreet.core.guarantee import Guarantee
from discreet.errors import InvalidData, InvalidParameter
from discreet.queries.frank_wolfe import AtMost, Exactly, nearest
from discreet.queries.independent import IndependentNoise
from discreet.queries.projection import ProjectionMechanism, expected_squared_error, radius
from discreet.queries.record_count import NoisyRecordCount, PublicCount
from discreet.queries.workload.families import Each, Listed
from discreet.queries.workload.universe import Universe
from discreet.queries.workload.workload import Workload

SIX = Universe.of(**{f"x{i}": range(2) for i in range(6)})

MANY = Workload.marginals(SIX, 3)

RECORDS = np.random.default_rng(7).multinomial(60, np.full(64, 1 / 64))

SPENDS = [dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta=1e-6), dp.ZCDP(rho=0.1)]


def test_the_angle_is_obtuse_and_no_error_grows() -> None:
    """|z - a|² ≤ ⟨ν, z - a⟩ + gap and |â - a| ≤ |ν|, for every draw."""
    rng = np.random.default_rng(2)
    exact = MANY.answers(RECORDS)
    for _ in range(10):
        noise = rng.normal(0, 15, MANY.queries)
        found = nearest(MANY, exact + noise, Exactly(60.0), gap=1.0, iterations=2000)
        error = MANY.answers(found.counts) - exact
        assert float(error @ error) <= float(noise @ error) + found.gaps[-1] + 1e-6
        assert np.linalg.norm(error) <= np.linalg.norm(noise)


@pytest.mark.parametrize("spend", SPENDS, ids=lambda spend: type(spend).__name__)
@pytest.mark.parametrize("size", [PublicCount(60), NoisyRecordCount()], ids=["public", "bought"])
def test_many_queries_on_few_records_gain(
    spend: Guarantee, size: PublicCount | NoisyRecordCount
) -> None:
    """The error stays below its bound and far below the noise; 1e-6 false alarms."""
    mechanism = ProjectionMechanism(MANY, spend, size=size)
    exact = MANY.answers(RECORDS)
    errors = [mechanism.release(RECORDS).answers(MANY) - exact for _ in range(4)]
    found = math.sqrt(np.mean(np.square(errors)))
    assert found < mechanism.error_bound(60) * 1.1
    assert found < 0.75 * mechanism.noisy.rmse
    assert mechanism.event == mechanism.noisy.event


def test_the_bound_grows_with_the_records_and_never_beyond_the_noise() -> None:
    mechanism = ProjectionMechanism(MANY, SPENDS[2], size=PublicCount(60))
    few, more = mechanism.error_bound(60), mechanism.error_bound(240)
    assert more == pytest.approx(min(2 * few, mechanism.noisy.rmse))
    assert mechanism.error_bound(10**9) == mechanism.noisy.rmse
    gaussian = expected_squared_error(records=60, deviation=9, radius=3, columns=64)
    assert gaussian == pytest.approx(2 * 60 * 9 * 3 * math.sqrt(2 * math.log(64)))
    assert expected_squared_error(records=60, deviation=9, radius=3, columns=64, scale=6) > gaussian


def test_the_radius_is_that_of_the_columns() -> None:
    dense = MANY.dense()
    mean = dense.mean(axis=1)
    far = np.linalg.norm(dense - mean[:, None], axis=0).max()
    assert radius(MANY, Exactly(1.0)) == pytest.approx(far)
    assert radius(MANY, AtMost(1.0)) == pytest.approx(max(far, np.linalg.norm(mean)))


class Cheap(ProjectionMechanism):
    """A twin: noise for six times the spend, at the price of one."""

    @cached_property
    def noisy(self) -> IndependentNoise:
        return replace(super().noisy, spend=dp.PureDP(epsilon=6))


def test_a_release_keeps_its_claim_and_that_of_the_cheap_twin_is_refuted() -> None:
    """One false alarm in 1e6 on each side; the projection takes nothing away from the noise."""
    cells = Workload.of(Universe.of(x=range(2)), {"x": Each(2)})

    def passes(mechanism: ProjectionMechanism) -> bool:
        return audit(
            repeated(lambda counts: bool(mechanism.release(counts).counts[0] > 2)),
            np.array([2, 0]),
            np.array([3, 0]),
            epsilon=1,
            delta=0,
            events=LearnedEvents(outcome),
            trials=600,
            confidence=1 - 1e-6,
        ).passes

    assert passes(ProjectionMechanism(cells, dp.PureDP(epsilon=1)))
    assert not passes(Cheap(cells, dp.PureDP(epsilon=1)))


def test_bad_input_is_refused() -> None:
    huge = Universe.of(**{f"x{i}": range(32) for i in range(6)})
    with pytest.raises(InvalidParameter, match="universe_too_large"):
        ProjectionMechanism(Workload.marginals(huge, 1), SPENDS[0])
    with pytest.raises(InvalidParameter, match="query_weights"):
        ProjectionMechanism(Workload.of(SIX, {"x0": Listed([[2, 0]])}), SPENDS[0])
    with pytest.raises(InvalidData, match="records_differ"):
        ProjectionMechanism(MANY, SPENDS[0], size=PublicCount(61)).release(RECORDS)
