"""Conversations and rounds that were left open by earlier versions, whose noise follows from rules.

What goes on over several calls is made again from its spend. ``kept_sessions/then-*`` were written
by the version that planned by the prices of old and knew normal noise alone;
``kept_sessions/between-*`` by the one that compared Laplace noise with it in some places. Neither
wrote down by which rule it went. ``*.json`` say what was opened. They are never written again: what
later versions make of them is the test. To make a set for another version, run this file with it::

    python -m tests.curator.golden.sessions FOLDER

All people are invented, and the keys guard nothing.
"""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

import discreet as dp
from discreet.queries.analysts.baselines import NoisyHistogram, PaddedNoise
from discreet.queries.analysts.expected_game import ExpectedGame
from discreet.queries.analysts.guarantee import OneAnalyst, OneQuery
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.public_marginals import PublicMarginals
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.analysts.sampled_game import SampledGame
from discreet.queries.online.pmw import private_gap_weights, private_multiplicative_weights

PEOPLE = 400
WARDS = ("A", "B", "C")
PAIR = dp.ApproxDP(epsilon=3, delta=1e-4)
RHO = dp.ZCDP(rho=6)
PROMISE = dp.ApproxDP(epsilon=1, delta=1e-6)
SUBMITTED: list[Any] = [{"ward": "B"}, {"ward": ["A", "C"]}]

PLACES: dict[str, tuple[Any, Any]] = {
    "pairs-rows": (dp.Row(), dp.ApproxDP(epsilon=500, delta=1e-1)),
    "pairs-exchanged": (dp.Replace(dp.Row()), dp.ApproxDP(epsilon=500, delta=1e-1)),
    "rho-rows": (dp.Row(), dp.ZCDP(rho=10_000)),
    "rho-exchanged": (dp.Replace(dp.Row()), dp.ZCDP(rho=10_000)),
}
"""Units and budgets."""

_GAME: dict[str, Any] = {
    "analysts": [f"n{place}" for place in range(40)],
    "queries_each": 10,
    "spend": dp.ZCDP(rho=2000),
    "promise": dp.ApproxDP(epsilon=40, delta=1e-2),
}
_TWO: dict[str, Any] = {"asked": Conjunctions(2)}


def people() -> pl.DataFrame:
    """Rows whose values follow from their numbers."""
    return pl.DataFrame(
        {
            "ward": [WARDS[place % 7 % 3] for place in range(PEOPLE)],
            "age": [place % 5 % 4 for place in range(PEOPLE)],
            "sex": ["fm"[place % 3 % 2] for place in range(PEOPLE)],
        }
    )


def curator(path: Path) -> dp.Curator:
    """The one whose ledger is at ``path``, which is named after its place."""
    unit, budget = PLACES[path.stem.split("-", 1)[1]]
    columns: dict[str, Any] = {
        "ward": dp.Category(WARDS),
        "age": dp.Number(0, 3),
        "sex": dp.Category(["f", "m"]),
    }
    table = dp.table(people(), unit=unit, columns=columns, snapshot="one")
    return dp.Curator(people=table, budget=budget, ledger=path)


def spends(place: str) -> list[Any]:
    """What may be spent there, but for pure spends."""
    return [PAIR, RHO] if place.startswith("rho") else [PAIR]


def talks(place: str) -> dict[str, tuple[Any, Any]]:
    """Conversations: what makes them, and at which spend."""
    about: dict[str, Any] = {} if place.endswith("exchanged") else {"about": PEOPLE}
    makers = {
        "gap": partial(private_gap_weights, updates=6, **about),
        "fixed": partial(private_multiplicative_weights, **about),
    }
    pure = {"pure gap": (makers["gap"], dp.PureDP(epsilon=50))}
    return pure | {
        f"{name} {type(spend).__name__}": (make, spend)
        for name, make in makers.items()
        for spend in [*spends(place), dp.ApproxDP(epsilon=40, delta=1e-3)][-2:]
    }


def rounds(place: str) -> dict[str, dict[str, Any]]:
    """Rounds: with what they are opened."""
    found: dict[str, dict[str, Any]] = {}
    for spend in spends(place):
        for name, more in _rounds(place).items():
            found[f"{name} {type(spend).__name__}"] = {"spend": spend, **more}
    if place == "rho-exchanged":
        found["expected"] = {**_GAME, "mechanism": ExpectedGame, "spend": dp.ZCDP(rho=20)}
        found["corrected"] = {**_GAME, "mechanism": SampledGame, "corrections": 2}
    return found


def _rounds(place: str) -> dict[str, dict[str, Any]]:
    if place.endswith("rows"):
        return {"cells": {}, "marginals": _TWO}
    return {
        "padded": {"mechanism": PaddedNoise},
        "histogram": {"mechanism": NoisyHistogram},
        "marginals": {"mechanism": PublicMarginals, **_TWO},
        "profiled": {"mechanism": ProfiledMarginals, **_TWO},
        "profiled analysts": {"mechanism": ProfiledMarginals, "protects": OneAnalyst(), **_TWO},
        "free": {},
    }


def opened(source: Any, **given: Any) -> Any:
    """A round about all attributes."""
    return opened_about(source.universe("people", "ward", "age", "sex"), source, **given)


def opened_about(universe: Any, source: Any, **given: Any) -> Any:
    """A round about some."""
    usual: dict[str, Any] = {
        "spend": PAIR,
        "analysts": ["ann", "bob"],
        "queries_each": 3,
        "protects": OneQuery(),
        "promise": PROMISE,
    }
    return source.round(universe, **(usual | given))


def write(folder: Path) -> None:
    """Open everything, say a little, and leave."""
    for place in PLACES:
        told: dict[str, Any] = {"talks": {}, "rounds": {}}
        path = folder / f"now-{place}.sqlite"
        with curator(path) as source:
            universe = source.universe("people", "ward", "age")
            for name, (make, spend) in talks(place).items():
                talk = source.converse(universe, mechanism=make, spend=spend, questions=40)
                replies = [talk.ask("ward", ward).count for ward in WARDS]
                told["talks"][name] = [talk.id, talk.asked, talk.left, replies]
            for name, given in rounds(place).items():
                about = opened(source, **given)
                about.submit(given.get("analysts", ["ann"])[0], SUBMITTED)
                told["rounds"][name] = about.id
            told["spent"] = [str(amount) for amount in source.ledger.spent()]
            told["head"] = str(source.ledger.checkpoint())
        key = path.with_name(f"{path.name}.key")
        key.write_bytes(key.read_bytes()[:32])  # the secret alone: a fence names the place
        path.with_suffix(".json").write_text(json.dumps(told, indent=1), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
