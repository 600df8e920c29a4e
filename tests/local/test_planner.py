"""The planner's order, against variances computed here."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from discreet import local
from discreet.core.errors import InvalidParameter


def test_the_most_accurate_oracle_that_fits_is_chosen() -> None:
    found = local.plans(epsilon=1, domain=1024)
    variances = [plan.variance for plan in found]
    assert variances[0] == min(variances)
    assert all(a <= b * 1.001 for a, b in pairwise(variances))
    assert type(local.best_oracle(epsilon=3, domain=2)) is local.DirectEncoding
    short = local.best_oracle(epsilon=1, domain=1024, message_bits=24)
    assert short.message_bits <= 24
    assert type(short) is local.HadamardResponse
    large = local.best_oracle(epsilon=1, domain=10**9)
    assert type(large) is local.OptimalLocalHashing


def test_too_short_a_message_is_refused_with_the_shortest() -> None:
    with pytest.raises(InvalidParameter, match="Allow 16 bits") as refusal:
        local.plans(epsilon=1, domain=1024, message_bits=8)
    assert refusal.value.code == "local_message_too_short"


def test_half_the_error_takes_four_times_the_people() -> None:
    plan = local.plans(epsilon=1, domain=100)[0]
    assert plan.people_for(0.01) == pytest.approx(plan.people_for(0.02) * 4, rel=1e-3)
    assert plan.error(people=plan.people_for(0.01)) <= 0.01
    # 004a:C30: ten questions to all people at a tenth of epsilon, or to a tenth of the people.
    split = local.OptimizedUnary(epsilon=0.1, domain=10).variance / 1e5
    apart = local.OptimizedUnary(epsilon=1, domain=10).variance / 1e4
    assert math.sqrt(split) == pytest.approx(0.0632, abs=1e-4)
    assert math.sqrt(apart) == pytest.approx(0.0192, abs=1e-4)
