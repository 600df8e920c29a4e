"""``curator.round`` as its analysts see it: all others together against one of them.

Run by ``make audit``: hundreds of whole rounds in each world, from opening to results. What runs is
planned once, as it depends on public facts alone. False alarms: 1e-9 per audit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable

import numpy as np
import polars as pl
import pytest

import discreet as dp
from discreet.audit.analysts import (
    JointView,
    RoundView,
    analyst_replaced,
    audit_analysts,
)
from discreet.curator.rounds import AnalystResults
from discreet.curator.rounds import open as opening
from discreet.curator.rounds.plan import Facts, RoundMechanism, RoundPlan, plan
from discreet.queries.analysts.baselines import PaddedNoise
from discreet.queries.analysts.guarantee import AnalystGuarantee, OneAnalyst
from discreet.queries.analysts.profiled_marginals import ProfiledMarginals
from discreet.queries.analysts.query_class import AnyQuery, Conjunctions, QueryClass

Conditions = dict[str, str]
ANALYSTS = ("ann", "bob", "cid")
PEOPLE = pl.DataFrame({"a": ["x"] * 30 + ["y"] * 20, "b": ["u"] * 25 + ["v"] * 25})
WORLDS = analyst_replaced(
    [[{"a": "x"}, {"a": "y"}], [{"a": "x"}, {"b": "u"}], [{"b": "u"}]], analyst=0, queries=[]
)
"""Ann asks about one attribute twice, or never submits."""


def _round(
    kind: type, asked: QueryClass
) -> tuple[Callable[[tuple[tuple[Conditions, ...], ...]], RoundView], AnalystGuarantee]:
    columns = {"a": dp.Category(["x", "y"]), "b": dp.Category(["u", "v"])}
    table = dp.table(PEOPLE, unit=dp.Replace(dp.Row()), columns=columns, snapshot="one")
    curator = dp.Curator(
        people=table,
        budget=dp.ApproxDP(epsilon=10_000, delta=0.1),
        ledger=dp.ledger.Memory(),
    )
    promises: list[AnalystGuarantee] = []

    def play(submitted: tuple[tuple[Conditions, ...], ...]) -> RoundView:
        opened = curator.round(
            curator.universe("people", "a", "b"),
            analysts=ANALYSTS,
            queries_each=2,
            spend=dp.ApproxDP(epsilon=2, delta=1e-5),
            protects=OneAnalyst(),
            promise=dp.ApproxDP(epsilon=1, delta=0.01),
            mechanism=kind,
            asked=asked,
        )
        promises.append(opened.plan().analysts)
        for name, queries in zip(ANALYSTS, submitted, strict=True):
            if queries:
                opened.submit(name, list(queries))
        results = opened.close()
        return RoundView(own=tuple(map(results.for_analyst, ANALYSTS)))

    play(WORLDS.first)
    return play, promises[0]


def _answers(view: JointView) -> Hashable:
    """The others' answers, in steps of about the noise."""
    others: tuple[AnalystResults, ...] = view.others
    return tuple(np.floor(np.concatenate([each.answers for each in others]) / 10).tolist())


def _sharper(view: JointView) -> Hashable:
    """By how much the attribute that ann cares about was measured better than the other."""
    others: tuple[AnalystResults, ...] = view.others
    first, second = np.abs(others[0].answers - np.array([30, 25]))
    return round(2 * math.log2((first + 0.01) / (second + 0.01)))


@pytest.mark.audit
@pytest.mark.parametrize(
    ("kind", "asked", "watch", "trials"),
    [
        (PaddedNoise, AnyQuery(), _answers, 500),
        (ProfiledMarginals, Conjunctions(1), _sharper, 250),
    ],
)
def test_a_round_tells_others_no_more_than_was_promised(
    kind: type,
    asked: QueryClass,
    watch: Callable[[JointView], Hashable],
    trials: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    planned: dict[type | None, tuple[RoundPlan, RoundMechanism]] = {}

    def once(facts: Facts, wanted: type | None) -> tuple[RoundPlan, RoundMechanism]:
        if wanted not in planned:
            planned[wanted] = plan(facts, wanted)
        return planned[wanted]

    monkeypatch.setattr(opening, "plan", once)
    play, promise = _round(kind, asked)
    assert promise.perfect == (kind is PaddedNoise)
    found = audit_analysts(
        play,
        WORLDS,
        promise=promise,
        delta=0.01,
        watch=watch,
        trials=trials,
        confidence=1 - 1e-9,
    )
    assert found.passes, str(found)
