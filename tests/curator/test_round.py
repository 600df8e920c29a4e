"""Rounds: one release for many analysts, none of whom sees anything of another's questions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet import events
from discreet.curator.budget import PrivacyBudget
from discreet.curator.rounds import Round, RoundResults
from discreet.curator.rounds import round as rounds
from discreet.curator.rounds.run import weighed
from discreet.curator.rounds.submission import Conjunction, Rule
from discreet.errors import DiscreetError, InvalidParameter
from discreet.noise import Noiseless
from discreet.queries import Workload
from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.workload.linear_query import Region, Weights

N = 400
ONE = dp.ApproxDP(epsilon=1, delta=1e-6)
EXCHANGED = dp.Replace(dp.Row())
COLUMNS: Mapping[str, Any] = {
    "ward": dp.Category(["A", "B", "C"]),
    "age": dp.Number(0, 3),
    "sex": dp.Category(["f", "m"]),
}


def people() -> pl.DataFrame:
    """Rows whose values follow from their numbers."""
    return pl.DataFrame(
        {
            "id": range(N),
            "ward": ["ABC"[place % 7 % 3] for place in range(N)],
            "age": [place % 5 % 4 for place in range(N)],
            "sex": ["fm"[place % 3 % 2] for place in range(N)],
        }
    )


def curator(unit: Any = EXCHANGED, **options: Any) -> dp.Curator:
    """A curator in test mode, without noise."""
    given: dict[str, Any] = {
        "budget": dp.ApproxDP(epsilon=10, delta=1e-4),
        "ledger": dp.ledger.Memory(),
        "randomness": Noiseless(),
    }
    table = dp.table(people(), unit=unit, columns=COLUMNS, snapshot="one")
    return dp.Curator(people=table, **(given | options))


def private(**options: Any) -> dp.Curator:
    """A curator with noise."""
    return curator(**({"randomness": dp.noise.SYSTEM} | options))


def opened(source: dp.Curator, **changes: Any) -> Round:
    """A round about three attributes, for three analysts."""
    given: dict[str, Any] = {
        "analysts": ["ann", "bob", "cid"],
        "queries_each": 4,
        "spend": ONE,
        "protects": OneQuery(),
        "promise": ONE,
    }
    return source.round(source.universe("people", "ward", "age", "sex"), **(given | changes))


MINE: list[Any] = [{"ward": "B"}, {"ward": ["A", "C"], "age": [0, 2]}, {}, {"sex": "f"}]


def truths(frame: pl.DataFrame) -> list[int]:
    """Those of ``MINE``."""
    asked = [
        pl.col("ward") == "B",
        (pl.col("ward") != "B") & pl.col("age").is_in([0, 2]),
        pl.lit(True),  # noqa: FBT003 -- everybody
        pl.col("sex") == "f",
    ]
    return [frame.filter(condition).height for condition in asked]


# What a round is for ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "changes"),
    [
        (EXCHANGED, {"mechanism": PaddedNoise}),
        (EXCHANGED, {"mechanism": NoisyHistogram}),
        (EXCHANGED, {"mechanism": PublicMarginals, "asked": Conjunctions(2)}),
        (EXCHANGED, {"mechanism": ProfiledMarginals, "asked": Conjunctions(2)}),
        (dp.Row(), {}),
        (dp.Row(), {"asked": Conjunctions(2)}),
        (dp.Person("id", max_rows=1), {"asked": Conjunctions(2)}),
    ],
    ids=["independent", "histogram", "marginals", "profiled", "cells", "added", "people"],
)
def test_without_noise_everybody_gets_the_counts(unit: Any, changes: Any) -> None:
    about = opened(curator(unit), **changes)
    about.submit("ann", MINE)
    about.submit("cid", [{"age": 3}])
    results = about.close()
    assert results.for_analyst("ann").answers == pytest.approx(truths(people()), abs=1e-6)
    assert results.for_analyst("cid").answers == pytest.approx([N / 5], abs=1e-6)
    assert results.for_analyst("bob").answers.tolist() == []
    assert results.for_analyst("ann").analysts.perfect == ("profiled" not in about.plan().name)


def test_queries_come_in_many_forms() -> None:
    about = opened(curator())
    weights = np.linspace(0, 1, 24)
    region = Region((3, 4, 2), (slice(1, 2), slice(None), slice(None)))
    about.submit("ann", [region, Weights(weights), weights, {"ward": "B"}])
    answers = about.close().for_analyst("ann").answers
    counts = np.zeros((3, 4, 2))
    for ward, age, sex in people().select("ward", "age", "sex").iter_rows():
        counts["ABC".index(ward), age, "fm".index(sex)] += 1
    assert answers[[0, 3]] == pytest.approx([truths(people())[0]] * 2, abs=1e-3)
    assert answers[1:3] == pytest.approx([weights @ counts.ravel()] * 2, abs=1e-2)


def test_a_workload_is_a_list_of_queries() -> None:
    source = curator()
    about = opened(source, queries_each=6)
    about.submit("bob", Workload.marginal(about.universe, ["ward", "sex"]))
    answers = about.close().for_analyst("bob").answers
    assert answers.sum() == pytest.approx(N, abs=1e-3)
    with pytest.raises(InvalidParameter, match="queries_too_many"):
        opened(source).submit("bob", Workload.marginal(about.universe, ["ward", "sex"]))


def test_the_errors_are_those_of_the_plan() -> None:
    # The median of the largest of 12 errors is predicted: six times as much has a chance below
    # 1e-15 (normal errors: at least nine standard deviations).
    about = opened(private())
    for name in ("ann", "bob", "cid"):
        about.submit(name, MINE)
    predicted = about.plan().error
    assert predicted is not None
    results = about.close()
    for name in ("ann", "bob", "cid"):
        error = np.abs(results.for_analyst(name).answers - truths(people())) / N
        assert error.max() <= 6 * predicted.largest


# The games ---------------------------------------------------------------------------------------

GAME: dict[str, Any] = {
    "analysts": [f"n{place}" for place in range(40)],
    "queries_each": 10,
    "spend": dp.ZCDP(rho=20),
    "promise": dp.ApproxDP(epsilon=40, delta=1e-2),
}
PLENTY = dp.ZCDP(rho=2000)
ROOMY = dp.ZCDP(rho=10_000)


@pytest.mark.slow
@pytest.mark.parametrize("game", [SampledGame, ExpectedGame])
def test_a_game_is_played_where_the_owner_asks_for_it(game: type) -> None:
    source = private(budget=ROOMY)
    about = opened(source, mechanism=game, **GAME)
    assert "The owner asked for" in about.plan().explain()
    assert "no corrections" in about.plan().explain()
    about.submit("n1", MINE)
    results = about.close()
    answers = results.for_analyst("n1").answers
    assert answers[2] == pytest.approx(N)
    assert ((answers >= 0) & (answers <= N + 1e-6)).all()
    promised = results.analysts
    assert not promised.perfect
    assert promised.epsilon(delta=1e-2) <= 40
    spending = source.analyst_spending
    assert spending.rounds == 1
    assert spending.query is not None
    assert 0 < spending.query.epsilon <= 40
    assert spending.analyst is None  # it was promised for single queries


def test_after_a_game_everybody_gets_corrections_of_their_own() -> None:
    source = private(budget=ROOMY)
    about = opened(source, mechanism=SampledGame, corrections=2, **(GAME | {"spend": PLENTY}))
    assert "at most 2 corrections" in about.plan().explain()
    about.submit("n1", MINE)
    results = about.close()
    mine = results.for_analyst("n1")
    # Noise of a comparison: the chance of more than 2 yeses is zero, of a wrong one small.
    assert mine.corrected.sum() <= 2
    spending = source.analyst_spending
    assert spending.query is not None
    assert 0 < spending.query.epsilon <= 40
    assert spending.analyst is None  # it was promised for single queries
    assert mine.exhausted == (mine.corrected.sum() == 2)
    synopsis = results.for_analyst("n2").synopsis
    assert synopsis is not None
    fresh = np.abs(mine.answers - truths(people()))[mine.corrected]
    assert (fresh < 30).all()  # noise of scale below 1: a chance below 1e-12
    assert source.resume(about.id).close().for_analyst("n1").answers == pytest.approx(mine.answers)


def test_corrections_that_would_be_noise_are_refused() -> None:
    source = private(budget=ROOMY)
    with pytest.raises(InvalidParameter, match="corrections_useless"):
        opened(source, mechanism=ExpectedGame, corrections=10_000, **GAME)
    assert "they are for games" in opened(source, corrections=3).plan().explain()
    assert len(source.history()) == 1


def test_corrections_and_the_game_together_cost_no_more_than_the_spend() -> None:
    source = private(budget=ROOMY)
    about = opened(source, mechanism=SampledGame, corrections=2, **(GAME | {"spend": PLENTY}))
    # The streams take all of their three tenths; so small a game needs less than its seven.
    planned = float(about.plan().event.zcdp().rho)
    assert 0.29 * float(PLENTY.rho) < planned <= float(PLENTY.rho)


@pytest.mark.parametrize(
    "unit",
    [
        dp.Row(),
        dp.Person("id", max_rows=1),
        dp.Person("id", max_rows=3),
        dp.Replace(dp.Person("id", max_rows=3)),
    ],
)
def test_a_game_is_refused_where_it_has_no_proof(unit: Any) -> None:
    source = private(unit=unit, budget=ROOMY)
    with pytest.raises(InvalidParameter, match=r"game_needs_replacement|records_unknown"):
        opened(source, mechanism=SampledGame, **GAME)
    assert len(source.history()) == 0


def test_a_game_that_cannot_help_says_why() -> None:
    with pytest.raises(InvalidParameter, match=r"no_release_fits.*too few queries"):
        opened(private(), mechanism=SampledGame)


# What others see ---------------------------------------------------------------------------------

Ann = Callable[[Round], None]


def silent(_: Round) -> None:
    """She never submits."""


def asks(*queries: Any) -> Ann:
    """She submits."""
    return lambda about: about.submit("ann", list(queries))


def garbage(about: Round) -> None:
    """She submits what is refused, and too much of it."""
    about.submit("ann", [{"ward": "A"}] * 4)
    mistakes: list[Any] = [[{"ward": "Z"}], [{}] * 9, "ward", [[2.0] * 24]]
    for wrong in mistakes:
        with pytest.raises(DiscreetError):
            about.submit("ann", wrong)


def often(about: Round) -> None:
    """She changes her mind."""
    for place in range(5):
        about.submit("ann", [{"age": place % 4}])
    about.submit("ann", [])


WORLDS: list[Ann] = [silent, asks({"ward": "A"}), asks({"ward": "B"}, {"sex": "m"}), garbage, often]


def refused(about: Round, queries: Any) -> str:
    """What bob is told."""
    with pytest.raises(DiscreetError) as error:
        about.submit("bob", queries)
    return str(error.value)


def view(ann: Ann, unit: Any = EXCHANGED, **changes: Any) -> list[object]:
    """All that bob can see of a round in which ann does something."""
    source = curator(unit)
    child = source.child("bob", budget=dp.ApproxDP(epsilon=1, delta=1e-6))
    about = opened(source, **changes)
    before = (str(source.spent), str(child.remaining))
    ann(about)
    mistakes: list[Any] = [[{"ward": "Z"}], [{}] * 5, [[3]], "text", [object()]]
    seen: list[object] = [
        *(refused(about, wrong) for wrong in mistakes),
        repr(about),
        about.plan().explain(),
        before,
    ]
    about.submit("bob", MINE)
    child.sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(epsilon=0.5), analyst="bob")
    results = about.close()
    mine = results.for_analyst("bob")
    synopsis = None
    if mine.synopsis is not None:
        about_all = Workload.marginal(about.universe, ["ward", "age"])
        synopsis = mine.synopsis.answers(about_all).tolist()
    seen += [
        refused(about, MINE),
        mine.answers.tolist(),
        synopsis,
        repr(mine) + repr(results),
        (mine.event, mine.guarantee, mine.analysts),
        [(a.number, a.analyst, a.query, a.price, a.ended) for a in child.history()],
        [(a.number, a.analyst, a.query, a.price, a.ended) for a in source.history()],
        (str(source.spent), str(child.remaining), source.analyst_spending),
    ]
    return seen


PERFECT: list[tuple[Any, dict[str, Any]]] = [
    (EXCHANGED, {"mechanism": PaddedNoise}),
    (EXCHANGED, {"mechanism": NoisyHistogram}),
    (EXCHANGED, {"mechanism": PublicMarginals, "asked": Conjunctions(2)}),
    (dp.Row(), {}),
]


@pytest.mark.parametrize(("unit", "changes"), PERFECT)
def test_nothing_that_bob_sees_depends_on_ann(unit: Any, changes: Any) -> None:
    first, *others = (view(world, unit, **changes) for world in WORLDS)
    for other in others:
        assert other == first


def test_where_queries_have_a_part_only_the_priced_synopsis_depends_on_them() -> None:
    changes: dict[str, Any] = {"mechanism": ProfiledMarginals, "asked": Conjunctions(2)}
    first, *others = (view(world, **changes) for world in WORLDS)
    shared = first.index(next(part for part in first if isinstance(part, list)))
    for other in others:
        # All but bob's answers and the synopsis that they follow from.
        assert other[:shared] == first[:shared]
        assert other[shared + 2 :] == first[shared + 2 :]


def test_the_twin_with_common_places_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    alone = Rule.read_queries

    def shared(self: Rule, queries: Any) -> Any:
        held = alone(self, queries)
        taken.append(len(held))
        if sum(taken) > 7:
            raise InvalidParameter(code="round_full", expectation="room", remedy="Wait.")
        return held

    monkeypatch.setattr(Rule, "read_queries", shared)
    seen = []
    for world in (silent, asks({"ward": "A"}), asks({}, {}, {}, {})):
        taken.clear()
        try:
            seen.append(view(world))
        except InvalidParameter as full:
            seen.append([full.code])
    assert seen[0] == seen[1]
    assert seen[2] != seen[0]  # bob was told that the round is full: ann asked a lot


# Submissions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("queries", "code"),
    [
        ([{"ward": "Z"}], "condition_unmet"),
        ([{"height": 3}], "attribute_unknown"),
        ([{}] * 5, "queries_too_many"),
        ([[0.5] * 23], "query_weights"),
        ([[1.5] * 24], "query_weights"),
        ([[float("nan")] * 24], "query_weights"),
        ([np.zeros((3, 4, 2))], "query_weights"),
        ([Region((3, 4), (slice(1), slice(1)))], "query_weights"),
        ([["a"] * 24], "query_malformed"),
        ([[[0.5], [0.5, 0.5]]], "query_malformed"),
        ([object()], "query_malformed"),
        (3, "query_malformed"),
        (None, "query_malformed"),
        ("ward", "query_malformed"),
        ({"ward": "A"}, "query_malformed"),
    ],
)
def test_what_breaks_the_rule_is_refused_and_what_stood_stands(queries: Any, code: str) -> None:
    about = opened(curator())
    about.submit("ann", MINE)
    with pytest.raises(DiscreetError) as error:
        about.submit("ann", queries)
    assert error.value.code == code
    answers = about.close().for_analyst("ann").answers
    assert answers == pytest.approx(truths(people()), abs=1e-3)


@pytest.mark.parametrize("query", [{"ward": "A", "age": 0, "sex": "f"}, np.full(24, 0.5)])
def test_a_query_outside_the_class_is_refused(query: Any) -> None:
    about = opened(curator(), asked=Conjunctions(2))
    with pytest.raises(InvalidParameter, match="query_outside_class"):
        about.submit("ann", [query])


def test_equal_queries_stay_separate_and_later_ones_take_the_place() -> None:
    about = opened(curator())
    about.submit("ann", MINE)
    about.submit("ann", [MINE[0]] * 3)
    wanted = [truths(people())[0]] * 3
    assert about.close().for_analyst("ann").answers == pytest.approx(wanted, abs=1e-3)


def test_only_those_who_were_listed_take_part() -> None:
    about = opened(curator(), places=10)
    assert "10 analysts" in repr(about)
    for wrong in ("dan", None, 3):
        stranger: Any = wrong
        with pytest.raises(InvalidParameter, match="analyst_unknown"):
            about.submit(stranger, MINE)
    with pytest.raises(InvalidParameter, match="analyst_unknown"):
        about.close().for_analyst("dan")


# The schedule ------------------------------------------------------------------------------------


def test_a_round_closes_when_its_public_time_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    monkeypatch.setattr(rounds, "_now", lambda: noon - timedelta(seconds=1))
    about = opened(curator(), closes=noon)
    about.submit("ann", MINE)
    with pytest.raises(InvalidParameter, match="round_open"):
        about.close()
    monkeypatch.setattr(rounds, "_now", lambda: noon)
    with pytest.raises(InvalidParameter, match="round_closed"):
        about.submit("bob", MINE)
    assert len(about.close().for_analyst("ann").answers) == 4
    assert about.closes == noon


@pytest.mark.parametrize("jump", [-400, -1, 1, 400], ids=lambda days: f"{days} days")
def test_a_clock_that_jumps_neither_reopens_a_round_nor_runs_it_twice(
    monkeypatch: pytest.MonkeyPatch, jump: int
) -> None:
    """The clock decides when a round may be closed; what was drawn stays, whatever it says then."""
    noon = datetime(2030, 1, 1, 12, tzinfo=UTC)
    monkeypatch.setattr(rounds, "_now", lambda: noon - timedelta(days=1))
    source = private()
    about = opened(source, closes=noon)
    about.submit("ann", MINE)
    spent, name = source.spent, about.id
    monkeypatch.setattr(rounds, "_now", lambda: noon)
    answers = about.close().for_analyst("ann").answers.tolist()
    monkeypatch.setattr(rounds, "_now", lambda: noon + timedelta(days=jump))
    for again in (about, source.resume(name)):
        with pytest.raises(InvalidParameter, match="round_closed"):
            again.submit("bob", MINE)
        assert again.close().for_analyst("ann").answers.tolist() == answers
    assert source.spent == spent
    source.ledger.verify()


def test_after_closing_nothing_is_taken_and_results_stay() -> None:
    about = opened(curator())
    results = about.close()
    assert isinstance(results, RoundResults)
    assert about.close() is results
    with pytest.raises(InvalidParameter, match="round_closed"):
        about.submit("ann", MINE)


# Opening -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"analysts": []}, "analysts_misfit"),
        ({"analysts": "ann"}, "analysts_misfit"),
        ({"analysts": 3}, "analysts_misfit"),
        ({"analysts": ["ann", "ann"]}, "analysts_misfit"),
        ({"analysts": ["ann", 3]}, "analysts_misfit"),
        ({"places": 2}, "places_too_few"),
        ({"queries_each": 0}, "not_a_count"),
        ({"protects": "one"}, "not_an_analyst_unit"),
        ({"promise": dp.PureDP(epsilon=1)}, "promise_notion"),
        ({"asked": 3}, "query_class_unknown"),
        ({"closes": datetime(2030, 1, 1)}, "time_unclear"),
        ({"closes": "noon"}, "time_unclear"),
        ({"spend": dp.ZCDP(rho=1)}, "spend_notion"),
        ({"spend": dp.ApproxDP(epsilon=11, delta=1e-6)}, "budget_exhausted"),
        ({"mechanism": PublicMarginals}, "no_release_fits"),
    ],
)
def test_what_cannot_be_a_round_is_refused_for_free(changes: Any, code: str) -> None:
    source = private()
    with pytest.raises(DiscreetError) as error:
        opened(source, **changes)
    assert error.value.code == code
    assert len(source.history()) == 0


def test_several_rows_of_a_person_are_refused_where_people_are_exchanged() -> None:
    with pytest.raises(InvalidParameter, match="records_unknown"):
        opened(private(unit=dp.Replace(dp.Person("id", max_rows=2))))


def test_a_policy_sees_the_columns() -> None:
    uses = {"filter": [], "group": ["ward"], "aggregate": []}
    source = private(policy=dp.Policy(tables={"people": uses}, max_spend={"epsilon": 1}))
    with pytest.raises(DiscreetError, match="policy_column"):
        opened(source)


# Paying ------------------------------------------------------------------------------------------


def test_the_price_is_paid_when_a_round_opens_whatever_is_submitted() -> None:
    source = private()
    about = opened(source, purpose="a study")
    paid: Any = source.spent
    assert float(paid.epsilon) == pytest.approx(1, abs=1e-9)
    about.submit("ann", MINE)
    about.close()
    about.close()
    assert source.spent == paid
    (line,) = source.history()
    assert (line.ended, line.purpose, line.number) == ("released", "a study", 1)


def test_many_pure_steps_are_charged_together_where_their_sum_is_above_the_spend() -> None:
    budget = PrivacyBudget(dp.ApproxDP(epsilon=10, delta=1e-4), EXCHANGED)
    steps = events.Exponential(epsilon=0.1) * 100  # 10 if added up
    epsilon, delta = budget.charge(dp.ApproxDP(epsilon=5, delta=1e-6), (steps,))
    together: Any = budget.spent((epsilon, delta))
    assert 2 < float(together.epsilon) < 5
    assert float(together.delta) == pytest.approx(1e-6)
    pure: Any = budget.spent(budget.charge(dp.ApproxDP(epsilon=11, delta=1e-6), (steps,)))
    assert float(pure.epsilon) == pytest.approx(10)
    assert pure.delta == 0


def test_rounds_that_no_query_influences_tell_nothing_about_analysts() -> None:
    source = private()
    limit = dp.ApproxDP(epsilon=0, delta=0)
    for _ in range(2):
        opened(source, limit=limit).close()
    spending = source.analyst_spending
    assert (spending.query, spending.analyst, spending.rounds) == (limit, limit, 2)


def test_what_rounds_tell_adds_up_to_a_limit() -> None:
    source = private(budget=dp.ApproxDP(epsilon=100, delta=1e-3))
    asked: dict[str, Any] = {"mechanism": ProfiledMarginals, "asked": Conjunctions(2)}
    limit = dp.ApproxDP(epsilon=2.5, delta=1e-5)
    opened(source, protects=OneAnalyst(), limit=limit, **asked)  # never closed: told all the same
    opened(source, protects=OneAnalyst(), limit=limit, **asked)
    told = source.analyst_spending
    assert told.query == told.analyst
    assert told.query is not None
    # Laplace noise at epsilon 1 for each, read at the delta that was promised.
    assert float(told.query.epsilon) == pytest.approx(2, abs=1e-5)
    assert float(told.query.delta) == pytest.approx(2e-6)
    for protects in (OneAnalyst(), OneQuery()):
        with pytest.raises(DiscreetError, match="analyst_limit"):
            opened(source, protects=protects, limit=limit, **asked)
    opened(source, protects=OneQuery(), **asked)
    assert source.analyst_spending.analyst is None
    with pytest.raises(DiscreetError, match="analyst_limit"):
        opened(source, protects=OneAnalyst(), limit=dp.ApproxDP(epsilon=90, delta=0.1), **asked)


def test_conjunctions_are_weighed_as_they_are() -> None:
    """Every set of values on two attributes, the empty one too, asks the same in either form."""
    masks = [np.array([bit >> place & 1 for place in range(3)], dtype=float) for bit in range(8)]
    kinds = set()
    for first in masks:
        for second in masks:
            query = Conjunction((first, second))
            same = weighed(query)
            kinds.add(type(same))
            np.testing.assert_array_equal(same.dense(), query.dense())
    assert kinds == {Region, Weights}
