"""Every release for analysts faces an attacker who holds all other accounts, a thousand times.

Run by ``make audit``. Each case runs 1000 rounds in each of two worlds of queries and compares the
joint views of all others. False alarms: 1e-9 per audit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.audit import BrokenTwin, LearnedEvents, audit, check_pair, hockey_stick, outcome
from discreet.audit.analysts import (
    AnalystFinding,
    JointView,
    QueryWorlds,
    RoundView,
    among_fakes,
    analyst_replaced,
    answers_within,
    audit_analysts,
    corrected_game_round,
    correction_round,
    corrections_seen,
    game_round,
    independent_round,
    points_in,
    profile_round,
    query_changed,
)
from discreet.noise import SYSTEM
from discreet.queries.analysts.baselines import PaddedNoise
from discreet.queries.analysts.correction import Correction
from discreet.queries.analysts.failing_analysts import FailingAnalysts
from discreet.queries.analysts.game import Game
from discreet.queries.analysts.guarantee import (
    AnalystGuarantee,
    AnalystUnit,
    OneAnalyst,
    OneQuery,
)
from discreet.queries.analysts.profile import EachAnalyst, ProfileRelease
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.record_count import PublicCount
from discreet.queries.workload.universe import Universe
from tests.audit.analyst_rounds import (
    COUNTS,
    EVEN,
    FIRST,
    NOTHING,
    SECOND,
    SIZE,
    UNIVERSE,
    PairCappedGame,
    PlainGame,
    ReversedGame,
    SharedCutOff,
    expected_game,
    sampled_game,
    twin_of,
)
from tests.queries.analysts.small_games import (
    conjunctions,
    correlated,
    expected,
    expected_views,
    sampled,
    sampled_views,
    shape_of,
)

TRIALS = 1000
CONFIDENCE = 1 - 1e-9

SINGLE = RoundShape(UNIVERSE, 20, 1)
DOUBLE = RoundShape(UNIVERSE, 20, 2)
QUIET = [[NOTHING]] * 19
LOUD = [[SECOND]] * 19
CHANGED = {
    "one query, others quiet": query_changed([[FIRST], *QUIET], analyst=0, place=0, query=NOTHING),
    "one query, others loud": query_changed([*LOUD, [FIRST]], analyst=19, place=0, query=SECOND),
}
REPLACED = {
    "one analyst, others quiet": analyst_replaced(
        [*QUIET, [FIRST, FIRST]], analyst=19, queries=[NOTHING, SECOND]
    ),
    "one analyst who leaves, among fakes": among_fakes(
        [FIRST, FIRST], [], fakes=19, asking=[SECOND, NOTHING]
    ),
}


@dataclass(frozen=True)
class Case:
    """A round, worlds, what was promised, and what the attacker looks at."""

    name: str
    play: Callable[[Any], RoundView]
    worlds: QueryWorlds[Any]
    promise: AnalystGuarantee
    delta: float
    watch: Callable[[JointView], Hashable]
    trials: int = TRIALS

    def audit(self) -> AnalystFinding:
        return audit_analysts(
            self.play,
            self.worlds,
            promise=self.promise,
            delta=self.delta,
            watch=self.watch,
            trials=self.trials,
            confidence=CONFIDENCE,
        )


def _late(game: Game) -> Callable[[JointView], Hashable]:
    return points_in([0], since=game.points // 2)


def _games() -> list[Case]:
    cases = []
    for unit, shape, every in ((OneQuery(), SINGLE, CHANGED), (OneAnalyst(), DOUBLE, REPLACED)):
        first = sampled_game(shape, s=15, protects=unit)
        second = expected_game(shape, s=8, protects=unit)
        for name, worlds in every.items():
            for game, delta in ((first, first.delta(1)), (second, 0.01)):
                cases.append(
                    Case(
                        f"{type(game).__name__}, {name}",
                        game_round(game, COUNTS),
                        worlds,
                        game.analysts,
                        delta,
                        _late(game),
                    )
                )
    return cases


def _corrected() -> list[Case]:
    """Corrections of a public synopsis, and of a game's own."""
    shape = RoundShape(UNIVERSE, 3, 2)
    correction = Correction(shape=shape, size=SIZE, epsilon=20, cutoff=1, threshold=0.2)
    perfect = AnalystGuarantee(OneAnalyst())
    worlds = analyst_replaced(
        [[FIRST, SECOND], [FIRST], [SECOND, FIRST]], analyst=0, queries=[NOTHING]
    )
    game = sampled_game(shape, s=3, protects=OneAnalyst())
    failing = FailingAnalysts(shape=shape, size=SIZE, runs=3, threshold=0.2, bits=200, each=100)

    def both(view: JointView) -> Hashable:
        return points_in([0], since=8)(view), corrections_seen(view)

    return [
        Case(
            "Correction, colluders",
            correction_round(correction, COUNTS, EVEN),
            worlds,
            perfect,
            0,
            corrections_seen,
        ),
        Case(
            "SampledGame with corrections, colluders",
            corrected_game_round(game, correction, COUNTS),
            worlds,
            game.analysts,
            game.delta(1),
            both,
        ),
        Case(
            "FailingAnalysts, colluders",
            correction_round(failing, COUNTS, EVEN),
            worlds,
            perfect,
            0,
            corrections_seen,
        ),
        Case(
            "SampledGame with runs for those who fail, colluders",
            corrected_game_round(game, failing, COUNTS),
            worlds,
            game.analysts,
            game.delta(1),
            both,
        ),
    ]


