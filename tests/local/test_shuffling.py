"""Shuffled rounds: what leaves has no order or nonce, and the price holds for real clients."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet import local
from discreet.audit import min_delta
from discreet.core.errors import InvalidParameter, NotPrivate
from discreet.local.shuffling import shuffle, shuffled_event
from discreet.noise import Seeded
from tests.local.enumeration import law
from tests.local.examples import collection, oracles

Law = dict[object, Fraction]


def multiset_law(laws: list[dict[str, Fraction]], marks: list[str] | None = None) -> Law:
    """The law of the multiset of several people's reports, each with a mark that stays on it."""
    found: Law = {}
    for told in product(*(each.items() for each in laws)):
        chance = Fraction(1)
        for _, part in told:
            chance *= part
        seen = [(marks[i] if marks else "", report) for i, (report, _) in enumerate(told)]
        key = tuple(sorted(Counter(seen).items()))
        found[key] = found.get(key, Fraction(0)) + chance
    return found


def worst_delta(epsilon: float, people: int, asked: local.Collection, *, marks: bool) -> float:
    laws = [law(asked.schema, value) for value in range(3)]
    names = [str(i) for i in range(people)] if marks else None
    worst = 0.0
    for others in product(range(3), repeat=people - 1):
        rest = [laws[value] for value in others]
        for one, two in ((0, 1), (0, 2), (1, 2)):
            pair = [multiset_law([laws[own], *rest], names) for own in (one, two)]
            worst = max(worst, min_delta(pair[0], pair[1], epsilon=epsilon))
    return worst


@pytest.mark.parametrize("epsilon", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("kind", ["direct", "subset", "hadamard"])
def test_the_price_of_shuffling_holds_for_the_real_clients(kind: str, epsilon: float) -> None:
    asked = collection(oracles(1, 3)[kind])
    people = 2 if kind == "hadamard" else 3
    stated = shuffled_event(asked, people=people).delta(epsilon=epsilon)
    assert worst_delta(epsilon, people, asked, marks=False) <= stated


def test_a_mark_that_stays_on_reports_is_caught() -> None:
    """The broken twin: a nonce, an order or a memoised report tells whose report it is."""
    asked = collection(oracles(1, 3)["direct"])
    stated = shuffled_event(asked, people=3).delta(epsilon=0.8)
    assert worst_delta(0.8, 3, asked, marks=True) > stated


def test_memoised_and_seeded_reports_earn_nothing() -> None:
    with pytest.raises(InvalidParameter, match="local_shuffled_memory"):
        shuffled_event(collection(oracles(1)["direct"], memoised=True), people=100)
    seeded = local.DirectEncoding(epsilon=1, domain=5, randomness=Seeded(0))
    with pytest.raises(NotPrivate, match="local_shuffled_test_mode"):
        shuffled_event(collection(seeded), people=100)


@pytest.mark.parametrize("given", [oracles(1)["direct"], None, "survey", 3])
def test_what_is_no_collection_is_refused_by_name(given: Any) -> None:
    with pytest.raises(InvalidParameter, match="not_a_local_randomiser"):
        shuffled_event(given, people=100)
    with pytest.raises(InvalidParameter, match="not_a_local_randomiser"):
        shuffle(given, [], people=100)


def test_a_round_has_the_reports_without_order_and_nonce() -> None:
    asked = collection(oracles(3)["direct"])
    client = asked.client()
    reports = [client.privatize(i % 5) for i in range(300)]
    found = shuffle(asked, [*reports, "junk", reports[0]], people=300)
    sent = [json.loads(report)["report"] for report in reports]
    assert sorted(sent) == sorted(found.batch.columns["value"].tolist())
    assert sent != found.batch.columns["value"].tolist()
    assert (found.rejected.malformed, found.rejected.replayed) == (1, 1)
    assert found.event == shuffled_event(asked, people=300)
    assert np.all(asked.oracle.valid(found.batch))
    with pytest.raises(InvalidParameter, match="local_shuffle_too_few"):
        shuffle(asked, reports, people=301)
