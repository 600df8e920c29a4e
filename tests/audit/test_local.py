"""Local reports face the auditor, memory and shuffling too. False alarms: 1e-9 per case."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import local
from discreet.audit import BrokenTwin, LearnedEvents, audit, check_pair
from discreet.audit.testers import Finding, outcome, repeated
from discreet.local.client import Client
from discreet.local.oracle import FrequencyOracle
from discreet.local.shuffling import shuffle, shuffled_event
from tests.local.examples import collection, oracles, rappor

CONFIDENCE = 1 - 1e-9
Many = Callable[[Any, int], Any]


def together(oracle: FrequencyOracle) -> Many:
    """Reports drawn together, as tuples of their columns."""

    def release(value: int, trials: int) -> list[Any]:
        batch = oracle.privatize_many(np.full(trials, value))
        columns = [batch.columns[field.name] for field in oracle.fields]
        return [
            tuple(part.tobytes() if part.ndim else int(part) for part in row)
            for row in zip(*columns, strict=True)
        ]

    return release


def refuted(
    release: Many, *, x: Any, y: Any, epsilon: float, trials: int, delta: float = 0
) -> Finding:
    return audit(
        release,
        x,
        y,
        epsilon=epsilon,
        delta=delta,
        events=LearnedEvents(outcome),
        trials=trials,
        confidence=CONFIDENCE,
    )


@pytest.mark.audit
@pytest.mark.parametrize(
    "kind", ["direct", "optimized_unary", "symmetric_unary", "hadamard", "subset", "bloom"]
)
def test_reports_keep_their_epsilon_and_no_sixth_of_it(kind: str) -> None:
    twin = BrokenTwin(
        kind,
        sound=together(oracles(1)[kind]),
        broken=together(oracles(6)[kind]),
        why="chances of six times the epsilon",
    )
    check_pair(twin, lambda each: refuted(each, x=0, y=1, epsilon=1, trials=60_000))


def week(asked: local.Collection, reports: int) -> Many:
    """What one device sends in a week, from a fresh memory each trial."""

    def one(value: int) -> str:
        client = asked.client()
        told = [json.loads(client.privatize(value))["report"] for _ in range(reports)]
        return json.dumps(told)

    return repeated(one)


@pytest.mark.audit
def test_memoised_reports_of_a_week_cost_what_one_costs() -> None:
    direct = local.DirectEncoding(epsilon=1, domain=2)
    twin = BrokenTwin(
        "memory",
        sound=week(collection(direct, memoised=True), 5),
        broken=week(collection(direct), 5),
        why="a fresh report each day",
    )
    check_pair(twin, lambda each: refuted(each, x=0, y=1, epsilon=1, trials=30_000))


class KeepsAll(Client):
    """The broken twin: the old report is sent again when a value returns."""

    def _payload(self, index: int) -> Any:
        past = self.memory.setdefault("past", {})
        if index not in past:
            past[index] = super()._payload(index)
        return past[index]


def returning(kind: type[Client]) -> Many:
    """Whether the third report of a course of values is the first: all that is looked at."""
    direct = local.DirectEncoding(epsilon=Fraction(1, 4), domain=16)
    schema = collection(direct, memoised=True).schema

    def one(course: tuple[int, ...]) -> bool:
        client = kind(schema)
        told = [json.loads(client.privatize(value))["report"] for value in course]
        return bool(told[0] == told[2])

    return repeated(one)


@pytest.mark.audit
def test_a_return_to_an_earlier_value_does_not_show() -> None:
    """Three draws at a quarter each, for courses that change at the same times."""
    twin = BrokenTwin(
        "return",
        sound=returning(Client),
        broken=returning(KeepsAll),
        why="equal reports show that the value returned",
    )
    check_pair(
        twin, lambda each: refuted(each, x=(1, 2, 1), y=(1, 2, 3), epsilon=0.75, trials=10_000)
    )


@pytest.mark.audit
def test_rappor_keeps_its_lifetime_promise() -> None:
    small = local.Rappor(epsilon=2, once=1, domain=2, cells=2, hashes=1, cohorts=1, seed=2)
    forgetful = local.Rappor(epsilon=16, once=1, domain=2, cells=2, hashes=1, cohorts=1, seed=2)
    twin = BrokenTwin(
        "rappor",
        sound=week(collection(small), 12),
        broken=week(collection(forgetful), 12),
        why="the kept bits are the truth, only single reports are noisy",
    )

    def ones(release: Many) -> Many:
        """Only how often the first bit was set: the rest is noise."""
        return lambda value, trials: [
            sum(int(bits, 16) & 1 for _, bits in json.loads(told))
            for told in release(value, trials)
        ]

    check_pair(twin, lambda each: refuted(ones(each), x=0, y=1, epsilon=2, trials=12_000))
    assert rappor(2, 1).support_chances[0] < 1


@pytest.mark.audit
def test_shuffled_rounds_keep_their_price_and_marked_ones_do_not() -> None:
    asked = collection(local.DirectEncoding(epsilon=2, domain=2))
    people, epsilon = 40, 0.7
    delta = shuffled_event(asked, people=people).delta(epsilon=epsilon)

    def honest(value: int) -> int:
        client = asked.client()
        reports = [client.privatize(each) for each in [value, *[0] * (people - 1)]]
        return int(shuffle(asked, reports, people=people).batch.columns["value"].sum())

    def marked(value: int) -> tuple[int, int]:
        client = asked.client()
        reports = [client.privatize(each) for each in [value, *[0] * (people - 1)]]
        own = json.loads(reports[0])["report"]  # the collector knows this nonce
        return own, sum(json.loads(report)["report"] for report in reports)

    twin = BrokenTwin(
        "shuffling",
        sound=repeated(honest),
        broken=repeated(marked),
        why="a nonce that stays tells whose report it is",
    )
    check_pair(
        twin, lambda each: refuted(each, x=0, y=1, epsilon=epsilon, delta=delta, trials=12_000)
    )