def _independent() -> Case:
    noise = PaddedNoise(UNIVERSE, 4, dp.ApproxDP(epsilon=5, delta=0.01), SIZE)
    worlds = analyst_replaced([[FIRST, FIRST], [FIRST], [SECOND]], analyst=0, queries=[])
    play = independent_round(noise, COUNTS)
    perfect = AnalystGuarantee(OneAnalyst())
    return Case("PaddedNoise, colluders", play, worlds, perfect, 0, answers_within(0.3))


BITS = Universe.of(a=range(2), b=range(2), c=range(2))
TOPICS: list[list[tuple[int, ...]]] = [[(0,), (0,)], [(1,)], [(1, 2), (2,)]]


def _profile(unit: AnalystUnit, factor: int = 1) -> Case:
    """The difference of the topics that the victim's worlds are about, in noise's own steps."""
    spend = dp.ApproxDP(epsilon=1, delta=0.01)
    honest = ProfileRelease(BITS, Conjunctions(2), spend)
    if isinstance(unit, OneAnalyst):
        honest = replace(honest, each=EachAnalyst())
        worlds = analyst_replaced(TOPICS, analyst=0, queries=[(1,), (1,)])
    else:
        worlds = query_changed(TOPICS, analyst=0, place=0, query=(1,))
    spent = replace(honest, spend=dp.ApproxDP(epsilon=factor, delta=0.01))

    def watch(view: JointView) -> Hashable:
        weights: Mapping[tuple[int, ...], float] = view.shared.weights
        return round((weights[(0,)] - weights[(1,)]) / spent.spread)

    promise = AnalystGuarantee(unit, honest.event)
    return Case(f"profile, {unit!r}", profile_round(spent), worlds, promise, 0.01, watch)


CASES = [
    *_games(),
    *_corrected(),
    _independent(),
    _profile(OneQuery()),
    _profile(OneAnalyst()),
]


@pytest.mark.audit
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_no_promise_is_contradicted_in_a_thousand_rounds(case: Case) -> None:
    found = case.audit()
    assert found.passes, str(found)


@pytest.mark.audit
@pytest.mark.parametrize("unit", [OneQuery(), OneAnalyst()])
def test_a_profile_that_spends_six_times_its_promise_is_refuted(unit: AnalystUnit) -> None:
    assert not _profile(unit, factor=6).audit().passes


@pytest.mark.audit
@pytest.mark.parametrize("kind", [PlainGame, PairCappedGame])
def test_games_without_the_right_cap_are_refuted(kind: type[SampledGame]) -> None:
    """No cap at all; and a cap on each query where an analyst of eight is to be hidden.

    With 1000 rounds the second was missed in one of eight runs (.972 of an epsilon of 1).
    """
    shape = RoundShape(UNIVERSE, 20, 8)
    honest = sampled_game(shape, s=15, protects=OneAnalyst())
    asked = [[FIRST] * 8, *[[]] * 19]
    case = Case(
        "game",
        game_round(honest, COUNTS),
        analyst_replaced(asked, analyst=0, queries=[]),
        honest.analysts,
        honest.delta(1),
        _late(honest),
        3 * TRIALS,
    )
    twin = replace(case, play=game_round(twin_of(kind, honest), COUNTS))
    check_pair(BrokenTwin("caps", case, twin, "an analyst's weight is not below 1/s"), Case.audit)


@pytest.mark.audit
def test_a_shared_cut_off_is_refuted() -> None:
    honest = _corrected()[0]
    shape = RoundShape(UNIVERSE, 3, 2)
    shared = SharedCutOff(shape=shape, size=SIZE, epsilon=20, cutoff=1, threshold=0.2)
    assert not replace(honest, play=correction_round(shared, COUNTS, EVEN)).audit().passes


