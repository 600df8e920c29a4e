"""Useful within alpha, for all but gamma of the queries, in all but beta of the runs."""

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binomtest

import discreet as dp
from discreet.core.arrays import Floats
from discreet.errors import DiscreetError
from discreet.queries import (
    Each,
    MatrixMechanism,
    Ranges,
    Universe,
    UsefulRuns,
    Workload,
    useful_runs,
)
from discreet.queries.synopses.synopsis import HistogramSynopsis

UNIVERSE = Universe.of(age=range(4))
EACH = Workload.of(UNIVERSE, {"age": Each(4)})
COUNTS = np.array([10, 20, 30, 40])


def _table(counts: list[float]) -> HistogramSynopsis:
    held: Floats = np.array(counts)
    return HistogramSynopsis(UNIVERSE, held, dp.events.Pure(epsilon=1), None)


def test_the_data_themselves_score_one() -> None:
    for workload in (EACH, Workload.of(UNIVERSE, {"age": Ranges(4)})):
        found = useful_runs(workload, COUNTS, [_table([10, 20, 30, 40])], alpha=0)
        assert found.shares == (1.0,)
        assert found.useful(gamma=0) == 1.0
        assert str(found).startswith("not private")


def test_shares_by_hand() -> None:
    """Off by 0, 5, 6 and 0 of 100: at alpha .05 three of four are within, the edge included."""
    runs = [_table([10, 25, 24, 40]), _table([10, 20, 30, 46]), _table([90, 90, 90, 90])]
    found = useful_runs(EACH, COUNTS, runs, alpha=0.05)
    assert found.shares == (0.75, 0.75, 0.0)
    assert found.useful(gamma=0.25) == pytest.approx(2 / 3)
    assert found.useful(gamma=0.2) == 0.0
    assert found.useful(gamma=1) == 1.0


@pytest.mark.parametrize("good", [0, 1, 17, 20])
def test_the_bound_is_clopper_and_pearsons(good: int) -> None:
    found = UsefulRuns(0.1, (1.0,) * good + (0.0,) * (20 - good))
    wanted = binomtest(good, 20, alternative="greater").proportion_ci(0.95).low
    assert found.useful_at_least(gamma=0.5, confidence=0.95) == pytest.approx(wanted)


def test_a_mechanism_is_as_useful_as_its_noise_says() -> None:
    """4 cells in 2000 runs, each within alpha with the normal chance: 5 sigma, 1e-6 false alarms.

    The grid of whole counts is fine beside the noise: within half a step of alpha.
    """
    mechanism = MatrixMechanism(EACH, dp.ZCDP(rho=0.0005))
    deviation = float(mechanism.deviations(EACH)[0])
    found = useful_runs(EACH, COUNTS, [mechanism.release(COUNTS) for _ in range(2000)], alpha=0.305)
    within = float(1 - 2 * ndtr(-30.5 / deviation))
    spread = (within * (1 - within) / 8000) ** 0.5
    assert abs(np.mean(found.shares) - within) < 5 * spread + 1e-3


@pytest.mark.parametrize("runs", [0, 1])
def test_nothing_to_compare_is_refused(runs: int) -> None:
    counts = COUNTS if runs == 0 else 0 * COUNTS
    with pytest.raises(DiscreetError):
        useful_runs(EACH, counts, [_table([1, 1, 1, 1])] * runs, alpha=0.1)
