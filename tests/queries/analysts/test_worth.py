"""What costs analysts something must be a tenth better than what costs them nothing."""

from __future__ import annotations

import pytest

import discreet as dp
from discreet import events
from discreet.queries.analysts import planning
from discreet.queries.analysts.guarantee import AnalystGuarantee, OneQuery
from discreet.queries.analysts.planning_options import RoundOption, refused
from discreet.queries.analysts.predicted_error import PredictedError
from discreet.queries.analysts.public_round import PublicRound
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe

FACTS = PublicRound(
    universe=Universe.of(x=range(4)),
    size=PublicCount(1000),
    analysts=3,
    most=2,
    spend=dp.ApproxDP(epsilon=1, delta=1e-6),
    protects=OneQuery(),
    promise=dp.ApproxDP(epsilon=1, delta=1e-3),
)
PAID = events.Approximate(epsilon=1, delta=1e-3)


def predicted(name: str, largest: float, analysts: AnalystGuarantee) -> RoundOption:
    error = PredictedError(mean=largest / 3, largest=largest)
    return RoundOption(name=name, mechanism=None, error=error, basis="", analysts=analysts)


@pytest.mark.parametrize(("largest", "chosen"), [(0.95, "free"), (0.9, "paid")])
def test_a_release_that_costs_analysts_must_be_worth_it(
    largest: float, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {
        "_independent": predicted("free", 1.0, AnalystGuarantee(OneQuery())),
        "_profiled": predicted("paid", largest, AnalystGuarantee(OneQuery(), PAID)),
    }
    nothing = refused("nothing", OneQuery(), "not here")
    for name in ("_histogram", "_marginals", "sampled_option", "expected_option"):
        made[name] = nothing
    for name, option in made.items():
        monkeypatch.setattr(planning, name, lambda _, option=option: option)
    assert planning.plan_round(FACTS).chosen.name == chosen
