"""Analyst privacy on larger universes: twelve, fourteen and sixteen bits, in the same run.

Queries and budgets are those of ``analysts``: a hundred thousand random three-way conjunctions,
(1, 1e-6) for data and for one query. Rows of the queries would take 6.1 GiB at sixteen bits, and
games hold two copies; here they are never written down, and the first figure counts what a game
reads of them otherwise than of rows.

The planner refuses games at sixteen bits for their memory, so that its settings are taken without
asking it. The expected game has the rounds that a minute is enough for with twelve bits and rows.
The setting of analysts-verified:H8b may be wrong about .62 of all queries, more than the planner
permits; its H_x is 495 instead of 500, which the programme confirms.

Runs only when asked for: ``make bench only=analysts_universes``; seven minutes of a processor.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
from analysts import MAIN, NEVER, errors_of, promised
from analysts_data import conjunctions, query_rows, reference_counts, reference_universe
from analysts_halves import HalvedConjunctions
from analysts_releases import LEVELS, SPEND, Errors, Trial
from timing import Figure

from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.guarantee import OneQuery
from discreet.queries.analysts.planning_game import (
    GameSetting,
    expected_setting,
    sampled_setting,
)
from discreet.queries.analysts.planning_rounds import (
    asked_of,
    budget_of,
    expected_game,
    sampled_game,
)
from discreet.queries.analysts.query_set import QuerySet, RoundShape
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.record_count import PublicCount

BITS = (12, 14, 16)
SIZES = (MAIN, 1_000_000)
RELEASES = 3
EXPECTED_ROUNDS = 292
OPTIONS = ("public marginals", "noisy histogram", "independent noise")
SUITE = "analysts_universes"


def figures() -> list[Figure]:
    """Every option on every universe."""
    return [same_as_rows()] + [
        figure for records in SIZES for bits in BITS for figure in compared(records, bits)
    ]


def same_as_rows(queries: int = 2000, cells: int = 20) -> Figure:
    """How much of what a game reads differs between halved conjunctions and their rows."""
    places, values = conjunctions(queries)
    shape = RoundShape(reference_universe(), queries, 1)
    halved = HalvedConjunctions(shape, np.hstack([places, values]).astype(np.uint8))
    rows = QuerySet(shape, query_rows(places, values) * LEVELS)
    counts = reference_counts(MAIN)
    numbers = np.random.default_rng(2)
    drawn = numbers.integers(0, counts.size, cells)
    net = numbers.integers(-3, 4, queries).astype(np.float32)
    pairs = (
        (halved.sums(counts), rows.sums(counts)),
        (halved.at(drawn), rows.at(drawn)),
        (halved.along(net), rows.along(net)),
    )
    differ = sum(int((mine != theirs).sum()) for mine, theirs in pairs)
    return Figure(name=f"{SUITE}/halved unlike rows", values=(differ,), unit="numbers", at_most=0)


def compared(records: int, bits: int) -> list[Figure]:
    """All options on one table."""
    name = f"{SUITE}/n={records:g}/bits={bits}"
    print(name, end=" ", file=sys.stderr, flush=True)
    trial = Trial(reference_counts(records, bits=bits), halved=True)
    even = Errors(np.abs(trial.shares(np.ones(1 << bits)) - trial.truth), 0.0)
    done = {"uniform": [even]}
    for option in trial.plan().ranked:
        if option.name in OPTIONS:
            done[option.name] = [trial.run(option) for _ in range(RELEASES)]
    pairs = math.comb(bits, 2)
    done["all two-way marginals, fitted"] = [trial.mwem(2, pairs) for _ in range(RELEASES)]
    done["mwem"] = [trial.mwem() for _ in range(RELEASES)]
    found = [
        figure
        for option, releases in done.items()
        for figure in errors_of(f"{name}/{option}", releases, (NEVER, NEVER))
    ]
    print(".", end="", file=sys.stderr, flush=True)
    for title, game in games(trial).items():
        if isinstance(game, str):
            found.append(
                Figure(name=f"{name}/{title}", values=(), unit="share", remark=f"refused: {game}")
            )
            continue
        played = trial.game(game)
        found += errors_of(f"{name}/{title}", [played], (NEVER, NEVER))
        found += promised(f"{name}/{title}", game, played)
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return found


def games(trial: Trial) -> dict[str, SampledGame | ExpectedGame | str]:
    """The planner's two games, whatever memory rows would take, and the sampled game of H8b."""
    facts = trial.facts()
    asked, budget = asked_of(facts), budget_of(facts)
    sampled = sampled_setting(asked, replace(budget, rounds=facts.rounds))
    expected = expected_setting(asked, replace(budget, rounds=EXPECTED_ROUNDS))
    found: dict[str, SampledGame | ExpectedGame | str] = {
        "sampled game": useless(sampled) or sampled_game(facts, sampled),
        "expected game": useless(expected) or expected_game(facts, expected),
    }
    if trial.records == MAIN:
        found["sampled game, setting of H8b"] = cited(facts.universe.shape, trial.records)
    return found


def useless(setting: GameSetting) -> str:
    """Why the planner would refuse a game for its promise, or nothing."""
    return f"its promise, {setting.error:.2g}, says nothing" if setting.error >= 1 else ""


def cited(shape: tuple[int, ...], records: int) -> SampledGame:
    """H8b's best of several at a hundred thousand records: no price depends on the universe."""
    rounds = 400
    return SampledGame(
        shape=RoundShape(reference_universe(len(shape)), 1000, 100),
        size=PublicCount(records),
        s=61_859,
        rounds=rounds,
        batch_x=10,
        batch_q=2474,
        step_x=495 / rounds,
        step_q=64 / rounds,
        protects=OneQuery(),
        promise=SPEND,
    )
