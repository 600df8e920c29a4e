"""Ids of interactive sessions: found again, and refused with a reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.curator.interactive.conversation import Conversation
from discreet.curator.interactive.sessions import SessionKind
from discreet.curator.interactive.sparse_vector import SparseVectorSession
from discreet.curator.rounds import Round
from discreet.errors import InvalidParameter
from discreet.mechanisms import AboveThreshold
from discreet.queries.analysts.query_class import Conjunctions
from tests.curator import test_round
from tests.curator.people import conversation, curator

SPEND = dp.PureDP(epsilon=30)
ABOVE = AboveThreshold(epsilon=30, threshold=2000, sensitivity=2)
COUNT = "SELECT COUNT(*) AS n FROM people"


def refused(call: Any, *given: Any, **named: Any) -> InvalidParameter:
    with pytest.raises(InvalidParameter) as refusal:
        call(*given, **named)
    return refusal.value


def test_what_never_was_is_unknown_and_the_refusal_says_where_to_look() -> None:
    source = curator()
    for name in ("nope", 7):
        refusal = refused(source.resume, name)
        assert refusal.code == "conversation_unknown"
        assert "curator.interactive_sessions()" in refusal.remedy


def test_one_verb_resumes_every_kind_and_nothing_else() -> None:
    source = test_round.private()
    people = curator()
    talk, watch = conversation(people), people.open(ABOVE, spend=SPEND)
    about = test_round.opened(source, asked=Conjunctions(2))
    assert isinstance(people.resume(talk.id), Conversation)
    assert isinstance(people.resume(watch.id), SparseVectorSession)
    assert isinstance(source.resume(about.id), Round)
    answer = people.sql(COUNT, spend=SPEND)
    assert "an answer's id" in str(refused(people.resume, answer.id))


def test_what_answers_once_is_paid_for_and_not_resumed() -> None:
    source = curator()
    source.sql(COUNT, spend=SPEND)
    (paid,) = [entry.id for entry in source.ledger.entries() if entry.kind == "reserved"]
    assert "cannot be gone on with" in str(refused(source.resume, paid))


def test_what_others_opened_looks_like_what_never_was() -> None:
    source = curator()
    child = source.child("ann", budget=dp.PureDP(epsilon=200))
    theirs = conversation(source, analyst="bob").id
    below = conversation(child).id
    never = "f" * 32
    texts = {str(refused(source.resume, each)).replace(each, "") for each in (theirs, below, never)}
    assert len(texts) == 1
    watch = source.open(ABOVE, spend=SPEND).id
    assert str(refused(source.resume, watch, analyst="bob")).replace(watch, "") in texts


def test_a_lost_id_is_found_again(tmp_path: Path) -> None:
    with curator(tmp_path / "one.ledger") as source:
        name = conversation(source, analyst="ann").id
        source.sql(COUNT, spend=SPEND)
        watch = source.open(ABOVE, spend=SPEND).id
    with curator(tmp_path / "one.ledger") as source:
        first, second = source.interactive_sessions()
        assert (first.id, first.kind, first.analyst) == (name, SessionKind.CONVERSATION, "ann")
        assert (first.spend, first.ended) == ("epsilon 50", "open")
        assert (second.id, second.kind) == (watch, SessionKind.SPARSE_VECTOR)
        assert [each.id for each in source.interactive_sessions(analyst="ann")] == [name]
        assert f"curator.resume({name!r}, analyst='ann')" in str(source.interactive_sessions())
        talk = source.resume(first.id, analyst=first.analyst)
        talk.close()
        assert source.interactive_sessions()[0].ended == "released"


def test_the_history_shows_ids_of_what_goes_on_and_of_nothing_else() -> None:
    source = curator()
    source.sql(COUNT, spend=SPEND)
    assert " id " not in str(source.history())
    talk = conversation(source)
    assert [each.id for each in source.history()] == ["", talk.id]
    assert [each.ended for each in source.history()] == ["released", "open"]
    assert talk.id in str(source.history())


def test_a_round_is_listed_and_what_is_submitted_does_not_show() -> None:
    """The same list whether analysts wrote much or nothing: pages between leave no gap."""
    source = test_round.private()
    about = test_round.opened(source, asked=Conjunctions(2))
    before = str(source.interactive_sessions()), str(source.history())
    for _ in range(3):
        about.submit("ann", test_round.MINE)
    assert (str(source.interactive_sessions()), str(source.history())) == before
    (listed,) = source.interactive_sessions()
    assert (listed.id, listed.kind, listed.ended) == (about.id, SessionKind.ROUND, "open")
    assert "ann" not in str(source.interactive_sessions()).replace("analyst", "")
    about.close()
    assert source.interactive_sessions()[0].ended == "released"


def test_what_a_restored_ledger_cannot_go_on_with_is_not_open(tmp_path: Path) -> None:
    path, copy = tmp_path / "one.ledger", tmp_path / "copy"
    with curator(path) as source:
        conversation(source)
        checkpoint = source.ledger.backup(copy)
    path.unlink()
    dp.ledger.restore(copy, path, checkpoint=checkpoint)
    with curator(path) as source:
        assert source.interactive_sessions()[0].ended == "unfinished"


def test_each_account_lists_its_own() -> None:
    source = curator()
    child = source.child("ann", budget=dp.PureDP(epsilon=60))
    name = conversation(child).id
    assert len(source.interactive_sessions()) == 0
    assert str(source.interactive_sessions()) == "no interactive session was opened here"
    assert [each.id for each in child.interactive_sessions()] == [name]