def _published(game: Game, queries: QuerySet, counts: np.ndarray) -> np.ndarray:
    """The exact law of all cells that a tiny game publishes."""
    if not isinstance(game, SampledGame):
        return expected_views(game, queries, counts)  # type: ignore[arg-type]
    law: dict[tuple[int, ...], float] = {}
    for _, drawn, chance in sampled_views(game, queries, counts):
        law[drawn] = law.get(drawn, 0.0) + chance
    return np.array([law[key] for key in sorted(law)])


def _least_epsilon(first: np.ndarray, second: np.ndarray, delta: float) -> float:
    """The exact epsilon of two laws at ``delta``, from below."""
    low, high = 0.0, 50.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        least = max(
            hockey_stick(*pair, epsilon=middle) for pair in ((first, second), (second, first))
        )
        low, high = (middle, high) if least > delta else (low, middle)
    return low


def _audits(laws: list[np.ndarray], delta: float, rng: np.random.Generator) -> np.ndarray:
    """Lower bounds at 95 % of a thousand audits, each of a thousand fresh draws from both laws."""
    return np.array(
        [
            audit(
                lambda law, trials: rng.choice(len(law), size=trials, p=law),
                *laws,
                epsilon=0,
                delta=delta,
                events=LearnedEvents(outcome),
                trials=TRIALS,
                confidence=0.95,
            ).lower_bound
            for _ in range(1000)
        ]
    )


def _tiny(kind: str) -> tuple[Game, float, float]:
    """A game of three rounds over two cells, with its promise."""
    shape = shape_of(2, 2, 1)
    if kind == "sampled":
        game = sampled(shape, 4, 2, step_x=12, step_q=20)
        return game, 1.0, game.delta(1)
    second = expected(shape, 4, 2, step_x=12, step_q=20)
    promise = replace(second, randomness=SYSTEM).analysts
    return second, promise.epsilon(delta=0.01), 0.01


@pytest.mark.audit
@pytest.mark.parametrize("kind", ["sampled", "expected"])
def test_a_thousand_audits_of_exact_laws_never_contradict_the_promise(kind: str) -> None:
    """And of the least true epsilon at 95 %, few do: so the bounds are what they say.

    The generator is seeded; with fresh draws a false alarm would have probability below 1e-9.
    """
    game, epsilon, delta = _tiny(kind)
    silent = np.zeros((2, 2), dtype=np.uint8)
    loud = np.array([[255, 0], [0, 0]], dtype=np.uint8)
    laws = [
        _published(game, QuerySet(game.shape, rows), np.array([4, 0])) for rows in (silent, loud)
    ]
    rng = np.random.default_rng(20261116)
    assert _audits(laws, delta, rng).max() <= epsilon
    least = _least_epsilon(laws[0], laws[1], 0.01)
    bounds = _audits(laws, 0.01, rng)
    # 50 of 1000 are allowed; a binomial number passes 100 with probability below 1e-9.
    assert (bounds > least).sum() <= 100
    assert least / 6 < np.median(bounds) < least


@pytest.mark.audit
def test_the_reversed_sign_fails_the_accuracy_figures() -> None:
    """n = 1.6e4, s = 20, all 1760 three-way queries: the catalogue's .047/.0086 and .77/.16.

    Limits lie five standard deviations off the game's figures (.035 ± .005, .0079 ± .0008) and nine
    off the twin's (.80 ± .03, .158 ± .007): less than one false alarm in a million runs.
    """
    records, s = 16_000, 20
    counts = correlated(records, 12, np.random.default_rng(1))
    queries = conjunctions(12)
    reach = math.sqrt(8 * math.log(2 * queries.shape.queries / s))
    rounds = int(math.sqrt(24 * 0.024356) * records / reach)
    right = SampledGame(
        shape=queries.shape,
        size=PublicCount(records),
        s=s,
        rounds=rounds,
        batch_x=1,
        batch_q=1,
        step_x=math.sqrt(8 * math.log(queries.cells) / rounds),
        step_q=reach / math.sqrt(rounds),
        protects=OneQuery(),
        promise=None,
    )
    truth = queries.means(counts)
    first, second = (
        np.abs(queries.means(game.release(counts, queries).counts) - truth)
        for game in (right, twin_of(ReversedGame, right))
    )
    assert (first.max() < 0.065, first.mean() < 0.012) == (True, True)
    assert (second.max() > 0.5, second.mean() > 0.09) == (True, True)
