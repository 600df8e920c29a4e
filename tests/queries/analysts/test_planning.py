"""The planner: public facts in, ranked options out; slopes of its bounds; no useless games."""

import math

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidParameter
from discreet.queries.analysts.baselines import NoisyHistogram
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.planning import RoundRanking, plan_round
from discreet.queries.analysts.planning_game import (
    GAME_PART,
    GameBudget,
    HiddenUnit,
    PerAnalyst,
    PerQuery,
    expected_setting,
    sampled_setting,
)
from discreet.queries.analysts.planning_options import RoundOption
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.public_round import PublicRound
from discreet.queries.analysts.query_class import AnyQuery, Conjunctions
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe
from discreet.theory.online_game import online_sketch

SPEND = dp.ApproxDP(epsilon=1, delta=1e-6)
RHO = 0.024356
BITS = Universe.of(**{f"b{place}": range(2) for place in range(12)})


def budget(records: int, rounds: float = math.inf) -> GameBudget:
    """Both budgets (1, 1e-6) on 4096 cells."""
    return GameBudget(4096, records, RHO, 1, 1e-6, RHO, rounds)


def slope(errors: list[float]) -> float:
    """Per decade, by least squares on logarithms."""
    return float(np.polyfit(range(len(errors)), np.log10(errors), 1)[0])


@pytest.mark.parametrize(
    ("asked", "expected"), [(PerQuery(10**15), -0.51), (PerAnalyst(10**9, 100), -0.34)]
)
def test_slopes_of_the_bound(asked: HiddenUnit, expected: float) -> None:
    """From a million to ten billion records, within .03."""
    errors = [sampled_setting(asked, budget(10**k)).error for k in range(6, 11)]
    assert slope(errors) == pytest.approx(expected, abs=0.03)


def test_slope_of_the_online_sketch() -> None:
    """-.40, and the sketch's own numbers."""
    errors = [
        online_sketch(
            cells=4096, questions=1e6, records=10.0**k, data_rho=RHO, analyst_rho=RHO
        ).alpha
        for k in range(5, 11)
    ]
    assert slope(errors[1:]) == pytest.approx(-0.40, abs=0.03)
    assert errors[:3] == pytest.approx([0.52, 0.21, 0.083], rel=0.012)


def test_bound_of_the_sampled_game_is_that_of_the_catalogue() -> None:
    """|Q| = 1e15, n = 1e4 … 1e8, within 3 %; for fewer queries it does not vanish with n."""
    errors = [sampled_setting(PerQuery(10**15), budget(10**k)).error for k in range(4, 9)]
    assert errors == pytest.approx([1.81, 0.562, 0.174, 0.054, 0.0165], rel=0.03)
    floor = sampled_setting(PerQuery(10**5), budget(10**10)).error
    assert floor == pytest.approx(0.062, rel=0.1)


def test_the_expected_game_falls_more_slowly_but_is_equal_at_a_hundred_thousand() -> None:
    """n^-1/3 against n^-1/2."""
    one, other = (
        f(PerQuery(10**15), budget(10**5)).error for f in (sampled_setting, expected_setting)
    )
    assert one == pytest.approx(other, rel=0.1)
    errors = [expected_setting(PerQuery(10**15), budget(10**k)).error for k in range(6, 11)]
    assert slope(errors) == pytest.approx(-1 / 3, abs=0.03)


def round_of(records: int, **changes: object) -> PublicRound:
    """A thousand analysts with a hundred queries each."""
    facts: dict[str, object] = {
        "universe": BITS,
        "size": PublicCount(records),
        "analysts": 1000,
        "most": 100,
        "spend": SPEND,
        "protects": OneQuery(),
        "promise": SPEND,
        "asked": Conjunctions(3),
    }
    return PublicRound(**(facts | changes))  # type: ignore[arg-type]


def option(plan: RoundRanking, name: str) -> RoundOption:
    """One of the ranked."""
    return next(each for each in plan.ranked if each.name == name)


@pytest.fixture(scope="module")
def usual() -> RoundRanking:
    """The round of the catalogue's figures."""
    return plan_round(round_of(100_000))


