"""A ledger of an earlier version opens, keeps its spend, and its answers are reused or left alone.

The one thing that is lost: an answer whose record does not tell how its spend was split.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet as dp
from discreet.errors import Exhausted
from tests.curator.golden import clinic

HERE = Path(__file__).parent
TOLD: dict[str, Any] = json.loads((HERE / clinic.TOLD).read_text(encoding="utf-8"))
SPENT = tuple(map(Fraction, TOLD["spent"]))


@pytest.fixture
def source(tmp_path: Path) -> Iterator[dp.Curator]:
    for name in (clinic.NAME, f"{clinic.NAME}.key"):
        shutil.copyfile(HERE / name, tmp_path / name)
        (tmp_path / name).chmod(0o600)
    with clinic.curator(tmp_path / clinic.NAME) as opened:
        yield opened


def unspent(source: dp.Curator) -> bool:
    """Whether nothing was charged since it was kept."""
    return tuple(source.ledger.spent()) == SPENT


def test_it_opens_verifies_and_keeps_its_spend(source: dp.Curator) -> None:
    source.ledger.verify()
    assert unspent(source)
    assert len(source.history()) >= 16
    pages = " ".join(entry.text for entry in source.ledger.entries())
    assert not any(word in pages for word in ("/tmp", "/home", "/work", "/root"))


@pytest.mark.parametrize("name", clinic.ASKED)
def test_an_answer_bought_by_a_spend_is_reused(source: dp.Curator, name: str) -> None:
    text, spend = clinic.ASKED[name]
    assert source.sql(text, spend=spend).to_json() == TOLD[name]
    at_another = source.sql(text, spend=spend, confidence=0.8)
    assert [a.values for a in at_another.answers] == [
        a.values for a in dp.Release.from_json(TOLD[name]).answers
    ]
    assert unspent(source)


def test_an_answer_bought_by_accuracy_is_reused_for_that_accuracy_alone(
    source: dp.Curator,
) -> None:
    first = source.sql(clinic.DEAR, accuracy=clinic.WANTED)
    assert first.to_json() == TOLD["dear"]
    assert unspent(source)
    price = first.guarantee.epsilon  # type: ignore[attr-defined]
    again = source.sql(clinic.DEAR, spend=dp.PureDP(epsilon=price))
    assert again.id != first.id
    assert not unspent(source)


def test_a_batch_of_counts_bounds_and_a_synopsis_are_reused(source: dp.Curator) -> None:
    batch = source.batch(clinic.TOGETHER, spend=clinic.TWO, importance={"all": 3})
    assert {name: release.to_json() for name, release in batch.items()} == TOLD["batch"]
    bounds = source.bounds("visits", "cost", spend=clinic.TWO)
    assert [bounds.low, bounds.high] == TOLD["bounds"]
    synopsis = source.synopsis(
        clinic.workload(source), mechanism=dp.queries.MatrixMechanism, spend=clinic.TWO
    )
    assert synopsis.counts.tolist() == TOLD["synopsis"]
    assert unspent(source)


def test_an_answer_whose_split_nobody_kept_is_bought_again(source: dp.Curator) -> None:
    batch = source.batch(clinic.JOINT, spend=clinic.PAIR)
    assert batch["all"].id != json.loads(TOLD["joint"]["all"])["id"]
    assert not unspent(source)
    spent = source.spent
    assert source.batch(clinic.JOINT, spend=clinic.PAIR)["all"].id == batch["all"].id
    assert source.spent == spent
    source.ledger.verify()


def test_a_child_and_a_part_have_their_answers(source: dp.Curator) -> None:
    five = dp.PureDP(epsilon=5)
    child = source.child("research", budget=five)
    assert child.sql(clinic.COUNT, spend=clinic.TWO).to_json() == TOLD["child"]
    part = source.partition("visits", by="ward", budget=five, k=2)["B"]
    assert part.sql(clinic.INSIDE, spend=clinic.TWO).to_json() == TOLD["part"]
    assert unspent(source)


def test_an_unfinished_reservation_stays_spent_and_is_no_answer(source: dp.Curator) -> None:
    assert [asked.ended for asked in source.history()].count("unfinished") >= 1
    source.sql(clinic.EVERYBODY, spend=clinic.TWO)
    assert not unspent(source)


def test_a_conversation_goes_on_where_it_was(source: dp.Curator) -> None:
    name, asked, left, counts = TOLD["conversation"]
    talk = source.resume(name)
    assert (talk.asked, talk.left) == (asked, left)
    assert talk.ask("ward", "C").number == asked + 1
    assert len(counts) == asked
    assert unspent(source)


def test_a_watch_goes_on_where_it_was(source: dp.Curator) -> None:
    name, above, below = TOLD["watch"]
    watch = source.resume(name)
    assert (above, below) == (True, False)
    assert watch.ask(clinic.EVERYBODY)
    assert watch.ask(clinic.EVERYBODY)
    with pytest.raises(Exhausted, match="cutoff_reached"):
        watch.ask(clinic.EVERYBODY)
    assert unspent(source)


def test_a_round_takes_more_queries_and_closes(source: dp.Curator) -> None:
    about = source.resume(TOLD["round"])
    about.submit("bob", [{"ward": "A"}])
    results = about.close()
    truth = [clinic.visits().filter(ward=ward).height for ward in clinic.WARDS]
    # Noise of a deviation below 30; farther than 400 off in one of ten million runs at most.
    found = results.for_analyst("ann").answers
    assert np.allclose(found, [truth[1], truth[0] + truth[2]], atol=400)
    assert len(results.for_analyst("bob").answers) == 1
    assert unspent(source)
