"""The estimate of a conversation and the synopsis of a round: tables and pictures as any other."""

from __future__ import annotations

import json

import numpy as np
import pytest

from discreet.curator.synopsis import SynopsisRelease
from discreet.queries.analysts.query_class import Conjunctions
from discreet.queries.workload.workload import Workload
from discreet.release.release import Release
from tests.curator import test_round
from tests.curator.people import conversation, curator


def check(made: SynopsisRelease) -> None:
    """Table, picture, statement and export agree with the answers."""
    by_ward = made.answers(Workload.marginal(made.universe, ["ward"]))
    table = made.table("ward")
    assert table.to_polars()["n"].to_list() == pytest.approx(by_ward.tolist())
    assert Release.from_json(table.to_json()).to_json() == table.to_json()
    drawn = json.dumps(made.plot("ward").to_dict())
    assert "records (n), estimated" in drawn
    assert made.statement["tables"] == ["people"]
    assert str(made.statement)


def test_the_estimate_of_a_conversation() -> None:
    source = curator()
    talk = conversation(source)
    talk.ask({"ward": "A"})
    check(talk.synopsis)
    assert talk.synopsis.counts.sum() == pytest.approx(talk.records)
    assert talk.synopsis.guarantee == talk.guarantee
    assert "conversation about sex x ward x age" in repr(talk.synopsis)
    again = source.resume(talk.id).synopsis
    assert again.facts == talk.synopsis.facts
    np.testing.assert_array_equal(again.counts, talk.synopsis.counts)


def test_the_synopsis_of_a_round() -> None:
    source = test_round.private()
    about = test_round.opened(source, asked=Conjunctions(2))
    about.submit("ann", test_round.MINE[:1])
    results = about.close()
    mine = results.for_analyst("ann").synopsis
    assert mine is not None
    check(mine)
    again = source.resume(about.id).close().synopsis
    assert again is not None
    assert again.statement == mine.statement
    pairs = Workload.marginals(about.universe, 2)
    np.testing.assert_array_equal(again.answers(pairs), mine.answers(pairs))


def test_nothing_of_who_submitted_stands_in_the_synopsis_of_a_round() -> None:
    """Facts are the same whoever asked whatever."""
    told = []
    for name, queries in (("ann", test_round.MINE[:1]), ("bob", [])):
        about = test_round.opened(test_round.private(), asked=Conjunctions(2))
        about.submit(name, queries)
        synopsis = about.close().synopsis
        assert synopsis is not None
        told.append((synopsis.query, dict(synopsis.facts), repr(synopsis)))
    assert told[0] == told[1]


def test_a_reply_is_json_for_machines() -> None:
    talk = conversation(curator())
    reply = talk.ask({"ward": "A"})
    plain = json.loads(reply.to_json())
    assert plain == {
        "count": reply.count,
        "share": reply.share,
        "within": reply.within,
        "confidence": 0.95,
        "origin": reply.origin.value,
        "left": reply.left,
        "number": 1,
    }