def test_every_option_is_ranked_and_the_best_is_chosen(usual: RoundRanking) -> None:
    """Six options; the chosen one costs analysts nothing and promises less than .006."""
    assert {each.name for each in usual.ranked} == {
        "independent noise",
        "noisy histogram",
        "public marginals",
        "profiled marginals",
        "sampled game",
        "expected game",
    }
    assert isinstance(usual.chosen.mechanism, PublicMarginals)
    assert usual.chosen.analysts.perfect
    assert usual.chosen.error is not None
    assert usual.chosen.error.largest < 0.006
    assert usual.chosen.error.mean < 0.0015
    errors = [each.largest for each in usual.ranked if each.analysts.perfect]
    assert errors == sorted(errors)
    assert option(usual, "noisy histogram").largest < option(usual, "independent noise").largest


def test_games_of_the_plan_keep_both_budgets(usual: RoundRanking) -> None:
    """Seven tenths of the data budget, the promise to analysts, and an honest bound."""
    for name in ("sampled game", "expected game"):
        game = option(usual, name).mechanism
        assert game is not None
        assert game.event.zcdp().rho <= GAME_PART * RHO * 1.0001
        assert option(usual, name).analysts.epsilon(delta=1e-6) <= 1.0001
        assert 0.1 < option(usual, name).largest < 1
    sampled = option(usual, "sampled game").mechanism
    assert isinstance(sampled, SampledGame)
    assert sampled.delta(1) <= 1e-6


def test_a_plan_explains_itself(usual: RoundRanking) -> None:
    """What was chosen and why, what each costs, and only public facts."""
    text = usual.explain()
    assert "Chosen: public marginals" in text
    assert "of what no analyst's query influences" in text
    for each in usual.ranked:
        assert each.name in text
    assert "nothing" in text
    assert "(1, 1e-06)" in text


@pytest.mark.parametrize("records", [10_000, 1_000_000])
def test_at_other_sizes_the_choice_is_a_public_release_too(records: int) -> None:
    """Any linear query: the histogram; a game never comes close."""
    plan = plan_round(round_of(records, asked=AnyQuery()))
    assert isinstance(plan.chosen.mechanism, NoisyHistogram)
    assert "declare asked" in option(plan, "public marginals").refusal


def test_too_few_analysts_and_too_few_queries_are_no_game() -> None:
    """A hundred analysts: no useful shared game, an analyst-independent release instead."""
    few = plan_round(round_of(100_000, analysts=100, most=1000, protects=OneAnalyst()))
    assert all(option(few, name).refusal for name in ("sampled game", "expected game"))
    assert few.chosen.analysts.perfect
    assert few.reason.startswith("no useful shared game")
    little = plan_round(round_of(100_000, analysts=10, most=2))
    assert "too few queries" in option(little, "sampled game").refusal
    assert "too few analysts" in option(few, "expected game").refusal


def test_ten_thousand_analysts_have_a_game_with_an_honest_bound() -> None:
    """Group caps, a million records: below one, far above the public release."""
    plan = plan_round(
        round_of(1_000_000, analysts=10_000, most=10, protects=OneAnalyst(), asked=AnyQuery())
    )
    game = option(plan, "sampled game")
    assert isinstance(game.mechanism, SampledGame)
    assert game.mechanism.width == 10
    assert game.mechanism.s < 10_000
    assert 0.3 < game.largest < 1
    assert plan.chosen.name == "noisy histogram"


def test_a_public_guess_of_few_topics_makes_the_profile_worth_its_price() -> None:
    """Fifteen attributes: too many cells to write down, and twenty topics among 575."""
    wide = Universe.of(**{f"a{place}": range(4) for place in range(15)})
    plan = plan_round(round_of(100_000, universe=wide, topics=20))
    assert isinstance(plan.chosen.mechanism, ProfiledMarginals)
    assert not plan.chosen.analysts.perfect
    assert "if 20 topics" in plan.explain()
    assert "universe_too_large" in option(plan, "noisy histogram").refusal


def test_where_nothing_fits_the_plan_says_so() -> None:
    """No explicit universe, no class: nothing can be released."""
    wide = Universe.of(**{f"a{place}": range(4) for place in range(15)})
    plan = plan_round(round_of(100_000, universe=wide, asked=AnyQuery()))
    with pytest.raises(InvalidParameter, match="no_release_fits"):
        _ = plan.chosen
