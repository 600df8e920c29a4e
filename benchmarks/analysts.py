"""Analyst privacy: every option on the same tables, its price, and what the games take.

Errors are of shares, over a hundred thousand random three-way conjunctions of a thousand analysts
on twelve bits, at (1, 1e-6) for data and for one query of one analyst. Games spend seven tenths of
the data budget; the rest would be for corrections, which are not made here. MWEM hides no analyst:
what is asked decides what it measures. It is there for the price of analyst privacy.
"""

from __future__ import annotations

import resource
import sys
from statistics import median

from analysts_data import adult_bits, reference_counts
from analysts_figure import Price, draw
from analysts_rates import rates
from analysts_releases import Errors, Trial
from timing import Figure

from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.guarantee import OneAnalyst
from discreet.queries.analysts.planning_game import BETA
from discreet.queries.analysts.sampled_game import SampledGame

SIZES = (10_000, 100_000, 1_000_000)
MAIN = 100_000
RELEASES = 5
CROWD = 10_000
NEVER = float("inf")


def figures() -> list[Figure]:
    """All figures of this suite."""
    found: list[Figure] = []
    prices: list[Price] = []
    for records in SIZES:
        part = compared(f"analysts/n={records:g}", Trial(reference_counts(records)))
        prices += [
            Price(records, *each.name.split("/")[3:], each.value)
            for each in part
            if "/price/" in each.name
        ]
        found += part
    try:
        found += compared("analysts/adult", Trial(adult_bits()))
    except FileNotFoundError as reason:
        found.append(
            Figure(name="analysts/adult", values=(), unit="share", remark=f"MISSING {reason}")
        )
    draw(prices)
    return found + grouped() + rates()


def grouped() -> list[Figure]:
    """The game that hides analysts, ten thousand of them with ten queries each, and its bound."""
    name = f"analysts/{CROWD:g} analysts"
    trial = Trial(reference_counts(SIZES[-1]), analysts=CROWD, protects=OneAnalyst())
    plan = trial.plan()
    option = next(each for each in plan.ranked if each.name == "sampled game")
    if not isinstance(option.mechanism, SampledGame):
        return [Figure(name=name, values=(), unit="share", remark=option.refusal)]
    played = trial.game(option.mechanism)
    worst = Errors(played.errors.reshape(CROWD, -1).max(axis=1), played.seconds)
    return [
        *errors_of(f"{name}/sampled game", [played], (NEVER, NEVER)),
        *promised(f"{name}/sampled game", option.mechanism, worst),
        Figure(
            name=f"{name}/planned/predicted",
            values=(plan.chosen.largest,),
            unit="share",
            remark=plan.chosen.name,
        ),
    ]


def compared(name: str, trial: Trial) -> list[Figure]:
    """All options on one table."""
    print(name, end=" ", file=sys.stderr, flush=True)
    plan = trial.plan()
    done: dict[str, list[Errors]] = {}
    found: list[Figure] = []
    for option in plan.ranked:
        title = f"{name}/{option.name}"
        if option.refusal:
            found.append(Figure(name=title, values=(), unit="share", remark=option.refusal))
            continue
        if isinstance(option.mechanism, SampledGame | ExpectedGame):
            played = trial.game(option.mechanism)
            done[option.name] = [played]
            aimed = trial.records == MAIN and isinstance(option.mechanism, SampledGame)
            found += errors_of(title, [played], (0.15, 0.02) if aimed else (NEVER, NEVER))
            found += promised(title, option.mechanism, played)
        else:
            done[option.name] = [trial.run(option) for _ in range(RELEASES)]
            found += errors_of(title, done[option.name], (NEVER, NEVER))
        print(".", end="", file=sys.stderr, flush=True)
    done["mwem"] = [trial.mwem() for _ in range(RELEASES)]
    found += errors_of(f"{name}/mwem", done["mwem"], (NEVER, NEVER))
    chosen = done[plan.chosen.name]
    independent = [
        middle(done[option.name], "largest")
        for option in plan.ranked
        if option.name in done and option.analysts.perfect
    ]
    main = trial.records == MAIN
    found += [
        Figure(
            name=f"{name}/planned/largest",
            values=[each.largest for each in chosen],
            unit="share",
            at_most=0.006 if main else NEVER,
            remark=plan.chosen.name,
        ),
        Figure(
            name=f"{name}/planned/mean",
            values=[each.mean for each in chosen],
            unit="share",
            at_most=0.0015 if main else NEVER,
        ),
        Figure(
            name=f"{name}/planned over best independent",
            values=(middle(chosen, "largest") / min(independent),),
            unit="x",
            at_most=1.2,
        ),
    ]
    for kind in ("largest", "mean"):
        below = middle(done["mwem"], kind)
        price = {"planned": chosen} | {
            key: each for key, each in done.items() if key == "sampled game"
        }
        found += [
            Figure(
                name=f"{name}/price/{key}/{kind}", values=(middle(each, kind) / below,), unit="x"
            )
            for key, each in price.items()
        ]
    print(file=sys.stderr)
    return found


def errors_of(name: str, releases: list[Errors], aims: tuple[float, float]) -> list[Figure]:
    """Largest and mean error, and what is aimed at."""
    return [
        Figure(
            name=f"{name}/largest",
            values=[each.largest for each in releases],
            unit="share",
            at_most=aims[0],
        ),
        Figure(
            name=f"{name}/mean",
            values=[each.mean for each in releases],
            unit="share",
            at_most=aims[1],
        ),
    ]


def promised(name: str, game: SampledGame | ExpectedGame, errors: Errors) -> list[Figure]:
    """A game's promise, and what it took."""
    alpha = game.alpha(beta=BETA)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return [
        Figure(name=f"{name}/alpha", values=(alpha,), unit="share"),
        Figure(
            name=f"{name}/s-th over alpha",
            values=(errors.ranked(game.s) / alpha,),
            unit="x",
            at_most=1,
        ),
        Figure(
            name=f"{name}/seconds",
            values=(errors.seconds,),
            unit="s",
            at_most=120 if isinstance(game, SampledGame) else NEVER,
        ),
        Figure(name=f"{name}/peak", values=(peak,), unit="GiB", at_most=2),
    ]


def middle(releases: list[Errors], kind: str) -> float:
    """The median of some releases."""
    return median(getattr(each, kind) for each in releases)
