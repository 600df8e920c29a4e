"""The printed constants of boosting, against the catalogue's numbers."""

import math
from fractions import Fraction
from typing import Any

import pytest

from discreet.accounting.zcdp import zcdp_epsilon
from discreet.queries.boosting.bounds import (
    slack_at,
)
from discreet.theory.boosting import (
    brute_force_error,
    brute_force_scale,
    generalising_sample,
    printed_slack,
    subsample_rows,
)

THIRD = Fraction(1, 3)

B3: dict[str, Any] = {"sample": 50, "rounds": 20, "advantage": THIRD}


def test_the_printed_accounting_needs_several_times_the_slack() -> None:
    """At equal epsilon: .704 by the closed form of zCDP, .579 by the tight conversion."""
    rho, delta = 0.00875, 1e-6
    closed = rho + 2 * math.sqrt(rho * -math.log(delta))
    assert closed == pytest.approx(0.704, abs=5e-4)
    printed = printed_slack(epsilon=closed, delta=delta, **B3)
    assert printed == pytest.approx(15_577, abs=1)
    slack = float(slack_at(rho=rho, **B3))
    assert printed / slack == pytest.approx(3.64, abs=0.01)
    tight = zcdp_epsilon(rho, delta)
    assert tight == pytest.approx(0.579, abs=5e-4)
    assert printed_slack(epsilon=tight, delta=delta, **B3) / slack > 4.4


def test_the_printed_slack_of_the_book() -> None:
    given: dict[str, Any] = {"sample": 600, "rounds": 63, "advantage": THIRD}
    assert printed_slack(epsilon=1, delta=1e-6, **given) == pytest.approx(214_498, abs=1)


def test_samples_that_generalise() -> None:
    assert generalising_sample(bits=100, failure=0.05, advantage=THIRD) == 618
    # All databases of ten records over four cells, half of the failures for the noise.
    assert generalising_sample(bits=10 * 2, failure=0.05 / 2, advantage=THIRD) == 143


def test_brute_force_noise_is_that_of_the_proof() -> None:
    """The statement of Theorem 6.6 has 2 sqrt(2) times less."""
    scale = brute_force_scale(sample=143, epsilon=1, delta=1e-6)
    statement = math.sqrt(143 * math.log(1e6))
    assert scale == pytest.approx(2 * math.sqrt(2) * statement)
    tail = 143 * math.exp(-brute_force_error(scale=scale, sample=143, failure=0.05) / 2 / scale)
    assert tail == pytest.approx(0.05 / 2)


def test_a_subsample_keeps_all_answers() -> None:
    rows = subsample_rows(sample=100, error=0.1, failure=0.05)
    assert 2 * 100 * math.exp(-2 * rows * 0.1**2) <= 0.05
    assert 2 * 100 * math.exp(-2 * (rows - 1) * 0.1**2) > 0.05
