"""A verb is written the same way here and at a service; what only one of them has is named."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from typing import Any

import pytest

import discreet as dp
from discreet.client import RemoteCurator
from discreet.core.errors import DiscreetError
from discreet.synthetic.mechanism_words import MechanismWord, mechanism_of, word_of

OWN_TABLES = {
    *("explain", "ibis", "simulate", "learn_limits", "with_max_rows_per", "space"),
    *("release", "open", "stream", "evaluate_synthetic", "preview_synthesis"),
}
"""What runs where the tables are: mechanisms and sources of one's own among them."""
OWNER = {
    *("amend", "record", "keep_snapshot", "same_snapshot", "ledger", "analyst_spending"),
    *("child", "partition", "blocks"),
}
"""What is the data owner's."""
SERVICE = {
    *("accounts", "schema", "releases", "stored", "statement", "rounds", "answer", "cancel"),
}
"""What only a service has: several budgets, answers that it stores, and jobs that go on."""


def verbs(kind: type) -> dict[str, Any]:
    return {name: verb for name, verb in inspect.getmembers(kind) if not name.startswith("_")}


def written(verb: Any) -> list[tuple[str, str]]:
    parameters = inspect.signature(verb).parameters.values() if callable(verb) else ()
    return [(each.name, each.kind.name) for each in parameters]


def test_a_verb_has_one_signature_here_and_at_a_service() -> None:
    here, there = verbs(dp.Curator), verbs(RemoteCurator)
    both = here.keys() & there.keys()
    assert len(both) >= 20
    assert {n: written(here[n]) for n in both} == {n: written(there[n]) for n in both}


def test_defaults_are_the_same_but_for_who_asks() -> None:
    here, there = verbs(dp.Curator), verbs(RemoteCurator)
    for name in here.keys() & there.keys():
        if callable(here[name]):
            ours, theirs = (
                inspect.signature(verb).parameters for verb in (here[name], there[name])
            )
            different = {n for n in ours if ours[n].default != theirs[n].default}
            assert different <= {"analyst"}, name


def test_what_only_one_of_them_has_is_listed() -> None:
    here, there = verbs(dp.Curator), verbs(RemoteCurator)
    assert here.keys() - there.keys() == OWN_TABLES | OWNER
    assert there.keys() - here.keys() == SERVICE


class _Nobody:
    """An asker that must not be asked."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(name)


def remote() -> Any:
    nobody: Any = _Nobody()
    return RemoteCurator(nobody, name="ann", purpose=None, account=None)


SPEND = dp.PureDP(epsilon=1)
ROUND: dict[str, Any] = {
    "analysts": ["ann"],
    "queries_each": 1,
    "spend": SPEND,
    "protects": object(),
    "promise": dp.ApproxDP(epsilon=1, delta=1e-6),
}
NOT_OFFERED: dict[str, Callable[[Any], object]] = {
    "constraints": lambda c: c.synthesize("visits", spend=SPEND, constraints=[object()]),
    "public": lambda c: c.synthesize("visits", spend=SPEND, public={}),
    "progress": lambda c: c.synthesize("visits", spend=SPEND, progress=print),
    "bins_share": lambda c: c.synthesize("visits", spend=SPEND, bins_share=Fraction(1, 5)),
    "columns": lambda c: c.synthesize("visits", spend=SPEND, columns={"age": object()}),
    "bins": lambda c: c.synthesize("visits", spend=SPEND, bins=dp.synthetic.PrivateBins(4, of=8)),
    "a word": lambda c: c.synthesize("visits", spend=SPEND, mechanism="mst"),
    "another mechanism": lambda c: c.synthesize("visits", spend=SPEND, mechanism=print),
    "people": lambda c: c.synthesize_tables("a", ["b"], spend=SPEND, mechanism=dp.synthetic.AIM),
    "rules": lambda c: c.preview_tables("a", ["b"], spend=SPEND, constraints={"a": [object()]}),
    "topics": lambda c: c.round(None, **ROUND, topics=3),
    "limit": lambda c: c.round(None, **ROUND, limit=ROUND["promise"]),
    "corrections": lambda c: c.round(None, **ROUND, corrections=2),
    "a stream": lambda c: c.resume("0" * 32, clock=datetime.now(UTC)),
}


@pytest.mark.parametrize("name", NOT_OFFERED)
def test_what_a_service_does_not_offer_is_refused_before_anything_is_sent(name: str) -> None:
    with pytest.raises(DiscreetError) as caught:
        NOT_OFFERED[name](remote())
    assert caught.value.code == "not_offered"


@pytest.mark.parametrize("word", MechanismWord)
def test_a_mechanism_and_its_word_mean_each_other(word: MechanismWord) -> None:
    assert word_of(mechanism_of(word)) is word


def test_a_mechanism_with_options_of_its_own_has_no_word() -> None:
    assert word_of(partial(dp.synthetic.AIM, max_size=9)) is None
    assert word_of(partial(dp.synthetic.MWEMPGM, rounds=3)) is None
    assert word_of("mst") is None
