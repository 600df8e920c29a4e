"""Errors of noisy counts follow from the law of their noise, and runs find the same.

Half the mean absolute value of noise is ``cut_bias(law)``, by symmetry. So a marginal of k noisy
cells lies k times as far, as a share of all rows, from the real one in total variation.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.mechanisms.distributions.cut_bias import cut_bias
from discreet.mechanisms.distributions.distribution import Distribution, distribution_of
from discreet.queries import IndependentNoise, Universe, Workload
from discreet.synthetic.count_noise import CountNoise
from discreet.synthetic.evaluation.marginal_error import total_variations

CELLS, EACH, RUNS = 2000, 400, 20
ROWS = CELLS * EACH
UNIVERSE = Universe.of(cell=range(CELLS))
COUNTS = np.full(CELLS, EACH)
REAL = np.repeat(np.arange(CELLS), COUNTS)[:, None]
SPENDS = {"Laplace": dp.PureDP(epsilon=0.1), "Gaussian": dp.ZCDP(rho=0.005)}


def counted(spend: Any) -> tuple[Distribution, np.ndarray[Any, np.dtype[np.int64]]]:
    """The law of the noise, and the noisy counts of several runs."""
    workload = Workload.marginal(UNIVERSE, ["cell"])
    mechanism = IndependentNoise(workload, spend)
    drawn = [mechanism.release(COUNTS).answers(workload) for _ in range(RUNS)]
    return distribution_of(mechanism.noise, step=1.0), np.array(drawn).astype(np.int64)


def near(law: Distribution, distance: float, slack: float = 0.0) -> bool:
    """Whether a mean total variation is what the law says: six sigma of the mean over all cells.

    A sum of 40 000 absolute Laplace noises is about normal: skewness .01, hence 3e-9.
    """
    expected = CELLS * cut_bias(law) / ROWS
    spread = math.sqrt(law.std**2 - (2 * cut_bias(law)) ** 2)
    return abs(distance - expected) < 3 * spread * math.sqrt(CELLS / RUNS) / ROWS + slack


@pytest.mark.parametrize("spend", SPENDS.values(), ids=SPENDS)
def test_analytic_and_monte_carlo_error_agree(spend: Any) -> None:
    """False alarms: fewer than 1e-7. Laws with .8 and 1.25 times the scale are rejected."""
    law, noisy = counted(spend)
    found = float(np.abs(noisy - COUNTS).sum(axis=1).mean()) / 2 / ROWS
    assert near(law, found)
    for times in (0.8, 1.25):
        (name,) = {"scale", "sigma"} & set(vars(law))
        assert not near(replace(law, **{name: law.spread * times}), found)


def test_the_score_of_laplace_counts_is_the_analytic_one() -> None:
    """The same of rows, as they are scored: shares of a noisy total move by what that is off.

    By the triangle inequality: half the share by which the number of rows is off. No count is
    below zero but with a chance of e**-40 each.
    """
    law, noisy = counted(SPENDS["Laplace"])
    rows = (np.repeat(np.arange(CELLS), each)[:, None] for each in noisy)
    scores = [total_variations(REAL, each, UNIVERSE.shape, [(0,)])[0] for each in rows]
    slack = float(np.abs(noisy.sum(axis=1) - ROWS).mean()) / 2 / ROWS
    assert near(law, float(np.mean(scores)), slack)


@pytest.mark.parametrize("spend", SPENDS.values(), ids=SPENDS)
def test_what_a_release_says_of_drowned_columns_is_hardly_above_it(spend: Any) -> None:
    """Its rule has one figure for both kinds of noise."""
    law = distribution_of(
        IndependentNoise(Workload.marginal(UNIVERSE, ["cell"]), spend).noise, step=1
    )
    told = CountNoise({"cell": CELLS}, law.std).estimate_moved_share("cell", ROWS)
    assert 1 <= told / (CELLS * cut_bias(law) / ROWS) < 1.15
