"""A ledger of the first release: the same head, everything paid for is free, all goes on."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import DiscreetError, Exhausted
from tests.curator.golden import hospital
from tests.curator.golden.hospital import CARE

HERE = Path(__file__).parent
TOLD: dict[str, Any] = json.loads((HERE / hospital.TOLD).read_text(encoding="utf-8"))
SPENT = tuple(map(int, TOLD["spent"]))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name in (hospital.NAME, f"{hospital.NAME}.key"):
        shutil.copyfile(HERE / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    return tmp_path / hospital.NAME


@pytest.fixture
def source(place: Path) -> Iterator[dp.Curator]:
    with hospital.curator(place) as opened:
        yield opened


@pytest.fixture
def free(source: dp.Curator) -> Iterator[dp.Curator]:
    """The same; nothing may be charged, and what remains stays, to the last digit."""
    yield source
    assert tuple(source.ledger.spent()) == SPENT
    assert hospital.left(source) == TOLD["left"]
    source.ledger.verify(TOLD["head"])


def test_it_opens_with_its_head_and_its_spend(free: dp.Curator) -> None:
    assert str(free.ledger.checkpoint()) == TOLD["head"]
    assert len(list(free.ledger.entries())) == TOLD["entries"]
    pages = " ".join(entry.text for entry in free.ledger.entries())
    assert not any(word in pages for word in ("/tmp", "/home", "/work", "/root"))


def test_the_first_budget_and_another_unit_are_told_apart_as_before(place: Path) -> None:
    with hospital.curator(place, hospital.BUDGET) as source:
        assert source.budget in (hospital.AMENDED, hospital.BUDGET)
    with pytest.raises(DiscreetError, match="ledger_terms"):
        hospital.curator(place, dp.ApproxDP(epsilon=3, delta=1e-2))


@pytest.mark.parametrize("name", hospital.ASKED)
def test_an_answer_is_free_and_the_same_bytes(free: dp.Curator, name: str) -> None:
    text, spend = hospital.ASKED[name]
    assert free.sql(text, spend=spend, **CARE).to_json() == TOLD[name]
    at_another = free.sql(text, spend=spend, confidence=0.8, **CARE)
    kept = dp.Release.from_json(TOLD[name]).answers
    assert [a.values for a in at_another.answers] == [a.values for a in kept]


def test_an_answer_bought_by_accuracy_is_free(free: dp.Curator) -> None:
    first = free.sql(hospital.DEAR, accuracy=hospital.WANTED, **CARE)
    assert first.to_json() == TOLD["dear"]
    again = free.sql(hospital.DEAR, accuracy=hospital.WANTED, confidence=0.8, **CARE)
    assert again.id == first.id


@pytest.mark.parametrize(
    ("name", "asked", "spend"),
    [("batch", hospital.TOGETHER, hospital.TWO), ("paired", hospital.PAIRED, hospital.PAIR)],
)
def test_a_batch_is_free(free: dp.Curator, name: str, asked: Any, spend: Any) -> None:
    batch = free.batch(asked, spend=spend, **CARE)
    assert {key: release.to_json() for key, release in batch.items()} == TOLD[name]


def test_bounds_are_free(free: dp.Curator) -> None:
    bounds = free.bounds("visits", "cost", spend=hospital.TWO, **CARE)
    assert [bounds.low, bounds.high] == TOLD["bounds"]


@pytest.mark.parametrize("name", hospital.made())
def test_a_synopsis_is_free_and_answers_bit_for_bit(free: dp.Curator, name: str) -> None:
    about, mechanism, spend = hospital.made()[name]
    workload = about(free)
    found = free.synopsis(workload, mechanism=mechanism, spend=spend, **CARE)
    answers = hospital.digest(found.answers(workload))
    assert [found.id, answers] == [TOLD["synopses"][name][0], TOLD["synopses"][name][2]]


def test_children_parts_and_blocks_have_their_answers_and_what_they_had_left(
    free: dp.Curator,
) -> None:
    accounts = hospital.shared(free)
    assert set(accounts) == set(TOLD["shared"])
    for name, account in accounts.items():
        release = account.sql(hospital.INSIDE, spend=hospital.TWO, **CARE)
        assert [release.to_json(), hospital.left(account)] == TOLD["shared"][name]


def test_an_unfinished_reservation_stays_spent_and_is_no_answer(source: dp.Curator) -> None:
    assert [asked.ended for asked in source.history()].count("unfinished") >= 1
    source.sql(hospital.EVERYBODY, spend=hospital.FIVE, **CARE)
    assert tuple(source.ledger.spent()) != SPENT


def test_a_conversation_goes_on_where_it_was(free: dp.Curator) -> None:
    name, asked, left, counts = TOLD["conversation"]
    talk = free.resume(name)
    assert (talk.questions_asked, talk.updates_left) == (asked, left)
    assert talk.ask("ward", "C").number == asked + 1
    assert len(counts) == asked


def test_watches_go_on_where_they_were(free: dp.Curator) -> None:
    for name, (number, replies) in TOLD["watches"].items():
        watch = free.resume(number)
        above = name == "above"
        assert replies == (["False"] if above else [replies[0], str(watch.ask(hospital.NOBODY))])
        for _ in range(1 if above else 2):
            assert watch.ask(hospital.EVERYBODY) not in (None, False)
        with pytest.raises(Exhausted, match=r"cutoff_reached|threshold_reached"):
            watch.ask(hospital.EVERYBODY)


def test_an_open_round_takes_more_queries_and_closes(free: dp.Curator) -> None:
    about = free.resume(TOLD["open round"])
    about.submit("bob", [{"ward": "A"}])
    results = about.close()
    truth = [hospital.visits().filter(ward=ward).height for ward in hospital.WARDS]
    # Noise of a deviation below 30; farther than 400 off in one of ten million runs at most.
    found = results.for_analyst("ann").answers
    assert np.allclose(found, [truth[1], truth[0] + truth[2]], atol=400)


def test_a_closed_round_is_read_again(free: dp.Curator) -> None:
    name, told = TOLD["closed round"]
    about = free.resume(name)
    assert hospital.sums(about.close()) == told


def test_policy_records_and_the_amendment_are_in_the_entries(free: dp.Curator) -> None:
    assert hospital.POLICY.digest == TOLD["policy"]
    entries = list(free.ledger.entries())
    kinds = [entry.kind.value for entry in entries]
    assert kinds.count("recorded") == 2
    assert kinds.count("amended") == 1
    asked = [entry.body["detail"] for entry in entries if entry.kind.value == "reserved"]
    assert all(detail["policy"] == [TOLD["policy"]] for detail in asked)
    assert free.analyst_spending.rounds == 2


def test_a_ledger_of_an_unknown_version_is_refused_with_words(place: Path) -> None:
    with sqlite3.connect(place) as connection:
        connection.execute("PRAGMA user_version = 77")
    connection.close()
    with pytest.raises(DiscreetError, match="ledger_too_new") as refusal:
        hospital.curator(place)
    assert "77" in str(refusal.value)
